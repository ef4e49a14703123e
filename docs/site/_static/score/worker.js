// Reads and scores in a thread of its own: the page answers meanwhile.
import { METRICS, compare, detectable, evaluate, intervals, queriesNeeded } from "../try/metrics.js";
import { readAll } from "./trec.js";

const NDCG = Object.keys(METRICS).indexOf("ndcg");
let newest = 0;
onmessage = async ({ data: { number, given, k, options } }) => {
  newest = number;
  const texts = {};
  for (const [box, one] of Object.entries(given)) texts[box] = one instanceof Blob ? await one.text() : one;
  if (number !== newest) return; // another file has come meanwhile
  const { tables, exchanged, faults } = readAll(texts), { run, qrels, other } = tables;
  const files = Object.fromEntries(Object.entries(tables).map(([box, { lines, unused }]) => [box, { lines, unused }]));
  const result = run && qrels && !faults.length ? evaluate(run, qrels, k, options) : null;
  if (result) result.ends = intervals(Object.keys(METRICS).map((_, i) => result.rows.map(({ values }) => values[i])));
  if (result && other) {
    result.other = evaluate(other, qrels, k, options);
    result.gaps = compare(result, result.other);
    const { difference, sd } = result.gaps[NDCG];
    if (sd > 0) result.plan = { shows: detectable(sd, result.rows.length), needed: difference && queriesNeeded(difference, sd) };
  }
  postMessage({ number, files, exchanged, faults: faults.map((fault) => ({ ...fault, all: null })), result });
};
