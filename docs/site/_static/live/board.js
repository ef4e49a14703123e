// The worked rankings of lesson 02 as rows of boxes, and what a metric makes of them: what each relevant document adds,
// the value of each row, their mean. The boards of a page show one state: what a reader changes is there in the next. The
// first says how to use all of them; a later one has its task, its rows, and a way back once it was changed. On a phone
// it shows the row of its task until a reader asks for all.
import { el, fill } from "../try/element.js";
import { FORMULAS, put } from "../try/formulas.js";
import { METRICS, find } from "../try/metrics.js";
import { NAMES, example } from "../try/state.js";
import { choice, cutoff, key } from "./controls.js";

const three = (value) => value.toFixed(3);
const mean = (values) => values.reduce((a, b) => a + b) / values.length;
const hitsOf = ({ retrieved, missed }) =>
  find(retrieved.map(({ id }) => id), new Map([...retrieved, ...missed].map(({ id, grade }) => [id, grade])));

let state = example();
const boards = [];
const change = (act) => { act(); boards.forEach((draw) => draw()); };

/** Value, formula and addends of a row: the rank of each document that counts, and what it adds to the value. */
const score = (metric, hits, k) => {
  const parts = METRICS[metric](hits, k), all = hits.relevant.slice(0, k).flatMap((yes, i) => (yes ? [i + 1] : []));
  const discount = (rank) => 1 / Math.log2(rank + 1), ideal = parts.dcg / parts.value;
  const add = {
    mrr: (rank, i) => (i ? 0 : 1 / rank), map: (rank, i) => (i + 1) / rank / parts.whole, ndcg: (rank) => discount(rank) / ideal,
  }[metric] ?? (() => parts.value / all.length);
  const dcg = `(${all.map((rank) => Number(three(discount(rank)))).join(" + ")}) / ${three(ideal)}`;
  return { value: parts.value, formula: metric === "ndcg" && parts.value ? dcg : FORMULAS[metric](parts, k), addends: all.map((rank, i) => [rank, add(rank, i)]).filter(([, part]) => part) };
};

