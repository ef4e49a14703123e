// Puzzles to solve by moving documents: each condition with the mean that it is about, and whether it holds.
import { el, fill, titled } from "./element.js";

const holds = ([, metric, sign, bound], means) => (sign === "<" ? means[metric] < bound : means[metric] >= bound - 1e-12);

export class Puzzles {
  constructor(words) {
    this.words = words;
    this.all = words.puzzles.map((goal) => {
      const chips = goal.map((condition) => ({ condition, element: el("span", { class: "try-chip" }) }));
      const solved = el("b", { role: "status" });
      return { chips, solved, element: el("li", {}, ...chips.map(({ element }) => element), solved) };
    });
    this.element = el("div", { class: "try-puzzles" }, titled(words.puzzle), el("ol", { "aria-label": words.puzzle.name }, ...this.all.map(({ element }) => element)));
  }

  /** Draw the conditions for these means; a puzzle once solved stays solved. */
  draw(means) {
    const { words } = this;
    for (const { chips, solved, element } of this.all) {
      for (const { condition, element: chip } of chips) {
        const [name, metric, sign, bound] = condition, held = holds(condition, means);
        chip.textContent = fill(held ? words.held : words.wanted[sign], { name, value: means[metric].toFixed(2), bound });
        chip.classList.toggle("held", held);
      }
      if (element.className || !chips.every(({ condition }) => holds(condition, means))) continue;
      element.className = "solved";
      solved.textContent = words.solved;
    }
  }
}
