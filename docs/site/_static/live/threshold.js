// One threshold on the cosine for two ways of asking: how much of what is relevant, and of all else, lies above it.
import { el, fill } from "../try/element.js";
import { key, read, slider } from "./controls.js";

const FIRST = 0.86;
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** What a threshold, a number of steps, keeps of a way's pairs: relevant ones, others, recall and precision. */
export const above = ({ relevant, others }, from) => {
  const [found, wrong] = [relevant, others].map((counts) => sum(counts.slice(Math.max(0, from))));
  return { found, wrong, recall: found / sum(relevant), precision: found / Math.max(1, found + wrong) };
};

export const start = async (box, words) => {
  const { steps, least, ways } = await read("cosines.json"), bins = Object.values(ways)[0].relevant.length;
  const at = slider(words.threshold, { least, most: least + bins, value: FIRST * steps, say: (n) => (n / steps).toFixed(3) }, () => draw());
  const told = el("p", { class: "live-said", "aria-live": "polite" });
  const panels = Object.entries(ways).map(([way, counts]) => {
    const layers = ["others", "relevant"].map((kind) => {
      const most = Math.max(...counts[kind]), layer = el("div", { class: `live-layer ${kind}` }, ...counts[kind].map(() => el("i", {})));
      counts[kind].forEach((count, i) => layer.children[i].style.setProperty("--part", count / most));
      return layer;
    });
    const numbers = el("p", { class: "live-numbers" }), panel = el("div", { class: "live-pairs", role: "img", "aria-label": fill(words.picture, { way: words.ways[way] }) }, ...layers, el("b", { class: "live-line" }));
    return { way, counts, layers, numbers, panel, element: el("div", {}, el("p", { class: "live-caption" }, words.ways[way]), panel, numbers) };
  });

  const draw = () => {
    const said = panels.map(({ way, counts, layers, numbers, panel }) => {
      const from = at.value - least, kept = above(counts, from);
      panel.style.setProperty("--from", from / bins);
      for (const layer of layers) for (const [i, column] of [...layer.children].entries()) column.classList.toggle("out", i < from);
      const values = { way: words.ways[way], recall: kept.recall.toFixed(3), precision: kept.precision.toFixed(3), found: kept.found, wrong: kept.wrong.toLocaleString("en") };
      numbers.textContent = fill(words.numbers, values);
      return fill(words.told, values);
    });
    told.textContent = said.join("");
  };

  draw();
  box.append(
    el("p", { class: "live-title" }, words.title), key({ relevant: words.relevant, others: words.others }), el("p", {}, words.ask), ...panels.map(({ element }) => element), at.element, told,
  );
};
