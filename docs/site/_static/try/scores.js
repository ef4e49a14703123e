// The table of metrics: values of the three rankings and their mean, and the formula with the numbers of one of them.
import { el } from "./element.js";
import { FORMULAS, put, shown } from "./formulas.js";
import { METRICS, find } from "./metrics.js";
import { NAMES } from "./state.js";

const hitsOf = ({ retrieved, missed }, level) =>
  find(retrieved.map(({ id }) => id), new Map([...retrieved, ...missed].map(({ id, grade }) => [id, grade])), level);

const average = (values) => values.reduce((a, b) => a + b) / values.length;
/** The largest k to show: ten, or as many documents as a ranking has. */
const deep = ({ k, rankings }) => Math.max(10, k, ...rankings.map(({ retrieved }) => retrieved.length));

export class Scores {
  constructor(state, words, bars) {
    Object.assign(this, { state, words, bars, of: 0 });
    this.tabs = NAMES.map((name, i) => el("button", { type: "button", onclick: () => this.show(i) }, name));
    const filled = el("th", { scope: "col" }, words.formula, " ", el("span", { class: "try-tabs", role: "group", "aria-label": words.formula }, ...this.tabs));
    const head = el("tr", {}, el("th", { scope: "col" }, words.metric), filled, ...[...NAMES, words.mean].map((name) => el("th", { scope: "col" }, name)));
    this.rows = Object.keys(METRICS).map((metric) => {
      const row = { metric, name: el("span", {}), formula: el("td", { class: "try-formula" }), cells: [...NAMES, "mean"].map((name) => el("td", { "data-of": name })) };
      const label = el("th", { scope: "row" }, row.name, el("code", {}, metric), el("small", {}, words.metrics[metric]));
      row.element = el("tr", { "data-metric": metric }, label, row.formula, ...row.cells);
      return row;
    });
    this.element = el("table", { class: "try-scores" }, el("caption", {}, words.caption, " ", el("small", {}, words.code)), el("thead", {}, head), el("tbody", {}, ...this.rows.map(({ element }) => element)));
  }

  /** Whether the formula has no 0 below the line: recall and the like need R, nDCG needs a gain. */
  defined(metric, hits) {
    if (metric === "ndcg") return hits.ideal.length > 0;
    return hits.R > 0 || !["recall", "capped_recall", "map"].includes(metric);
  }

  show(i) { this.of = i; this.draw(); }

  draw() {
    const { k, level, persistence, gain } = this.state;
    const hits = this.state.rankings.map((ranking) => hitsOf(ranking, level)), means = {};
    this.tabs.forEach((tab, i) => tab.setAttribute("aria-pressed", String(i === this.of)));
    for (const { metric, name, formula, cells } of this.rows) {
      const parts = hits.map((found) => METRICS[metric](found, k, { persistence, gain }));
      const values = parts.map(({ value }) => value);
      const mean = average(values);
      means[metric] = mean;
      name.textContent = `${this.words.names[metric]}@${k}`;
      put(formula, this.defined(metric, hits[this.of]) ? FORMULAS[metric](parts[this.of], k) : this.words.nothing);
      [...values, mean].forEach((value, i) => {
        if (cells[i].dataset.value === String(value)) return;
        cells[i].textContent = shown(value);
        cells[i].dataset.value = value;
      });
      cells.forEach((cell, i) => cell.classList.toggle("of", i === this.of));
    }
    this.bars.draw(means, k);
  }
}

/** The rankings, the slider of k and the choices: grades or yes and no, from which grade relevant, which gain, how patient. They are folded. */
export const controls = (state, words, changed, begin) => {
  const labelled = (label, input) => el("label", {}, el("span", {}, label), input);
  const set = (key, read) => (event) => { state[key] = read(event.target); changed(); };
  const rankings = el("select", { onchange: ({ target }) => begin(target.value) },
    ...Object.entries(words.sets).map(([name, label]) => el("option", { value: name, selected: name === state.set }, label)));
  const k = el("input", { type: "range", min: 1, max: 10, oninput: set("k", ({ value }) => Number(value)) }), shownK = el("output", {});
  const graded = el("input", { type: "checkbox", onchange: set("graded", ({ checked }) => checked) });
  const level = el("select", { onchange: set("level", ({ value }) => Number(value)) }, ...[1, 2, 3].map((n) => el("option", { value: n }, String(n))));
  const gain = el("select", { onchange: set("gain", ({ value }) => value) },
    el("option", { value: "linear" }, words.linear), el("option", { value: "exponential" }, words.exponential));
  const p = el("input", { type: "range", min: 0.05, max: 0.95, step: 0.05, oninput: set("persistence", ({ value }) => Number(value)) });
  const shownP = el("output", {});
  const grades = [labelled(words.level, level), labelled(words.gain, gain)];
  const inputs = [labelled(words.set, rankings), el("label", { class: "try-k" }, el("span", {}, "k"), k, shownK), el("label", {}, graded, el("span", {}, words.graded)), ...grades];
  const element = el("div", { class: "try-controls try-settings" }, ...inputs);
  const unfold = () => opener.setAttribute("aria-expanded", String(element.classList.toggle("open")));
  const opener = el("button", { type: "button", "aria-expanded": "false", onclick: unfold }, words.settings);
  const draw = () => {
    [k.max, k.value, shownK.textContent] = [deep(state), state.k, `k = ${state.k}`];
    [p.value, level.value, gain.value] = [state.persistence, state.level, state.gain];
    for (const { style, min, max, value } of [k, p]) style.setProperty("--part", (value - min) / (max - min));
    graded.checked = state.graded;
    for (const label of grades) label.hidden = !state.graded;
    shownP.textContent = `p = ${state.persistence}`;
  };
  return { element, opener, patience: [labelled(words.persistence, p), shownP], draw };
};
