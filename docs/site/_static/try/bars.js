// The means beside the hand: a bar each, what the last change did to it, and puzzles to solve by moving documents.
import { el } from "./element.js";
import { METRICS } from "./metrics.js";

const LASTS = 2000; // milliseconds for which a change is shown
const reached = (goal, means) => goal.every(([metric, sign, bound]) => (sign === "<" ? means[metric] < bound : means[metric] >= bound - 1e-12));

export class Bars {
  constructor(words) {
    this.rows = Object.keys(METRICS).map((metric) => {
      const row = { metric, name: el("span", {}), ghost: el("i", { class: "try-ghost" }), fill: el("i", { class: "try-fill" }), value: el("b", {}), change: el("small", {}) };
      row.element = el("li", { "data-bar": metric }, row.name, el("span", { class: "try-track" }, row.fill, row.ghost), row.value, row.change);
      return row;
    });
    this.element = el("ul", { class: "try-bars", "aria-hidden": "true" }, ...this.rows.map(({ element }) => element)); // the table says it all
    this.puzzles = words.puzzles.map(({ text, goal }) => ({ goal, mark: el("span", {}, "○ "), said: el("span", {}), text }));
    this.list = el("div", { class: "try-puzzles" }, el("p", {}, words.puzzle),
      el("ol", {}, ...this.puzzles.map(({ mark, said, text }) => el("li", {}, mark, text, " ", said))));
    this.list.setAttribute("aria-live", "polite");
    this.solved = words.solved;
  }

  /** Draw the means, {metric: value}; once drawn, also what has changed since, for a while. */
  draw(means, k) {
    const before = this.means, moved = before && this.k === k && this.rows.some(({ metric }) => means[metric] !== before[metric]);
    for (const { metric, name, ghost, fill, value, change } of this.rows) {
      name.textContent = `${metric}@${k}`;
      value.textContent = means[metric].toFixed(2);
      fill.style.setProperty("--part", means[metric]);
      if (!moved) continue;
      ghost.style.setProperty("--part", before[metric]);
      const gap = means[metric] - before[metric];
      change.textContent = gap === 0 ? "=" : `${gap > 0 ? "+" : "−"}${Math.abs(gap).toFixed(2)}`;
    }
    if (moved) {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.rows.forEach(({ ghost, change }) => { ghost.style.setProperty("--part", 0); change.textContent = ""; }), LASTS);
    }
    [this.means, this.k] = [means, k];
    for (const { goal, mark, said } of this.puzzles) {
      if (!reached(goal, means) || said.textContent) continue;
      mark.textContent = "● ";
      said.textContent = this.solved;
    }
  }
}
