// Reads and scores in a thread of its own: the page answers meanwhile.
import { METRICS, evaluate, intervals } from "../try/metrics.js";
import { readAll } from "./trec.js";

let newest = 0;
onmessage = async ({ data: { number, given, k, options } }) => {
  newest = number;
  const texts = {};
  for (const [box, one] of Object.entries(given)) texts[box] = one instanceof Blob ? await one.text() : one;
  if (number !== newest) return; // another file has come meanwhile
  const { tables, exchanged, faults } = readAll(texts), { run, qrels } = tables;
  const files = Object.fromEntries(Object.entries(tables).map(([box, { lines, unused }]) => [box, { lines, unused }]));
  const result = run && qrels && !faults.length ? evaluate(run, qrels, k, options) : null;
  if (result) result.ends = intervals(Object.keys(METRICS).map((_, i) => result.rows.map(({ values }) => values[i])));
  postMessage({ number, files, exchanged, faults: faults.map((fault) => ({ ...fault, all: null })), result });
};
