// Which convention gives a figure: helpers.metrics.explain, in the Python of lesson 2, which loads when it is asked for.
import { el, fill } from "../try/element.js";
import { readAll } from "./trec.js";

let worker = null, loaded = null;
const here = (name) => new URL(name, import.meta.url).href;

/** Send something to Python; what comes back is what it printed. */
const ask = (message) => new Promise((resolve, reject) => {
  let printed = "";
  worker.onerror = reject;
  worker.onmessage = ({ data: { type, output, detail } }) => {
    if (type === "output") printed += output.text ?? output.traceback.trim().split("\n").at(-1);
    if (type === "done") resolve(printed);
    if (type === "failed") reject(new Error(detail));
  };
  worker.postMessage(message);
});
const load = async () => {
  const { files, imports, archive } = await (await fetch(here("../run/02_metrics.json"))).json();
  worker = new Worker(here("../run/worker.js"), { type: "module" });
  await ask({ action: "load", base: here("../../../pyodide/"), files, imports, archive, packages: ["numpy"] });
};

const SOURCE = `
from helpers.metrics import explain
run, qrels = ({query: dict(docs) for query, docs in given[name]} for name in ("run", "qrels"))
print(explain(run, qrels, dict(given["figures"]), relevance_level=given["level"]).text(given["language"]))`;

/** A field for figures that were told, and the answer; `given` reads the run, the judgements and the level. */
export const explainer = (words, given) => {
  const input = el("input", { type: "text", placeholder: "ndcg@10=0.596, mrr@10=0.83", "aria-label": words.figures, onkeydown: ({ key }) => key === "Enter" && act() });
  const said = el("pre", { role: "status", tabindex: 0, hidden: true });
  const act = async () => {
    [said.hidden, said.textContent] = [false, words.working];
    try {
      await (loaded ??= load());
      const { level, ...texts } = await given(), { run, qrels } = readAll(texts).tables, pairs = (table) => [...table].map(([query, docs]) => [query, [...docs]]);
      const figures = input.value.split(/[,，\s]+/).filter(Boolean).map((one) => [...one.split("="), ""].slice(0, 2));
      const all = JSON.stringify({ run: pairs(run), qrels: pairs(qrels), figures, level, language: document.documentElement.lang.slice(0, 2) });
      said.textContent = await ask({ action: "run", cell: "explain", source: `import json\ngiven = json.loads(${JSON.stringify(all)})${SOURCE}` });
    } catch (error) {
      loaded = null;
      said.textContent = fill(words.absent, { fault: error.message, figures: input.value });
    }
  };
  return el("details", { class: "score-explain" }, el("summary", {}, words.name), el("p", {}, words.text), el("p", {}, input, " ", el("button", { type: "button", onclick: act }, words.ask)), said);
};
