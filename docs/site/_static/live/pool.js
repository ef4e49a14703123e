// Two systems by the judgements of the passages that somebody looked at: the first results of one, of the other, or of both.
import { el, fill } from "../try/element.js";
import { bar, read, slider } from "./controls.js";
import { listed, ndcg } from "./fuse.js";

const SHOWN = 10;

/** Mean nDCG@10 and judged@10 of both systems if only the first `depths` results of each were judged. */
export const judgedOnly = (queries, depths) => {
  const totals = [0, 1].map(() => ({ value: 0, judged: 0, places: 0 }));
  for (const { passages } of queries) {
    const lists = [0, 1].map((list) => listed(passages, list));
    const pool = new Set(lists.flatMap((list, i) => list.slice(0, depths[i]).map(({ id }) => id)));
    const ideal = passages.filter(([id, , , grade]) => pool.has(id) && grade > 0).map((one) => one[3]).sort((a, b) => b - a);
    lists.forEach((list, i) => {
      totals[i].value += ndcg(list.map(({ id, grade }) => ({ grade: pool.has(id) ? grade : 0 })), ideal) / queries.length;
      totals[i].judged += list.filter(({ id }) => pool.has(id)).length;
      totals[i].places += list.length;
    });
  }
  return totals.map(({ value, judged, places }) => ({ value, judged: judged / places }));
};

export const start = async (box, words) => {
  const queries = await read("tops.json");
  const truth = [0, 1].map((list) => queries.reduce((total, { passages, ideal }) => total + ndcg(listed(passages, list), ideal), 0) / queries.length);
  const deep = (name, value) => slider(name, { most: SHOWN, value }, () => draw());
  const depths = [deep(words.judged.dense, 0), deep(words.judged.words, 1)];
  const bars = [bar(words.dense, "dense"), bar(words.words, "words")], parts = [bar(words.dense, "dense"), bar(words.words, "words")];
  const told = el("p", { class: "live-said", "aria-live": "polite" });

  const draw = () => {
    const found = judgedOnly(queries, depths.map(({ value }) => value)), [lead, real] = [found[0].value - found[1].value, truth[0] - truth[1]];
    found.forEach(({ value, judged }, i) => { bars[i].set(value, truth[i]); parts[i].set(judged, 1); });
    const key = Math.abs(lead) < 0.0005 ? "none" : lead > 0 ? "dense" : "words";
    told.className = `live-said ${key}`;
    told.textContent = fill(words.told[key], { lead: Math.abs(lead).toFixed(3) }) + fill(words.truth, { real: real.toFixed(3) });
  };

  draw();
  box.append(
    el("p", { class: "live-title" }, words.title), el("p", {}, words.ask), depths[1].element, depths[0].element,
    el("p", { class: "live-caption" }, words.score), bars[0].element, bars[1].element,
    told, el("p", { class: "live-caption" }, words.share), parts[0].element, parts[1].element,
  );
};
