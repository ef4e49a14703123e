// The means beside the hand: a bar each, what the last change did to it, and the reader's guess of which will change with a move.
import { el, fill } from "./element.js";
import { METRICS } from "./metrics.js";
import { holding } from "./rankings.js";

const LASTS = 2000; // milliseconds for which a change is shown

export class Bars {
  constructor(words) {
    this.words = words;
    this.rows = Object.keys(METRICS).map((metric) => {
      const row = { metric, name: el("span", {}, words.names[metric]), cutoff: el("i", {}), tick: el("input", { type: "checkbox" }), guess: el("span", { class: "try-guess" }), ghost: el("i", { class: "try-ghost", hidden: true }), fill: el("i", { class: "try-fill" }), value: el("b", {}), change: el("small", {}) };
      row.name.append(row.cutoff);
      row.element = el("li", { "data-bar": metric }, el("label", {}, row.tick, row.name), row.guess, row.value, el("span", { class: "try-track" }, row.fill, row.ghost), row.change);
      return row;
    });
    const list = el("ul", { onkeydown: (event) => this.press(event) }, ...this.rows.map(({ element }) => element));
    this.last = el("span", { class: "try-last" });
    this.steps = el("p", { class: "try-steps" });
    this.element = el("div", { class: "try-bars" }, el("p", { class: "try-head" }, el("b", {}, words.rail), this.last), list, this.steps);
    this.question = el("p", { class: "try-question", "aria-live": "polite" });
    this.settle();
  }

  /** Ask which metrics will change with the move of a button; it is made when the reader has ticked them, and then `next` gives the buttons to go on. */
  ask({ text, why }, button, move, next) {
    this.settle();
    this.asked = { why, button, move, next };
    button.setAttribute("aria-pressed", "true");
    this.question.textContent = `${text} ${this.words.guess}`;
    this.element.classList.add("asked");
    this.steps.replaceChildren(el("button", { type: "button", class: "main", onclick: () => this.make() }, this.words.move));
    this.rows[0].tick.focus({ preventScroll: true });
    const panel = button.closest(".tool-panel"), inside = [this.element, panel.parentElement.querySelector(".chosen")];
    if (inside.some((one) => one.getBoundingClientRect().bottom > innerHeight) || panel.getBoundingClientRect().top < 0) panel.scrollIntoView();
  }

  /** Enter in a box makes the move. */
  press(event) {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the button that has the focus afterwards would be pressed too
    this.make();
  }

  make() {
    this.asked.moving = true;
    holding(this.element, this.asked.move);
  }

  /** Say which changed with the move and, if the reader has guessed, how far the guess was right. */
  tell(before, means) {
    const { words, asked } = this, changed = ({ metric }) => means[metric] !== before[metric];
    const names = this.rows.filter(changed).map(({ metric }) => words.names[metric]), guessed = this.rows.some(({ tick }) => tick.checked);
    const right = this.rows.filter((row) => row.tick.checked === changed(row));
    for (const row of guessed ? this.rows : []) {
      row.guess.replaceChildren(el("span", {}, `${words.you} `), right.includes(row) ? "✓" : "✗");
      row.guess.classList.toggle("right", right.includes(row));
    }
    this.element.classList.replace("asked", "told");
    this.element.classList.toggle("guessed", guessed);
    const said = names.length ? fill(words.changed, { names: names.join(words.comma) }) : words.unchanged;
    const judged = guessed ? `${fill(words.right, { right: right.length, all: this.rows.length })} ` : "";
    this.question.replaceChildren(el("b", {}, said), ` ${judged}${asked.why}`);
    this.steps.replaceChildren(...asked.next());
    this.steps.firstChild.focus({ preventScroll: true });
    this.asked = { button: asked.button, told: true };
  }

  /** Take away what was said of the last change. */
  clear() {
    clearTimeout(this.waiting);
    this.last.textContent = "";
    this.element.classList.remove("guessed");
    for (const { ghost, change, tick, guess } of this.rows) {
      [ghost.hidden, tick.checked] = [true, false];
      for (const said of [change, guess]) said.textContent = "";
    }
  }

  /** Leave the experiment, if there is one. */
  settle() {
    this.clear();
    this.asked?.button.setAttribute("aria-pressed", "false");
    this.asked = null;
    this.element.classList.remove("asked", "told");
    this.question.textContent = "";
    this.steps.replaceChildren();
  }

  /** Draw the means, {metric: value}; once drawn, also what has changed since: for a while, or as the answer to a guess. */
  draw(means, k) {
    const before = this.means, guessed = this.asked?.moving;
    const moved = before && (this.k !== k || this.rows.some(({ metric }) => means[metric] !== before[metric]));
    if (moved && this.asked?.told) this.clear(); // what was found stays
    else if (moved && !guessed) this.settle();
    for (const { metric, cutoff, ghost, fill: bar, value, change } of this.rows) {
      cutoff.textContent = `@${k}`;
      value.textContent = means[metric].toFixed(2);
      bar.style.setProperty("--part", means[metric]);
      if (!guessed && (!moved || this.k !== k)) continue;
      const gap = means[metric] - before[metric];
      ghost.hidden = gap === 0;
      ghost.style.setProperty("--part", before[metric]);
      change.textContent = gap === 0 ? this.words.same : `${gap > 0 ? "+" : "−"}${Math.abs(gap).toFixed(2)}`;
      change.className = gap > 0 ? "rise" : gap < 0 ? "fall" : "same";
    }
    if (this.rows.some(({ change }) => change.textContent)) this.last.textContent = this.words.last;
    if (guessed) this.tell(before, means);
    else if (moved) this.waiting = setTimeout(() => this.clear(), LASTS);
    [this.means, this.k] = [means, k];
  }
}
