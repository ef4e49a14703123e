// Other queries: draw as many again with repetition, and see where the middle 95 % of the means, or of the mean
// differences of two systems, lie.
import { el, fill } from "../try/element.js";
import { random } from "../try/metrics.js";
import { choice, key, read, slider } from "./controls.js";

const BIN = 0.01, LEAST = 10, DRAWS = 1000;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const shown = (value) => value.toFixed(3).replace("-", "−");

/** The means of `draws` samples of `size` values. */
export const resample = (values, size, draws, next) => Array.from({ length: draws }, () => {
  let total = 0;
  for (let i = 0; i < size; i += 1) total += values[Math.floor(next() * values.length)];
  return total / size;
});

/** The ends of the middle 95 %, as numpy.percentile has them. */
export const middle = (means) => {
  const sorted = [...means].sort((a, b) => a - b);
  return [0.025, 0.975].map((share) => {
    const at = share * (sorted.length - 1), left = Math.floor(at);
    return sorted[left] + (at - left) * ((sorted[left + 1] ?? sorted[left]) - sorted[left]);
  });
};

/** The values of a system, or the differences of two, by query: "mean", "mean attention". */
export const valuesOf = (scores, systems) => {
  const [one, other] = systems.split(" ").map((name) => scores[name]);
  return other ? one.map((value, i) => value - other[i]) : one;
};

export const start = async (box, words, { metric, systems }) => {
  const scores = (await read("scores.json"))[document.documentElement.lang.slice(0, 2)][metric], options = systems.split(", "), said = words[options.length > 1 ? "two" : "one"];
  let values, all, means, next, low, bins;
  const size = slider(words.size, { least: LEAST, most: scores.mean.length, value: scores.mean.length }, () => begin());
  const pair = choice(words.pair, options.map((one) => [one, words.pairs[one]]), options[0], () => begin());
  const histogram = el("div", { class: "live-histogram", role: "img" }), axis = el("p", { class: "live-axis", "aria-hidden": "true" });
  const now = el("i", {}, el("b", {}), el("b", {})), ghost = el("i", { class: "live-ghost" }, el("b", {}, fill(words.all, { n: scores.mean.length })));
  const told = el("p", { class: "live-said", "aria-live": "polite" });
  const again = () => { means = resample(values, size.value, DRAWS, next); draw(); };

  const place = (element, from, to = from) => {
    element.style.setProperty("--from", (from - low) / (bins * BIN));
    element.style.setProperty("--to", (to - low) / (bins * BIN));
    return element;
  };

  const draw = () => {
    const counts = new Array(bins).fill(0), ends = middle(means), n = size.value;
    for (const mean of means) counts[Math.min(bins - 1, Math.max(0, Math.floor((mean - low) / BIN + 1e-9)))] += 1;
    counts.forEach((count, i) => {
      const column = histogram.children[i], from = low + i * BIN;
      column.style.setProperty("--part", count / Math.max(...counts));
      column.className = from < -BIN / 2 ? "turned" : from + BIN < ends[0] || from > ends[1] ? "outside" : "";
    });
    place(now, ...ends);
    ends.forEach((end, i) => { now.children[i].textContent = shown(end); });
    place(ghost, ...all).hidden = n === values.length;
    const turned = means.filter((mean) => mean < 0).length, given = { low: shown(ends[0]), high: shown(ends[1]) };
    told.textContent = fill(said.told, { ...given, draws: means.length.toLocaleString("en"), n, turned: turned.toLocaleString("en"), share: (100 * turned / means.length).toFixed(1) });
    histogram.setAttribute("aria-label", fill(words.picture, given));
  };

  const begin = () => {
    values = valuesOf(scores, pair.value);
    const mean = sum(values) / values.length, reach = 3.2 * Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length / LEAST);
    low = Math.floor((mean - reach) / BIN) * BIN;
    bins = Math.ceil((mean + reach - low) / BIN);
    const step = bins * BIN < 0.6 ? 0.1 : 0.2, first = Math.ceil(low / step - 1e-9), last = Math.floor((low + bins * BIN) / step + 1e-9);
    axis.replaceChildren(...Array.from({ length: last - first + 1 }, (_, i) => place(el("span", {}, shown((first + i) * step || 0).slice(0, -2)), (first + i) * step)));
    histogram.replaceChildren(...Array.from({ length: bins }, () => el("i", {})), place(el("b", { class: "live-line" }, fill(words.measured, { mean: shown(mean) })), mean));
    all = middle(resample(values, values.length, DRAWS, random(0)));
    next = random(size.value);
    again();
  };

  begin();
  box.append(
    el("p", { class: "live-title" }, said.title), el("p", {}, said.ask), ...(options.length > 1 ? [pair.element] : []),
    key(said.key), histogram, axis, el("div", { class: "live-spans", "aria-hidden": "true" }, now, ghost),
    size.element, el("p", { class: "live-choice" }, el("button", { type: "button", onclick: again }, words.again)), told,
  );
};
