// Ask the pocket collection: two systems side by side, the grades of what they retrieve, metrics, and grades of one's own.
import { el, fill } from "../try/element.js";
import { METRICS, find } from "../try/metrics.js";
import { fuse } from "./encoder.js";
import { WordIndex } from "./words.js";

const CUTOFF = 10, DEPTH = 100;
const box = document.querySelector(".ask"), words = JSON.parse(box.querySelector("script").textContent);
const DEFAULT = { first: document.documentElement.lang.startsWith("zh") ? "multilingual" : "MiniLM", second: "BM25" };
const live = Object.keys(words.systems).filter((name) => name.startsWith("TF-IDF") || name.endsWith("bigrams") || (name === "BM25" && !words.systems["BM25:bigrams"]));

let loading = null, data = null, index = null;
const load = () => (loading ??= fetch(box.dataset.collection).then((answer) => {
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer.json();
}).then((read) => {
  data = read;
  data.byId = new Map(data.passages.map((passage) => [passage[0], passage]));
  index = new WordIndex(data.passages.map(([, title, text]) => (title ? `${title}\n${text}` : text)), new Set(data.stop));
  suggestions.replaceChildren(...data.queries.map(({ text }) => el("option", { value: text })));
}).catch((error) => {
  loading = null;
  throw error;
}));

// The dense model, in a worker once a reader has asked for it; messages are answered one at a time.
const SIZE = Number(box.dataset.model ?? 0), megabytes = (bytes) => (bytes / 1e6).toFixed(1);
let worker = null, ready = false, turn = Promise.resolve(), hear = null;
const tell = (message) => (turn = turn.catch(() => {}).then(() => new Promise((resolve, reject) => {
  hear = { resolve, reject };
  worker.postMessage(message);
})));
const nearest = async (text) => (await tell({ text, k: DEPTH })).ranking;

const download = async () => {
  button.disabled = true;
  progress.hidden = false;
  try {
    worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.onerror = (event) => { event.preventDefault(); hear.reject(Error(event.message ?? "")); };
    worker.onmessage = ({ data: answer }) => {
      if (answer.loaded) {
        button.textContent = fill(words.loading, { loaded: megabytes(answer.loaded), size: megabytes(SIZE) });
        progress.value = answer.loaded;
      }
      else if (answer.error) hear.reject(Error(answer.error));
      else hear.resolve(answer);
    };
    await tell({ size: SIZE });
    ready = true;
    live.unshift("MiniLM", "fusion");
    if (query.lists) return;
    query.nearest = await nearest(query.text);
    ["MiniLM", "BM25"].forEach((system, i) => { choices[i].value = system; });
    show();
  } catch (error) {
    worker?.terminate();
    button.disabled = false;
    progress.hidden = true;
    button.textContent = fill(words.failed, { why: error.message });
  }
};
const button = el("button", { type: "button", class: "main", onclick: download }, fill(words.download ?? "", { size: megabytes(SIZE) }));
const progress = el("progress", { hidden: true, max: SIZE, "aria-label": button.textContent });
const model = el("div", { class: "ask-model", hidden: true }, el("p", {}, words.offer ?? ""), button, progress);

// What is shown: the question, whose grades are those of the collection, changed by the reader's own.
let query = null, own = new Map(), before = null;

const suggestions = el("datalist", { id: "ask-queries" });
const input = el("input", { type: "search", list: "ask-queries", "aria-label": words.question, placeholder: words.question, maxlength: 200, required: true, onfocus: () => load().catch(() => {}) });
const choice = (name) => el("select", { "aria-label": words[name], onchange: () => show() },
  ...Object.entries(words.systems).map(([system, label]) => el("option", { value: system, selected: system === DEFAULT[name] }, label)));
const choices = [choice("first"), choice("second")];
const lists = choices.map(() => el("ol", {}));
const state = el("p", { class: "tool-note", "aria-live": "polite", hidden: true });
const about = el("p", { "aria-live": "polite" }), none = el("p", {}, words.none), note = el("div", {}, about, model, none);
const near = el("p", { class: "ask-near" });
const scores = choices.map(() => el("p", { class: "ask-scores", "aria-live": "polite" })), hint = el("p", {}, words.hint);
const result = el("div", { class: "ask-result", hidden: true }, note, near,
  el("div", { class: "ask-lists" }, ...choices.map((select, i) => el("div", {}, select, scores[i], lists[i], el("p", { class: "tool-note" }, words.nothing)))), hint);

const retrieved = (system) => {
  if (query.lists) return query.lists[system];
  const matched = (name, k) => index.search(query.text, name.split(":")[0], k);
  const passages = system === "MiniLM" ? query.nearest.slice(0, CUTOFF)
    : system === "fusion" ? fuse([query.nearest, matched("BM25", DEPTH)], CUTOFF) : matched(system, CUTOFF);
  return passages.map((passage) => data.passages[passage][0]);
};
/** Queries of the collection that one of the first three passages of the first ranking answers, best first. */
const closest = () => [...new Set(retrieved(choices[0].value).slice(0, 3).flatMap((id) => data.queries.filter((known) => known.grades[id] >= data.answers)))].slice(0, 3).map(({ text }) => text);
const short = (value) => String(Number(value.toFixed(3)));
const grades = () => new Map([...Object.entries(query.grades), ...own]);

