// Puzzles to solve by moving documents: each condition with the mean that it is about, and whether it holds.
import { el, fill, titled } from "./element.js";

const LASTS = 9000; // milliseconds for which it is said that a puzzle is solved
const holds = ([metric, sign, bound], means) => (sign === "<" ? means[metric] < bound : Math.abs(means[metric] - bound) < 1e-12);

export class Puzzles {
  constructor(words) {
    this.words = words;
    this.said = el("p", { class: "try-solved", role: "status" }); // that one is solved, where the puzzles are out of sight
    this.all = words.puzzles.map(({ goals, why }) => {
      const chips = goals.map((goal) => ({ goal, element: el("span", { class: "try-chip" }) }));
      return { why, chips, element: el("li", {}, ...chips.map(({ element }) => element)) };
    });
    this.element = el("div", { class: "try-puzzles" }, titled(words.puzzle), el("ol", { "aria-label": words.puzzle.name }, ...this.all.map(({ element }) => element)));
  }

  /** Draw the conditions for these means; a puzzle once solved stays solved, and says what it shows. */
  draw(means) {
    const { words } = this;
    for (const [i, { why, chips, element }] of this.all.entries()) {
      if (element.className) continue;
      for (const { goal, element: chip } of chips) {
        const [metric, sign, bound] = goal, held = holds(goal, means);
        chip.textContent = fill(held ? words.held : words.wanted, { name: words.names[metric], sign, bound, value: means[metric].toFixed(2) });
        chip.classList.toggle("held", held);
      }
      if (!chips.every(({ goal }) => holds(goal, means))) continue;
      element.className = "solved";
      element.append(el("p", {}, why));
      this.said.textContent = fill(words.solved, { number: i + 1 });
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => { this.said.textContent = ""; }, LASTS);
    }
  }
}
