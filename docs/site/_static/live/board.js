// The worked rankings of lesson 02 as rows of boxes, and what a metric makes of them: what each relevant document adds,
// the value of each row, their mean.
import { el, fill } from "../try/element.js";
import { FORMULAS, put } from "../try/formulas.js";
import { METRICS, find } from "../try/metrics.js";
import { NAMES, example } from "../try/state.js";
import { choice, cutoff, key } from "./controls.js";

const three = (value) => value.toFixed(3);
const mean = (values) => values.reduce((a, b) => a + b) / values.length;
const hitsOf = ({ retrieved, missed }) =>
  find(retrieved.map(({ id }) => id), new Map([...retrieved, ...missed].map(({ id, grade }) => [id, grade])));

/** Value, formula and addends of a row: the rank of each document that counts, and what it adds to the value. */
const score = (metric, hits, k) => {
  const parts = METRICS[metric](hits, k), all = hits.relevant.slice(0, k).flatMap((yes, i) => (yes ? [i + 1] : []));
  const discount = (rank) => 1 / Math.log2(rank + 1), ideal = parts.dcg / parts.value;
  const add = { mrr: (rank, i) => (i ? 0 : 1 / rank), ndcg: (rank) => discount(rank) / ideal }[metric] ?? (() => parts.value / all.length);
  const dcg = `(${all.map((rank) => Number(three(discount(rank)))).join(" + ")}) / ${three(ideal)}`;
  return { value: parts.value, formula: metric === "ndcg" && parts.value ? dcg : FORMULAS[metric](parts, k), addends: all.map((rank, i) => [rank, add(rank, i)]).filter(([, part]) => part) };
};

/** A row of boxes: `choose(at)` when one is pressed or reached, `move(to)` when it is dragged or moved by keys, `turn()` when it is clicked. */
const row = (label, docs, { choose, move, turn }) => {
  const group = el("div", { class: "board-docs", role: "group", "aria-label": label }, ...docs), at = ({ dataset }) => Number(dataset.at);
  let drag = null;
  group.addEventListener("pointerdown", ({ target, clientX, button }) => {
    if (button || !target.dataset.at) return;
    drag = { x: clientX, moved: false };
    choose(at(target));
  });
  group.addEventListener("pointermove", ({ clientX, buttons, pointerId }) => {
    if (!drag || !buttons || (!drag.moved && Math.abs(clientX - drag.x) < 6)) return;
    drag.moved = true;
    group.setPointerCapture(pointerId);
    const { left, width } = group.getBoundingClientRect();
    move(Math.floor((clientX - left) / width * docs.length));
  });
  group.addEventListener("click", ({ target }) => {
    const dragged = drag?.moved;
    drag = null;
    if (dragged || !target.dataset.at) return;
    choose(at(target));
    turn();
  });
  group.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], to = Math.max(0, Math.min(at(event.target) + step, docs.length - 1));
    if (!step) return;
    event.preventDefault();
    choose(at(event.target));
    if (event.shiftKey) move(to); else choose(to);
    docs[to].focus();
  });
  return group;
};

export const start = (box, words) => {
  let state = example();
  const metric = choice(words.metric, Object.entries(words.metrics), "recall", () => draw());
  const chosen = { row: 2, at: 1 }; // the first relevant document of C: one press puts it first
  const list = () => state.rankings[chosen.row].retrieved;
  const choose = (row, at) => { Object.assign(chosen, { row, at }); draw(); };
  const move = (to) => {
    if (to === chosen.at || !list()[to]) return;
    list().splice(to, 0, ...list().splice(chosen.at, 1));
    choose(chosen.row, to);
  };
  const turn = () => { list()[chosen.at].grade = 1 - list()[chosen.at].grade; draw(); };
  const rows = NAMES.map((name, i) => {
    const docs = state.rankings[i].retrieved.map((_, at) => el("button", { type: "button", "data-at": at }));
    const parts = { docs, bar: el("div", { class: "board-bar", "aria-hidden": "true" }), formula: el("span", {}), value: el("b", {}), note: el("small", {}) };
    const boxes = row(fill(words.row, { name }), docs, { choose: (at) => choose(i, at), move, turn });
    parts.element = el("div", { class: "board-row" }, el("b", {}, name), boxes, parts.bar, el("p", {}, parts.formula, " = ", parts.value, parts.note));
    return parts;
  });
  const name = el("span", {}), bar = el("i", {}), before = el("i", { class: "before" }), value = el("output", {}), which = el("span", {});
  const k = cutoff(words.cutoff, state.k, (value) => { state.k = value; draw(); });
  const step = (sign, by) => el("button", { type: "button", "aria-label": words[by < 0 ? "left" : "right"], onclick: () => move(chosen.at + by) }, sign);
  const buttons = [step("‹", -1), step("›", 1)];
  const again = el("button", { type: "button", onclick: () => { state = example(); draw(); } }, words.again);
  const said = (text) => el("p", { class: "live-help" }, text);
  box.append(
    el("p", { class: "live-title" }, words.title, name), said(words.task), metric.element, key(words.key),
    el("div", { class: "board-rows" }, ...rows.map(({ element }) => element), el("div", { class: "board-row" }, el("b", {}, "k"), k.element)),
    el("div", { class: "board-mean" }, el("div", { class: "board-bar", "aria-hidden": "true" }, bar, before), value),
    said(words.help), el("p", { class: "board-foot" }, buttons[0], which, buttons[1], again),
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
        docs[at].className = [grade ? "relevant" : "", counts.has(at + 1) ? "counts" : "", row === chosen.row && at === chosen.at ? "chosen" : ""].join(" ");
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
    bar.style.width = `${100 * now}%`;
    before.style.left = `${100 * then}%`;
    value.replaceChildren(`${words.mean} `, el("b", {}, three(now)), Number(by) ? el("span", { class: now > then ? "rise" : "fall" }, ` ${now > then ? "+" : "−"}${by}`) : "");
    which.textContent = fill(words.chosen, { name: NAMES[chosen.row], id: list()[chosen.at].id });
    buttons[0].disabled = chosen.at === 0;
    buttons[1].disabled = chosen.at === list().length - 1;
    again.disabled = JSON.stringify(state) === JSON.stringify(lesson);
  };
  draw();
};
