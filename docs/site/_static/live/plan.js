// How many queries a paired test needs to find a difference four times in five, and what half the difference costs.
import { el, fill } from "../try/element.js";
import { choice, read, slider, svg } from "./controls.js";
import { valuesOf } from "./resample.js";

const Z = [1.959964, 0.841621], FIRST = 0.05, LEAST = 1, MOST = 200_000, HIGH = 0.12, FEWEST = 50, TICKS = [10, 100, 1000, 10_000, 100_000];
const SUM = Z[0] + Z[1], MORE = Z[0] ** 2 / 2, FEW = 1.7; // Student's t asks for a few more than the normal distribution: FEW is fitted to the package

/** The queries that a difference takes: `queries_needed` of helpers.significance. */
export const needed = (difference, sd) => {
  const about = (SUM * sd / difference) ** 2 + MORE;
  return Math.ceil(about + FEW / about);
};
/** The least difference that n queries detect: `minimum_detectable_difference`. */
export const detectable = (sd, n) => SUM * sd / Math.sqrt(n - MORE - FEW / n);

const spread = (values) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
};
const x = (n) => 100 * Math.log(n / LEAST) / Math.log(MOST / LEAST), y = (difference) => 100 * (1 - difference / HIGH); // of a hundred

export const start = async (box, words, { metric, systems }) => {
  const scores = (await read("scores.json"))[metric], options = systems.split(", "), all = scores.mean.length;
  const sds = Object.fromEntries(options.map((pair) => [pair, spread(valuesOf(scores, pair))]));
  let sd = sds[options[0]];
  const shown = (value) => value.toFixed(3), counted = (n) => n.toLocaleString("en");
  const pair = choice(words.pair, options.map((one) => [one, words.pairs[one]]), options[0], () => { sd = sds[pair.value]; spreads.value = sd; draw(); });
  const difference = slider(words.difference, { least: 0.01, most: 0.1, step: 0.005, value: FIRST, say: shown }, () => draw());
  const spreads = slider(words.sd, { least: 0.08, most: 0.6, step: 0.001, value: sd, say: shown }, () => { sd = spreads.value; pair.value = ""; draw(); });
  const number = el("b", {}), told = el("p", { class: "live-said", "aria-live": "polite" });
  const line = svg("path", {}), drop = svg("path", { class: "alone" }), picture = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  picture.append(drop, line);
  const place = (element, n, value) => { element.style.setProperty("--x", x(n)); element.style.setProperty("--y", y(value)); return element; };
  const dot = el("i", {}), half = el("i", { class: "half" }), labels = [el("b", {}), el("b", {})], least = [el("b", { class: "least" }), el("b", { class: "least" })];
  const curve = el("div", { class: "live-curve", role: "img" }, picture, dot, half, ...labels, ...least,
    el("p", { class: "live-axis" }, ...TICKS.map((n) => place(el("span", {}, counted(n)), n, 0))));

  const draw = () => {
    const at = [difference.value, difference.value / 2], [n, more] = at.map((value) => needed(value, sd));
    number.textContent = counted(n);
    const sizes = Array.from({ length: 81 }, (_, i) => LEAST * (MOST / LEAST) ** (i / 80)).filter((size) => detectable(sd, size) < HIGH);
    line.setAttribute("d", `M${sizes.map((size) => `${x(size)} ${y(detectable(sd, size))}`).join("L")}`);
    drop.setAttribute("d", `M0 ${y(at[0])}H${x(n)}V100M0 ${y(at[1])}H${x(more)}V100`);
    [[dot, labels[0]], [half, labels[1]]].forEach((pieces, i) => pieces.forEach((piece) => place(piece, [n, more][i], at[i])));
    labels.forEach((label, i) => {
      label.textContent = counted([n, more][i]);
      place(least[i], LEAST, at[i]).textContent = shown(at[i]);
    });
    const values = { difference: shown(at[0]), half: shown(at[1]), n: counted(n), more: counted(more), times: (more / n).toFixed(1), all, least: shown(detectable(sd, all)) };
    told.textContent = fill(words.told, values) + (n < FEWEST ? fill(words.few, values) : "");
    curve.setAttribute("aria-label", fill(words.curve, values));
  };

  draw();
  box.append(
    el("p", { class: "live-title" }, words.title), el("p", {}, words.ask), pair.element, difference.element, spreads.element,
    el("p", { class: "plan-number" }, number, " ", words.queries), el("p", { class: "live-caption" }, words.axis), curve, told,
  );
};
