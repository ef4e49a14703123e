// Puzzles to solve by moving documents: the two conditions of the chosen one, each with the mean that it is about, and whether it holds.
import { el, fill } from "./element.js";

const holds = ([metric, sign, bound], means) => (sign === "<" ? means[metric] < bound : Math.abs(means[metric] - bound) < 1e-12);

export class Puzzles {
  constructor(words) {
    Object.assign(this, { words, at: 0, on: false, solved: new Set() });
    this.buttons = words.puzzles.map((_, at) => el("button", { type: "button", onclick: () => this.choose(at) })); // the board is put back first
    this.task = el("p", { class: "try-task", role: "status" });
    this.goals = el("ol", { class: "try-goals" });
    this.element = el("div", { class: "try-puzzles" }, el("p", { class: "try-pills" }, ...this.buttons), this.task);
  }

  /** Show a puzzle as it begins: it is solved by moves from here on, and only while the reader solves puzzles. */
  begin(on = this.on, at = this.at) {
    Object.assign(this, { on, at, told: false });
    this.draw(this.means, false);
  }

  /** Draw which conditions hold for these means; once solved, a puzzle says what it shows, and its button keeps a mark. */
  draw(means, moved = this.moved) {
    Object.assign(this, { means, moved });
    const { words, at, solved } = this, { goals, why } = words.puzzles[at];
    const said = ([metric, sign, bound]) => `${words.names[metric]} ${sign} ${bound}`;
    if (this.on && moved && goals.every((goal) => holds(goal, means))) {
      solved.add(at);
      this.told = true;
    }
    this.buttons.forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === at));
      button.textContent = (solved.has(i) ? "✓ " : "") + fill(words.puzzle.one, words.puzzles[i].goals.map(([metric]) => words.names[metric]));
    });
    this.goals.replaceChildren(...goals.map((goal) => {
      const met = holds(goal, means);
      return el("li", { class: met && "met" }, fill(met ? words.met : words.wanted, { goal: said(goal), value: means[goal[0]].toFixed(2) }));
    }));
    const next = words.puzzles.findIndex((_, i) => !solved.has(i));
    const go = () => { this.choose(next); this.buttons[next].focus({ preventScroll: true }); };
    if (this.told) this.goals.append(el("li", { class: "solved" }, el("b", {}, words.solved), ...(next < 0 ? [] : [el("button", { type: "button", onclick: go }, words.puzzle.next)])));
    this.task.textContent = this.told ? `${words.solved}${why}` : fill(words.puzzle.task, { one: said(goals[0]), other: said(goals[1]) });
  }
}
