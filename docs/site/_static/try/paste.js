// Score a run pasted as TREC text against pasted judgements, in the page: nothing is sent anywhere.
import { el, fill } from "./element.js";
import { shown } from "./formulas.js";
import { METRICS, evaluate } from "./metrics.js";
import { Fault, LIMIT, readQrels, readRun } from "./trec.js";

const table = (head, rows) => el("table", { class: "try-pasted" },
  el("thead", {}, el("tr", {}, ...head.map((word) => (word ? el("th", { scope: "col" }, word) : el("td"))))),
  el("tbody", {}, ...rows.map(([first, ...cells]) =>
    el("tr", {}, el("th", { scope: "row" }, first), ...cells.map((cell) => el("td", {}, cell))))));

const wide = (label, content) => el("div", { class: "try-wide", tabindex: 0, role: "region", "aria-label": label }, content);

const result = ({ rows, mean, counts }, k, words) => {
  const names = Object.keys(METRICS).map((metric) => `${metric}@${k}`);
  const each = rows.map(({ query, values }) => [query, ...values.map(shown)]);
  return [
    el("p", {}, fill(words.counts, counts)),
    wide(words.mean, table(["", ...names], [[words.mean, ...mean.map(shown)]])),
    el("details", {}, el("summary", {}, words.each), wide(words.each, table([words.query, ...names], each))),
  ];
};

const explained = (fault, words) => {
  const box = words[fault.box], where = fault.line ? fill(words.line, { box, line: fault.line }) : box;
  return `${where}${words.colon}${fill(words.faults[fault.key], fault.filling)}`;
};

/** The box: two texts, a button, and below it the scores or what is wrong and in which line. */
export const pasteBox = (state, words) => {
  const field = (label, example) => el("textarea", { rows: 6, spellcheck: "false", autocomplete: "off", placeholder: example, "aria-label": label });
  const run = field(words.run, "q1 Q0 d7 1 12.5 mine"), qrels = field(words.qrels, "q1 0 d7 2");
  const answer = el("div", { class: "try-answer", "aria-live": "polite" });
  const score = () => {
    try {
      const { k, level, persistence, gain } = state;
      const judged = readQrels(qrels.value), found = readRun(run.value);
      const any = [...judged.keys()].some((query) => found.has(query));
      if (!any) throw new Fault("run", 0, "apart", { run: found.keys().next().value, qrels: judged.keys().next().value });
      answer.replaceChildren(...result(evaluate(found, judged, k, { level, persistence, gain }), k, words));
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault;
      answer.replaceChildren(el("p", { class: "try-fault" }, explained(fault, words)));
    }
  };
  const label = (word, area) => el("label", {}, el("span", {}, word), area);
  const element = el("details", { class: "try-paste" }, el("summary", {}, words.paste),
    el("p", {}, fill(words.pasteNote, { limit: LIMIT })),
    el("div", { class: "try-texts" }, label(words.run, run), label(words.qrels, qrels)),
    el("button", { type: "button", class: "try-score", onclick: score }, words.score), answer);
  return { element, score, scored: () => answer.querySelector("table") !== null };
};
