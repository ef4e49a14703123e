// The ten passages of lesson 04 graded by the reader: buttons under each, and beside the collection's grades after the tenth.
import { el, fill } from "../try/element.js";
import { key } from "./controls.js";

const GRADES = [0, 1, 2, 3];
const passages = () => [...document.querySelectorAll("#cell-ten + .cell .cell_output:not([hidden]) tbody tr:not(.grades-row)")];

/** How many grades are equal, how many agree on relevant or not, and Cohen's kappa of the latter. */
export const compare = (mine, theirs, level) => {
  const all = mine.length, equal = (a, b) => a.filter((one, i) => one === b[i]).length;
  const [a, b] = [mine, theirs].map((grades) => grades.map((grade) => grade >= level));
  const [p, q] = [a, b].map((relevant) => relevant.filter(Boolean).length / all), chance = p * q + (1 - p) * (1 - q);
  return { exact: equal(mine, theirs), same: equal(a, b), kappa: (equal(a, b) / all - chance) / (1 - chance) };
};

export const start = (box, words) => {
  const { grades: theirs, level } = words, mine = theirs.map(() => null);
  const rows = theirs.map((theirGrade, i) => {
    const choices = GRADES.map((grade) => el("label", {},
      el("input", { type: "radio", name: `grade-${i}`, onchange: () => { mine[i] = grade; draw(); } }), el("b", {}, grade), " ", el("span", {}, words.means[grade]),
      grade === theirGrade ? el("small", { hidden: true }, words.theirs) : ""));
    return el("tr", { class: "grades-row" }, el("td", {}), el("td", { colspan: 2 }, el("fieldset", {}, el("legend", {}, fill(words.passage, { n: i + 1 })), ...choices, el("p", {}))));
  });
  const place = () => { // a lesson that ran in its page shows other tables
    passages().slice(0, rows.length).forEach((passage, i) => {
      document.getElementById(`passage-${i + 1}`)?.removeAttribute("id");
      passage.id = `passage-${i + 1}`;
      passage.after(rows[i]);
    });
  };
  const line = (name) => el("tr", {}, el("th", { scope: "row" }, name), ...theirs.map(() => el("td", {})));
  const lines = [line(words.mine), line(words.theirs)];
  const numbers = el("tr", {}, el("th", { scope: "row" }, words.number), ...theirs.map((_, i) => el("th", { scope: "col" }, el("a", { href: `#passage-${i + 1}` }, i + 1))));
  const told = el("p", { class: "live-said", "aria-live": "polite" }), code = el("code", {}), copied = el("span", { role: "status" });
  const copy = el("button", { type: "button", onclick: async () => { await navigator.clipboard.writeText(code.textContent); copied.textContent = words.copied; } }, words.copy);
  const again = el("button", { type: "button", onclick: () => {
    mine.fill(null);
    for (const input of rows.flatMap((row) => [...row.querySelectorAll("input")])) input.checked = false;
    draw();
  } }, words.again);
  const foot = el("p", { class: "board-foot" }, code, copy, copied, again);

  const draw = () => {
    const done = !mine.includes(null), count = mine.filter((grade) => grade !== null).length;
    [mine, done ? theirs : []].forEach((grades, row) => mine.forEach((_, i) => {
      const cell = lines[row].cells[i + 1];
      cell.textContent = grades[i] ?? "";
      cell.className = grades[i] >= level ? "relevant" : "";
    }));
    for (const row of rows) row.querySelector("small").hidden = !done;
    foot.hidden = !done;
    copied.textContent = "";
    code.textContent = `MINE = [${mine.join(", ")}]`;
    const agreed = done && compare(mine, theirs, level);
    told.textContent = done ? fill(words.told, { ...agreed, kappa: agreed.kappa.toFixed(2).replace("-", "−") }) : fill(words.left, { count });
    rows.forEach((row, i) => { row.querySelector("p").textContent = done || mine[i] === null ? "" : told.textContent; });
  };

  place();
  addEventListener("outputs", place);
  draw();
  box.append(el("p", { class: "live-title" }, words.title), el("p", {}, words.ask), el("table", {}, el("thead", {}, numbers), el("tbody", {}, ...lines)), key(words.key), told, foot);
};
