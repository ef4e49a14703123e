// An index with cells, drawn: points made up for it, which k-means groups, and a query that looks into the cells whose
// centres are nearest. The true ten nearest points are marked, those in a cell that was not looked into as missed.
import { el, fill } from "../try/element.js";
import { random } from "../score/interval.js";
import { key, svg } from "./controls.js";

const POINTS = 300, GROUPS = 20, CELLS = 12, NEAREST = 10, SPREAD = 9, START = { at: [47, 42], nprobe: 1 };
const next = random(3);
const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
const inside = (x) => Math.max(1, Math.min(99, x));
const apart = ([x, y], [u, v]) => (x - u) ** 2 + (y - v) ** 2;
/** The numbers of the points in the order of their distance from a place. */
const ordered = (points, place) => points.map((_, i) => i).sort((a, b) => apart(points[a], place) - apart(points[b], place));

const groups = Array.from({ length: GROUPS }, () => [10 + 80 * next(), 10 + 80 * next()]);
const points = Array.from({ length: POINTS }, (_, i) => groups[i % GROUPS].map((x) => inside(x + SPREAD * normal())));
let centres = points.slice(0, CELLS), cellOf;
for (let round = 0; round < 25; round += 1) {
  cellOf = points.map((point) => ordered(centres, point)[0]);
  centres = centres.map((centre, cell) => {
    const own = points.filter((_, i) => cellOf[i] === cell);
    return own.length ? [0, 1].map((axis) => own.reduce((sum, point) => sum + point[axis], 0) / own.length) : centre;
  });
}
cellOf = points.map((point) => ordered(centres, point)[0]);

/** The part of a polygon that is nearer to one centre than to another. */
const nearer = (polygon, centre, other) => polygon.flatMap((p, i) => {
  const q = polygon[(i + 1) % polygon.length];
  const [here, there] = [p, q].map((point) => apart(point, other) - apart(point, centre));
  const part = here / (here - there), cut = here * there < 0 ? [p.map((x, axis) => x + part * (q[axis] - x))] : [];
  return here >= 0 ? [p, ...cut] : cut;
});
const border = (centre) => centres.reduce(
  (polygon, other) => (other === centre ? polygon : nearer(polygon, centre, other)), [[0, 0], [100, 0], [100, 100], [0, 100]]);

export const start = (box, words) => {
  let at = START.at;
  const cells = centres.map((centre) => svg("polygon", { points: border(centre).join(" ") }));
  const dots = points.map(([x, y]) => svg("circle", { cx: x, cy: y, r: 0.9 }));
  const middles = centres.map(([x, y]) => svg("path", { class: "centre", d: `M${x - 1.4} ${y}h2.8M${x} ${y - 1.4}v2.8` }));
  const query = svg("circle", { class: "query", r: 2.2 });
  const drawing = svg("svg", { viewBox: "0 0 100 100", role: "img" });
  drawing.append(...cells, ...middles, ...dots, query);
  const said = el("output", {}), cost = el("i", {}), agreement = el("i", {}), values = [el("b", {}), el("b", {})];
  const nprobe = el("input", { type: "range", min: 1, max: CELLS, value: START.nprobe, "aria-label": "nprobe", oninput: () => draw() });
  const name = el("b", {});
  const move = ({ clientX, clientY }) => {
    const { left, top, width } = drawing.getBoundingClientRect();
    at = [clientX - left, clientY - top].map((x) => inside(100 * x / width));
    draw();
  };
  drawing.addEventListener("pointerdown", (event) => { drawing.setPointerCapture(event.pointerId); move(event); });
  drawing.addEventListener("pointermove", (event) => { if (event.buttons) move(event); });
  const another = el("button", { type: "button", onclick: () => { at = [inside(100 * next()), inside(100 * next())]; draw(); } }, words.another);
  const bar = (label, value, part) => el("div", {}, label, " ", value, el("div", { class: "board-bar", "aria-hidden": "true" }, part));
  box.append(
    el("p", { class: "live-title" }, words.title), el("p", { class: "live-help" }, words.help), drawing, key(words.key),
    el("label", { class: "ivf-probes" }, name, nprobe),
    el("div", { class: "ivf-bars" }, bar(words.agreement, values[0], agreement), bar(words.cost, values[1], cost)),
    el("p", { class: "board-foot" }, said, another),
  );

  const draw = () => {
    const probes = Number(nprobe.value), open = new Set(ordered(centres, at).slice(0, probes));
    const ten = new Set(ordered(points, at).slice(0, NEAREST)), found = [...ten].filter((i) => open.has(cellOf[i])).length;
    const looked = cellOf.filter((cell) => open.has(cell)).length;
    cells.forEach((cell, i) => cell.classList.toggle("open", open.has(i)));
    dots.forEach((dot, i) => {
      dot.setAttribute("class", [open.has(cellOf[i]) ? "looked" : "", ten.has(i) ? (open.has(cellOf[i]) ? "found" : "missed") : ""].join(" ").trim());
      dot.setAttribute("r", ten.has(i) ? 1.5 : 0.9);
    });
    query.setAttribute("cx", at[0]);
    query.setAttribute("cy", at[1]);
    nprobe.style.setProperty("--part", (probes - 1) / (CELLS - 1));
    name.textContent = `nprobe = ${probes}`;
    values[0].textContent = (found / NEAREST).toFixed(3);
    agreement.style.width = `${100 * found / NEAREST}%`;
    values[1].textContent = `${Math.round(100 * looked / POINTS)} %`;
    cost.style.width = `${100 * looked / POINTS}%`;
    said.textContent = fill(words.said, { found, missed: NEAREST - found });
    drawing.setAttribute("aria-label", fill(words.alt, { probes, cells: CELLS, looked, points: POINTS }) + said.textContent);
  };
  draw();
};
