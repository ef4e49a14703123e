// Puzzles to solve by moving documents, one at a time: each condition with the mean that it is about, and whether it holds.
import { el, fill } from "./element.js";

const LASTS = 9000; // milliseconds for which it is said that a puzzle is solved
const holds = ([metric, sign, bound], means) => (sign === "<" ? means[metric] < bound : Math.abs(means[metric] - bound) < 1e-12);

export class Puzzles {
  constructor(words) {
    Object.assign(this, { words, at: 0, solved: new Set() });
    this.said = el("p", { class: "try-solved", role: "status" }); // that one is solved, where the puzzle is out of sight
    this.name = el("b", {});
    this.goals = el("ol", {});
    this.why = el("p", { class: "try-why" });
    this.next = el("button", { type: "button", onclick: () => { this.at = this.following; this.begin(); } });
    this.element = el("div", { class: "try-puzzles" }, el("p", { class: "tool-title" }, this.name, " ", words.puzzle.text), this.goals, this.why, this.next);
  }

  get following() { return (this.at + 1) % this.words.puzzles.length; }

  /** Show the puzzle with nothing met: what holds by chance counts from the first move. */
  begin() { this.draw(this.means, false); }

  /** Draw the conditions for these means, as met only after a move; a puzzle once solved stays solved, and says what it shows. */
  draw(means, moved = this.moved) {
    Object.assign(this, { means, moved });
    const { words, at, solved } = this, { goals, why } = words.puzzles[at];
    if (moved && !solved.has(at) && goals.every((goal) => holds(goal, means))) {
      solved.add(at);
      this.said.textContent = fill(words.solved, { number: at + 1 });
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => { this.said.textContent = ""; }, LASTS);
    }
    this.name.textContent = fill(words.puzzle.name, { number: at + 1, all: words.puzzles.length });
    this.goals.replaceChildren(...goals.map((goal) => {
      const [metric, sign, bound] = goal, met = solved.has(at) || (moved && holds(goal, means));
      return el("li", { class: met && "met" }, fill(met ? words.met : words.wanted, { name: words.names[metric], sign, bound, value: means[metric].toFixed(2) }));
    }));
    this.element.classList.toggle("solved", solved.has(at));
    this.why.textContent = solved.has(at) ? why : "";
    this.next.textContent = fill(words.puzzle.next, { number: this.following + 1 });
  }
}
