// The means beside the hand: a bar each, what the last change did to it, the reader's guess of who will notice a move,
// and puzzles to solve by moving documents.
import { el, fill, titled } from "./element.js";
import { METRICS } from "./metrics.js";

const LASTS = 2000; // milliseconds for which a change is shown
const reached = (goal, means) => goal.every(([metric, sign, bound]) => (sign === "<" ? means[metric] < bound : means[metric] >= bound - 1e-12));

export class Bars {
  constructor(words) {
    this.words = words;
    this.rows = Object.keys(METRICS).map((metric) => {
      const row = { metric, name: el("span", {}), tick: el("input", { type: "checkbox", hidden: true }), ghost: el("i", { class: "try-ghost", hidden: true }), fill: el("i", { class: "try-fill" }), value: el("b", {}), change: el("small", {}) };
      row.element = el("li", { "data-bar": metric }, el("label", {}, row.tick, row.name), row.value, el("span", { class: "try-track" }, row.fill, row.ghost), row.change);
      return row;
    });
    this.question = el("p", { class: "try-question", "aria-live": "polite" });
    this.go = el("button", { type: "button", class: "main", hidden: true, onclick: () => this.make() }, words.move);
    this.steps = el("p", { class: "try-steps" });
    this.element = el("div", { class: "try-bars" }, el("ul", {}, ...this.rows.map(({ element }) => element)), el("div", { class: "try-verdict" }, this.question, this.go, this.steps));
    this.puzzles = words.puzzles.map(({ text, goal }) => ({ goal, text, element: el("li", {}, text) }));
    this.list = el("div", { class: "try-puzzles tool-panel" }, titled(words.puzzle), el("ol", {}, ...this.puzzles.map(({ element }) => element)));
  }

  /** Ask which metrics will notice a move; it is made when the reader has ticked them, and then `next` gives the buttons to go on. */
  ask({ text, why }, move, next) {
    this.settle();
    this.asked = { why, move, next };
    this.question.textContent = `${text} ${this.words.guess}`;
    this.element.classList.add("asked");
    for (const { tick } of this.rows) [tick.hidden, tick.checked] = [false, false];
    this.go.hidden = false;
    this.rows[0].tick.focus({ preventScroll: true });
    const main = this.element.parentElement;
    const inside = [this.element, main.querySelector(".chosen")].every((one) => one.getBoundingClientRect().bottom <= innerHeight);
    if (!inside) main.scrollIntoView(); // what moves, or the button that moves it, would be below the window
  }

  make() {
    this.asked.moving = true;
    this.asked.move();
  }

  /** Say who noticed the move, and how far the reader was right. */
  tell(before, means) {
    const noticed = ({ metric }) => means[metric] !== before[metric], names = this.rows.filter(noticed).map(({ metric }) => metric);
    for (const row of this.rows) {
      const right = row.tick.checked === noticed(row);
      row.change.textContent += right ? " ✓" : " ✗";
      row.change.classList.toggle("right", right);
      row.tick.hidden = true;
    }
    this.element.classList.replace("asked", "told");
    const right = this.rows.filter((row) => row.tick.checked === noticed(row)).length, { words } = this;
    const said = names.length ? fill(words.noticed, { names: names.join(words.comma) }) : words.unnoticed;
    this.question.textContent = `${said} ${fill(words.right, { right, all: this.rows.length })} ${this.asked.why}`;
    this.go.hidden = true;
    this.steps.replaceChildren(...this.asked.next());
    this.steps.firstChild.focus({ preventScroll: true });
    this.asked = { told: true };
  }

  /** Take away what was said of the last change. */
  settle() {
    clearTimeout(this.waiting);
    for (const { ghost, change, tick } of this.rows) {
      ghost.hidden = true;
      change.textContent = "";
      change.classList.remove("right");
      tick.hidden = true;
    }
    this.asked = null;
    this.element.classList.remove("asked", "told");
    this.question.textContent = "";
    this.go.hidden = true;
    this.steps.replaceChildren();
  }

  /** Draw the means, {metric: value}; once drawn, also what has changed since: for a while, or as the answer to a guess. */
  draw(means, k) {
    const before = this.means, guessed = this.asked?.moving;
    const moved = before && (this.k !== k || this.rows.some(({ metric }) => means[metric] !== before[metric]));
    if (moved && !guessed) this.settle();
    for (const { metric, name, ghost, fill: bar, value, change } of this.rows) {
      name.textContent = `${metric}@${k}`;
      value.textContent = means[metric].toFixed(2);
      bar.style.setProperty("--part", means[metric]);
      if (!guessed && (!moved || this.k !== k)) continue;
      const gap = means[metric] - before[metric];
      ghost.hidden = gap === 0;
      ghost.style.setProperty("--part", before[metric]);
      change.textContent = gap === 0 ? "=" : `${gap > 0 ? "+" : "−"}${Math.abs(gap).toFixed(2)}`;
    }
    if (guessed) this.tell(before, means);
    else if (moved) this.waiting = setTimeout(() => this.settle(), LASTS);
    [this.means, this.k] = [means, k];
    for (const { goal, text, element } of this.puzzles) {
      if (!reached(goal, means) || element.className) continue;
      element.className = "solved";
      element.append(" ", el("b", {}, this.words.solved));
      this.question.textContent = `${text} ${this.words.solved}`; // beside the hand
    }
  }
}