const item = (id) => {
  const [, title, text] = data.byId.get(id);
  const select = el("select", { "aria-label": fill(words.mine, { title }), onchange: ({ target }) => judge(id, target.value) },
    el("option", { value: "" }), el("optgroup", { label: words.keep }, ...words.grades.map((label, grade) => el("option", { value: grade, selected: own.get(id) === grade }, label))));
  return el("li", { "data-id": id }, el("details", {}, el("summary", {}, title || text.slice(0, 60)), el("p", {}, text)), select);
};

/** Show the grade of each passage, and the metrics of both lists. */
const draw = () => {
  const judged = grades();
  for (const element of box.querySelectorAll(".ask-lists li")) {
    const { id } = element.dataset, grade = query.grades[id], select = element.querySelector("select");
    element.className = judged.has(id) ? `grade-${judged.get(id)}` : "";
    select.className = own.has(id) ? "own" : "";
    select.options[0].textContent = grade === undefined ? words.unjudged : fill(words.judged, { grade });
  }
  const values = choices.map(({ value }) => {
    const ids = retrieved(value), hits = find(ids, judged, data.answers);
    const known = ids.slice(0, CUTOFF).filter((id) => judged.has(id)).length;
    return { ndcg: METRICS.ndcg(hits, CUTOFF).value, mrr: METRICS.mrr(hits, CUTOFF).value, recall: METRICS.recall(hits, CUTOFF).value,
      judged: ids.length ? known / ids.length : 0, R: hits.R };
  });
  none.hidden = values[0].R > 0 || !box.querySelector(".ask-lists li");
  const score = (name, i) => {
    const was = before?.[i][name], value = values[i][name];
    const changed = was !== undefined && was !== value ? [" ", el("small", {}, fill(words.was, { value: short(was) }))] : [];
    return el("span", { class: value > values[1 - i][name] && "best" }, `${words.names[name]} `, el("b", {}, short(value)), ...changed);
  };
  scores.forEach((line, i) => line.replaceChildren(...(values[0].R ? Object.keys(words.names).flatMap((name) => [score(name, i), " "]) : [])));
  if (!values[0].R) { before = null; return; }
  before = values;
};

const judge = (id, value) => {
  if (value === "") own.delete(id); else own.set(id, Number(value));
  for (const select of box.querySelectorAll(`li[data-id="${id}"] select`)) select.value = value;
  draw();
};

/** Show both lists anew: another question, or another system. */
const show = () => {
  const free = !query.lists;
  for (const select of choices) {
    for (const option of select.options) option.disabled = free && !live.includes(option.value);
  }
  if (free && choices.some(({ value }) => !live.includes(value))) choices.forEach((select, i) => { select.value = live[i]; });
  const [first, second] = choices.map(({ value }) => data.means[value]);
  model.hidden = !free || !SIZE || ready;
  go.classList.toggle("main", model.hidden); // a page has one main button
  note.className = free ? "tool-note" : "";
  const close = free ? closest() : [];
  near.replaceChildren(...(close.length ? [words.near, ...close.map((text) => el("button", { type: "button", onclick: () => ask(text) }, text))] : []));
  about.textContent = free ? words.own : fill(words.known, { queries: data.queries.length, first, second });
  choices.forEach(({ value }, i) => {
    const ids = retrieved(value);
    lists[i].replaceChildren(...ids.map(item));
    lists[i].nextSibling.hidden = ids.length > 0;
  });
  title.textContent = words.next;
  hint.hidden = free;
  result.hidden = false;
  before = null;
  draw();
  const { top } = lists[0].getBoundingClientRect();
  if (top < 0 || top > innerHeight * 0.6) result.scrollIntoView(); // an example was pressed below, or this is a phone
};

/** Load the collection, and say so, or what went wrong; returns whether it is there. */
const loaded = async () => {
  const say = (text, fault = false) => {
    [state.textContent, state.hidden] = [text, !text];
    state.classList.toggle("tool-fault", fault);
  };
  if (!data) say(words.reading);
  return load().then(() => { say(""); return true; }, (error) => { say(fill(words.unread, { why: error.message }), true); return false; });
};

const ask = async (text) => {
  input.value = text;
  if (!await loaded()) return;
  query = data.queries.find((known) => known.text === text) ?? { text, grades: {}, nearest: ready && await nearest(text) };
  own = new Map();
  history.replaceState(null, "", `#q=${encodeURIComponent(text)}`);
  show();
};

const another = async () => {
  if (!await loaded()) return;
  const others = data.queries.filter(({ text }) => text !== input.value);
  ask(others[Math.floor(Math.random() * others.length)].text);
};
const go = el("button", { class: "main" }, words.ask);
const form = el("form", { role: "search", onsubmit: (event) => { event.preventDefault(); ask(input.value.trim()); } },
  input, go, el("button", { type: "button", onclick: another }, words.another));
const title = el("p", { class: "tool-title" }, words.try);
const examples = el("div", { class: "ask-examples" }, title, el("div", {}, ...words.examples.map(([text, about]) =>
  el("button", { type: "button", onclick: () => ask(text) }, el("span", {}, about), el("b", {}, text)))));
box.append(form, suggestions, state, result, examples);

const linked = new URLSearchParams(location.hash.slice(1)).get("q");
if (linked) ask(linked.slice(0, 200)); else if (location.search === "?own") input.focus();
