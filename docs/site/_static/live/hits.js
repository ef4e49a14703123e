// The first questions of lesson 01, their passages as boxes in the order of a ranking, and the cutoff as a line that
// one moves: what three metrics make of the part to the left of it. One passage is shown by its words.
import { el, fill } from "../try/element.js";
import { METRICS } from "../try/metrics.js";
import { cutoff, key } from "./controls.js";

const SHOWN = ["recall", "mrr", "ndcg"], MOST = 10;
/** What metrics.js looks at, of a question. */
const hitsOf = ({ passages, ideal }, answers) => {
  const grades = passages.map(([, , grade]) => grade);
  return { grades, ideal, relevant: grades.map((grade) => grade >= answers), R: ideal.filter((grade) => grade >= answers).length };
};

/** The value of each metric with its name, a bar, and what it says. */
const meters = ({ names, means, terms }) => {
  const bars = SHOWN.map((metric) => {
    const at = el("span", {}), value = el("b", {}), bar = el("i", {});
    const term = el("a", { class: "term", ...terms[metric] }, names[metric]), track = el("div", { class: "hits-bar", "aria-hidden": "true" }, bar);
    return { metric, at, value, bar, element: el("div", {}, term, at, " ", value, track, el("small", {}, means[metric])) };
  });
  const show = (hits, cut) => {
    for (const { metric, at, value, bar } of bars) {
      const mean = hits.reduce((total, one) => total + METRICS[metric](one, cut).value, 0) / hits.length;
      at.textContent = `@${cut}`;
      value.textContent = mean.toFixed(3);
      bar.style.width = `${100 * mean}%`;
    }
  };
  return { element: el("output", { class: "hits-bars" }, ...bars.map(({ element }) => element)), show };
};

export const start = (box, words) => {
  const { queries, answers } = words, hits = queries.map((query) => hitsOf(query, answers));
  const first = (row) => Math.max(0, hits[row].relevant.indexOf(true));
  const chosen = { row: 0, at: first(0) };
  const rank = el("b", {}), verdict = el("em", {}), title = el("span", {}), sentence = el("small", {});
  const passage = el("div", { class: "hits-passage", "aria-live": "polite" }, el("p", {}, rank, " ", verdict), title, sentence);
  const rows = queries.map(({ text, passages }, row) => {
    const boxes = passages.map(([name, , grade], at) => el("button", {
      type: "button", "data-at": at, class: hits[row].relevant[at] ? "relevant" : null,
      "aria-label": fill(words.box, { rank: at + 1, title: name, verdict: words.grades[grade] }),
    }));
    const choose = (at) => { Object.assign(chosen, { row, at }); draw(); };
    const group = el("div", { class: "hits-docs", role: "group", "aria-label": fill(words.list, { text }) }, ...boxes);
    const element = el("div", { class: "hits-row", onclick: ({ target }) => choose(Number(target.dataset.at ?? first(row))) }, el("p", {}, text), group);
    group.addEventListener("focusin", ({ target }) => choose(Number(target.dataset.at)));
    group.addEventListener("keydown", (event) => {
      const to = Number(event.target.dataset.at) + ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? NaN);
      if (!boxes[to]) return;
      event.preventDefault();
      boxes[to].focus();
    });
    return { element, boxes };
  });
  const scores = meters(words);
  const look = el("p", {}), k = cutoff(words.cutoff, 3, () => draw());
  box.append(
    el("p", { class: "live-title" }, words.title), el("p", { class: "live-help" }, words.help, " ", el("a", { href: "#cell-picture" }, words.more)), key(words.key),
    el("div", { class: "hits-rows" }, ...rows.map(({ element }) => element), el("div", { class: "hits-row" }, look, k.element)),
    scores.element, passage,
  );

  const mrr = (cut) => hits.reduce((total, one) => total + METRICS.mrr(one, cut).value, 0);
  const draw = () => {
    const cut = Number(k.input.value);
    box.style.setProperty("--k", cut);
    look.textContent = fill(mrr(cut) < mrr(MOST) ? words.look : words.solved, { k: cut });
    rows.forEach(({ element, boxes }, row) => {
      element.classList.toggle("chosen", row === chosen.row);
      boxes.forEach((one, at) => {
        const here = row === chosen.row && at === chosen.at;
        one.classList.toggle("counts", at < cut && hits[row].relevant[at]);
        one.classList.toggle("chosen", here);
        one.setAttribute("aria-pressed", here);
        one.tabIndex = at === (row === chosen.row ? chosen.at : first(row)) ? 0 : -1;
      });
    });
    scores.show(hits, cut);
    const [name, shown, grade] = queries[chosen.row].passages[chosen.at];
    passage.classList.toggle("answers", grade >= answers);
    rank.textContent = fill(words.found, { rank: chosen.at + 1 });
    verdict.textContent = words.grades[grade];
    title.textContent = name;
    sentence.textContent = shown;
  };
  draw();
  dispatchEvent(new CustomEvent("terms", { detail: box })); // site.js shows what they mean
};