export const start = (box, words, { metric: offered, row: told }) => {
  const metrics = offered.split(" "), several = metrics.length > 1;
  const metric = choice(words.metric, metrics.map((one) => [one, words.metrics[one]]), metrics[0], () => draw());
  const chosen = { row: 2, at: 1 }; // the first relevant document of C: one press puts it first
  let marked = several; // whether the chosen document is
  const list = () => state.rankings[chosen.row].retrieved;
  const choose = (row, at) => {
    Object.assign(chosen, { row, at: Math.max(0, Math.min(at, state.rankings[row].retrieved.length - 1)) });
    marked = true;
    change(() => {});
  };
  const move = (to) => {
    if (to < 0 || to >= list().length) return;
    change(() => list().splice(to, 0, ...list().splice(chosen.at, 1)));
    choose(chosen.row, to);
  };
  const rows = NAMES.map((name, row) => {
    const docs = state.rankings[row].retrieved.map((_, at) => el("button", { type: "button", "data-at": at }));
    const parts = { docs, bar: el("div", { class: "board-bar", "aria-hidden": "true" }), formula: el("span", {}), value: el("b", {}), note: el("small", {}) };
    const group = el("div", { class: "board-docs", role: "group", "aria-label": fill(words.row, { name }) }, ...docs);
    let drag = null;
    group.addEventListener("pointerdown", ({ target, clientX, button }) => {
      if (button || !target.dataset.at) return;
      drag = { x: clientX, moved: false };
      choose(row, Number(target.dataset.at));
    });
    group.addEventListener("pointermove", ({ clientX, buttons, pointerId }) => {
      if (!drag || !buttons || (!drag.moved && Math.abs(clientX - drag.x) < 6)) return;
      drag.moved = true;
      group.setPointerCapture(pointerId);
      const { left, width } = group.getBoundingClientRect(), to = Math.floor((clientX - left) / width * docs.length);
      if (to !== chosen.at) move(to);
    });
    group.addEventListener("click", ({ target }) => {
      const dragged = drag?.moved;
      drag = null;
      if (dragged || !target.dataset.at) return;
      choose(row, Number(target.dataset.at));
      change(() => { list()[chosen.at].grade = 1 - list()[chosen.at].grade; });
    });
    group.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      choose(row, Number(event.target.dataset.at));
      if (event.shiftKey) move(chosen.at + step); else choose(row, chosen.at + step);
      docs[chosen.at].focus();
    });
    parts.element = el("div", { class: name === told ? "board-row told" : "board-row" }, el("b", {}, name), group, parts.bar, el("p", {}, parts.formula, " = ", parts.value, parts.note));
    return parts;
  });
  const name = el("span", {}), bar = el("i", {}), before = el("i", { class: "before" }), value = el("output", {}), which = el("span", {});
  const k = cutoff(words.cutoff, state.k, (value) => change(() => { state.k = value; }));
  const step = (sign, by) => el("button", { type: "button", "aria-label": words[by < 0 ? "left" : "right"], onclick: () => move(chosen.at + by) }, sign);
  const buttons = [step("‹", -1), step("›", 1)];
  const again = el("button", { type: "button", onclick: () => change(() => { state = example(); }) }, words.again);
  const said = (text) => el("p", { class: "live-help" }, text), title = el("p", { class: "live-title" }, words.title, name);
  const open = el("button", { type: "button", class: "board-open", "aria-expanded": "false", onclick: () => { open.ariaExpanded = open.ariaExpanded === "false"; } }, words.open);
  box.append(
    ...several ? [title, said(words.tasks.several), metric.element, key(words.key)] : [said(el("b", {}, words.tasks[offered]))],
    el("div", { class: "board-rows" }, ...rows.map(({ element }) => element), el("div", { class: "board-row" }, el("b", {}, "k"), k.element)),
    el("div", { class: "board-mean" }, ...several ? [] : [name], el("div", { class: "board-bar", "aria-hidden": "true" }, bar, before), value, ...several ? [] : [open]),
    ...several ? [said(words.help)] : [], el("p", { class: "board-foot" }, ...several ? [buttons[0], which, buttons[1]] : [], again),
  );

  const draw = () => {
    const scores = state.rankings.map((ranking) => score(metric.value, hitsOf(ranking), state.k));
    name.textContent = `${words.metrics[metric.value]}@${state.k}`;
    box.style.setProperty("--k", state.k);
    k.input.value = state.k;
    rows.forEach(({ docs, bar: adds, formula, value: shown, note }, row) => {
      const { retrieved, missed } = state.rankings[row], { addends } = scores[row], counts = new Set(addends.map(([rank]) => rank));
      retrieved.forEach(({ id, grade }, at) => {
        docs[at].textContent = id;
        docs[at].className = [grade ? "relevant" : "", counts.has(at + 1) ? "counts" : "", marked && row === chosen.row && at === chosen.at ? "chosen" : ""].join(" ");
        docs[at].setAttribute("aria-pressed", grade > 0);
        docs[at].setAttribute("aria-label", fill(words.document, { rank: at + 1, id, relevance: words[grade ? "relevant" : "irrelevant"] }));
        docs[at].tabIndex = at === (row === chosen.row ? chosen.at : 0) ? 0 : -1;
      });
      adds.replaceChildren(...addends.map(([, part]) => { const piece = el("i", {}); piece.style.width = `${100 * part}%`; return piece; }));
      put(formula, scores[row].formula);
      shown.textContent = three(scores[row].value);
      note.textContent = missed.length ? fill(words.missed, { ids: missed.map(({ id }) => id).join(", ") }) : "";
    });
    const lesson = example(), now = mean(scores.map((one) => one.value));
    const then = mean(lesson.rankings.map((ranking) => score(metric.value, hitsOf(ranking), lesson.k).value)), by = three(Math.abs(now - then));
    const same = Number(by) === 0;
    bar.style.width = `${100 * now}%`;
    before.style.left = `${100 * then}%`;
    value.replaceChildren(`${words.mean} `, el("b", {}, three(now)), same ? "" : el("span", { class: now > then ? "rise" : "fall" }, ` ${now > then ? "+" : "−"}${by}`));
    which.textContent = fill(words.chosen, { name: NAMES[chosen.row], id: list()[chosen.at].id });
    buttons[0].disabled = chosen.at === 0;
    buttons[1].disabled = chosen.at === list().length - 1;
    again.disabled = JSON.stringify(state) === JSON.stringify(lesson);
  };
  boards.push(draw);
  draw();
};
