// Puzzles to solve by moving documents: the two conditions of the chosen one, each with the mean that it is about, and whether it holds.
import { el, fill } from "./element.js";

const holds = ([metric, sign, bound], means) => (sign === "<" ? means[metric] < bound : Math.abs(means[metric] - bound) < 1e-12);

export class Puzzles {
  constructor(words) {
    Object.assign(this, { words, at: 0, on: false, solved: new Set() });
    this.buttons = words.puzzles.map((_, at) => el("button", { type: "button", onclick: () => this.begin(this.on, at) }));
    this.task = el("p", { class: "try-task", role: "status" });
    this.goals = el("ol", { class: "try-goals" });
    this.element = el("div", { class: "try-puzzles" }, el("p", { class: "try-pills" }, ...this.buttons), this.task);
  }

  /** Show a puzzle with nothing met: what holds by chance counts from the first move, and only while the reader solves puzzles. */
  begin(on = this.on, at = this.at) {
    Object.assign(this, { on, at });
    this.draw(this.means, false);
  }

  /** Draw the conditions for these means, as met only after a move; a puzzle once solved stays solved, and says what it shows. */
  draw(means, moved = this.moved) {
    Object.assign(this, { means, moved });
    const { words, at, solved } = this, { goals, why } = words.puzzles[at];
    const said = ([metric, sign, bound]) => `${words.names[metric]} ${sign} ${bound}`;
    if (this.on && moved && goals.every((goal) => holds(goal, means))) solved.add(at);
    this.buttons.forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === at));
      button.textContent = (solved.has(i) ? "✓ " : "") + fill(words.puzzle.one, { number: i + 1 });
    });
    this.goals.replaceChildren(...goals.map((goal) => {
      const met = solved.has(at) || (moved && holds(goal, means));
      return el("li", { class: met && "met" }, fill(met ? words.met : words.wanted, { goal: said(goal), value: means[goal[0]].toFixed(2) }));
    }));
    this.task.textContent = solved.has(at) ? `${words.solved}${why}` : fill(words.puzzle.task, { one: said(goals[0]), other: said(goals[1]) });
  }
}
