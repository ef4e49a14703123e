// The means over k: a small curve for each metric, from 0 to 1, with a mark at the k that is set.
import { el, fill, titled } from "./element.js";
import { METRICS } from "./metrics.js";

const WIDE = 120, HIGH = 60, EDGE = 4;
const svg = (tag, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

export class Curves {
  constructor(words) {
    this.words = words;
    this.figures = Object.keys(METRICS).map((metric) => {
      const figure = { metric, line: svg("polyline", {}), cursor: svg("line", { y1: EDGE, y2: HIGH - EDGE }), dot: svg("circle", { r: 3 }), here: el("b", {}), first: el("span", {}), last: el("span", {}) };
      figure.drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" });
      for (const part of [0, 0.5, 1]) figure.drawing.append(svg("path", { d: `M0 ${this.y(part)}H${WIDE}` }));
      figure.drawing.append(figure.cursor, figure.line, figure.dot);
      figure.element = el("figure", {}, el("figcaption", {}, el("b", {}, words.names[metric]), figure.here), figure.drawing, el("p", { "aria-hidden": "true" }, figure.first, figure.last));
      return figure;
    });
    this.title = el("div", { class: "try-controls" }, titled(words.curves));
    this.element = el("div", { class: "try-curves" }, this.title, el("div", { class: "try-figures" }, ...this.figures.map(({ element }) => element)));
  }

  y(value) { return EDGE + (1 - value) * (HIGH - 2 * EDGE); }

  /** Draw the means: of each metric the values at k = 1, 2, … */
  draw(means, k) {
    for (const { metric, line, cursor, dot, here, first, last, drawing } of this.figures) {
      const values = means[metric], x = (at) => EDGE + (at / (values.length - 1)) * (WIDE - 2 * EDGE);
      line.setAttribute("points", values.map((value, i) => `${x(i).toFixed(1)},${this.y(value).toFixed(1)}`).join(" "));
      for (const name of ["x1", "x2"]) cursor.setAttribute(name, x(k - 1));
      dot.setAttribute("cx", x(k - 1));
      dot.setAttribute("cy", this.y(values[k - 1]));
      here.textContent = values[k - 1].toFixed(2);
      first.textContent = fill(this.words.ends.first, { value: values[0].toFixed(2) });
      last.textContent = fill(this.words.ends.last, { k: values.length, value: values.at(-1).toFixed(2) });
      const said = { metric: this.words.names[metric], k, first: values[0].toFixed(2), here: values[k - 1].toFixed(2), end: values.at(-1).toFixed(2), last: values.length };
      drawing.setAttribute("aria-label", fill(this.words.curve, said));
    }
  }
}
