// Ask the pocket collection: two systems side by side, the grades of what they retrieve, metrics, and grades of one's own.
import { el, fill } from "../try/element.js";
import { METRICS, find } from "../try/metrics.js";
import { fuse } from "./encoder.js";
import { WordIndex, tokenize } from "./words.js";

const CUTOFF = 10, DEPTH = 100, NEAR = 3; // NEAR: judged questions offered beside the reader's own
const ALONE = 3, BESIDE = 5; // passages shown at first of a list that stands alone and, on a phone, of two
const box = document.querySelector(".ask"), words = JSON.parse(box.querySelector("script").textContent);
const wanted = { first: document.documentElement.lang.startsWith("zh") ? "multilingual" : "MiniLM", second: "BM25" };
const matching = Object.keys(words.systems).filter((name) => name.startsWith("TF-IDF") || name.includes(":") || (name === "BM25" && !words.systems["BM25:bigrams"]));

let loading = null, data = null, index = null, signs = null, queries = null; // signs: the index of single characters; queries: each with the passages that answer it
let between = null; // a pattern: where one sentence ends and the next begins
const small = new Set(words.small.split(" ")); // words that tell nothing of what is asked
const whole = ([, title, body]) => (title ? `${title}\n${body}` : body);
const load = () => (loading ??= fetch(box.dataset.collection).then((answer) => {
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer.json();
}).then((read) => {
  data = read;
  between = new RegExp(data.between, "u");
  data.byId = new Map(data.passages.map((passage) => [passage[0], passage]));
  index = new WordIndex(data.passages.map(whole), new Set(data.stop));
  if (matching.includes("BM25:characters")) signs = new WordIndex(data.passages.map(whole), new Set(data.stop), 1);
  data.stop.forEach((word) => small.add(word));
  for (const each of data.queries) each.all = [each.text, ...Object.keys(each.grades).filter((id) => each.grades[id] >= data.answers).map((id) => whole(data.byId.get(id)))].join("\n");
  queries = new WordIndex(data.queries.map(({ all }) => all), small);
  suggestions.replaceChildren(...data.queries.map(({ text }) => el("option", { value: text })));
}).catch((error) => {
  loading = null;
  throw error;
}));

// The dense model, in a worker once a reader has asked for it; messages are answered one at a time.
const DENSE = ["MiniLM", "fusion"]; // what it brings
const SIZE = Number(box.dataset.model ?? 0), megabytes = (bytes) => (bytes / 1e6).toFixed();
let worker = null, ready = false, turn = Promise.resolve(), hear = null;
const tell = (message) => (turn = turn.catch(() => {}).then(() => new Promise((resolve, reject) => {
  hear = { resolve, reject };
  worker.postMessage(message);
})));
/** The passages nearest to a question, and the cosine of the first. */
const nearest = (text) => tell({ text, k: DEPTH });

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
    if (query.lists) return;
    Object.assign(query, await nearest(query.text));
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
const offer = el("div", { class: "ask-offer" }, el("b", {}, words.meaning), button, progress, el("p", {}, words.offer));

// What is shown: the question, whose grades are those of the collection, changed by the reader's own.
let query = null, own = new Map(), before = null;

const suggestions = el("datalist", { id: "ask-queries" });
const input = el("input", { type: "search", list: "ask-queries", "aria-label": words.question, placeholder: words.suggested, maxlength: 200, onfocus: () => load().catch(() => {}) });
const choice = (name) => el("select", { "aria-label": words[name], onchange: ({ target }) => { wanted[name] = target.value; show(target); } },
  ...Object.entries(words.systems).map(([system, label]) => el("option", { value: system, selected: system === wanted[name] }, label)));
const choices = [choice("first"), choice("second")];
const lists = choices.map(() => el("ol", {}));
const note = el("p", { class: "tool-help", "aria-live": "polite", tabindex: -1 }, words.begin);
const places = choices.map(() => el("div", {})); // what there is instead of a list
const press = (text) => ask(text).then(() => note.focus({ preventScroll: true }));
const example = ([text, about]) => el("button", { type: "button", onclick: () => press(text) }, el("span", {}, about), el("b", {}, text));
const title = el("p", { class: "tool-title" }, words.try), examples = el("div", { class: "ask-examples" }, title, el("div", {}, ...words.examples.map(example)));
const scores = choices.map(() => el("p", { class: "ask-scores", "aria-live": "polite" })), hint = el("p", {}), faint = el("p", {}, words.faint);
const unfold = (list, button) => {
  list.classList.remove("folded");
  button.hidden = true;
  list.querySelector("[data-id][data-rest] summary").focus();
};
const more = lists.map((list) => el("button", { type: "button", class: "ask-more", onclick: ({ target }) => unfold(list, target) }));
const columns = choices.map((select, i) => el("div", {}, select, scores[i], lists[i], more[i], places[i])), panes = el("div", { class: "ask-lists" });
const narrow = matchMedia("(max-width: 576px)");
/** Set the columns; where one stands below the other, the one that offers the model comes last. */
const place = () => panes.append(...[...columns].sort((a, b) => narrow.matches * (a.contains(offer) - b.contains(offer))));
narrow.addEventListener("change", place);
const near = el("section", { class: "ask-near" }); // judged questions near to the reader's own
const result = el("div", { class: "ask-result", hidden: true }, panes, faint, hint, near);

/** Whether a system has ranked the query, or can: matching of words always can, the dense model once it is there. */
const ranks = (system) => Boolean(query.lists || matching.includes(system) || (query.nearest && DENSE.includes(system)));
/** Whether a system would rank the query if the dense model were loaded. */
const waits = (system) => Boolean(SIZE && !ranks(system) && !ready && DENSE.includes(system));
const retrieved = (system) => {
  if (query.lists) return query.lists[system];
  if (!ranks(system)) return [];
  const matched = (name, k) => (name.endsWith("characters") ? signs : index).search(query.text, name.split(":")[0], k);
  const passages = system === "MiniLM" ? query.nearest.slice(0, CUTOFF)
    : system === "fusion" ? fuse([query.nearest, matched("BM25", DEPTH)], CUTOFF) : matched(system, CUTOFF);
  return passages.map((passage) => data.passages[passage][0]);
};
const segmenter = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" }), none = new Set();
/** The words of a text; of Chinese, whole ones of two characters and more. */
const parts = (text) => [...segmenter.segment(text)].flatMap(({ segment }) => (/\p{Script=Han}/u.test(segment) ? [segment].filter((word) => word.length > 1) : tokenize(segment, none)));
/** Which words two texts share, but for those of a Set. */
const shared = (text, other, but) => {
  const there = new Set(parts(other));
  return without([...new Set(parts(text))], but).filter((word) => there.has(word));
};
const without = (runs, but) => runs.filter((run) => tokenize(run, but).length);
const listed = (text, runs) => fill(text, { words: runs.join(words.and) });
const found = (id, but = index.stop) => shared(query.text, whole(data.byId.get(id)), but);
/** Which words a passage shares with the question: those that say what is asked or, where it has none of these, the others; where words found it, at least parts of words. */
const reason = (id, matched) => {
  const telling = found(id, small), others = found(id);
  return telling.length ? el("small", {}, listed(words.shares, telling))
    : el("small", { class: matched && "faint" }, others.length ? listed(words.only, others) : matched ? words.parts : words.unlike);
};
const answered = ({ grades }, id) => grades[id] >= data.answers;
/** Judged questions near to the reader's, each with the words that both share: those with the nearest answers or, without the dense model, those that share most words, they or their answers. */
const closest = () => {
  const all = query.nearest ? query.nearest.flatMap((i) => data.queries.filter((judged) => answered(judged, data.passages[i][0])))
    : queries.search(query.text, "BM25").map((i) => data.queries[i]);
  return [...new Set(all)].map((judged) => [judged, shared(query.text, judged.all, small)]).filter(([, both]) => query.nearest || both.length).slice(0, NEAR);
};
/** The words of the question that say what is asked and that no passage has. */
const missing = () => without([...new Set(parts(query.text))], small)
  .filter((word) => (/\p{Script=Han}/u.test(word) ? !data.passages.some((passage) => whole(passage).includes(word)) : !index.postings.has(word)));
/** What is known of a question that nobody has judged: whether it has an answer here. */
const verdict = (unlikely) => {
  if (query.lists) return words.recorded;
  const { cosine } = query, lost = missing();
  if (cosine === undefined) return `${words.own} ${lost.length ? listed(words.missing, lost) : ""}`;
  return fill(unlikely ? words.far : words.near, { ...data.near, cosine: (Math.floor(cosine * 100) / 100).toFixed(2), queries: data.queries.length });
};
const short = (value) => String(Number(value.toFixed(3)));
const grades = () => new Map([...Object.entries(query.grades), ...own]);

/** The sentence of a passage nearest to a question: as recorded or, where it is not, by words. */
const nearestSentence = ({ id, text }, passage, body) => {
  const sentences = body.split(between).filter(Boolean);
  return sentences[data.sentences[id ?? text]?.[passage]] ?? index.nearest(text, sentences);
};
/** A passage at its rank, which the reader may grade: its title opens its text, of which the style sheet shows that sentence where the passage answers. */
const item = (id, rank, system) => {
  const [, name, body] = data.byId.get(id), sentence = nearestSentence(query, id, body), at = body.indexOf(sentence);
  return el("li", { "data-id": id, "data-rank": rank }, el("b", { "aria-hidden": "true" }), el("details", {}, el("summary", {}, name, " ", reason(id, matching.includes(system))),
    el("p", {}, body.slice(0, at), el("mark", {}, sentence), body.slice(at + sentence.length))),
  el("select", { "aria-label": fill(words.mine, { title: name }), onchange: ({ target }) => judge(id, target.value) },
    el("option", { value: "" }), el("optgroup", { label: words.keep }, ...words.grades.map((label, grade) => el("option", { value: grade, selected: own.get(id) === grade }, label)))),
  el("q", {}, sentence));
};

/** Show the grade of each passage, and the metrics of both lists. */
const draw = () => {
  const judged = grades();
  for (const element of box.querySelectorAll(".ask-lists li[data-id]")) {
    const { id } = element.dataset, grade = query.grades[id], select = element.querySelector("select"), mark = element.querySelector("b");
    element.className = judged.has(id) ? `grade-${judged.get(id)}` : "";
    [mark.textContent, mark.title] = judged.has(id) ? [judged.get(id), words.grades[judged.get(id)]] : ["", ""];
    select.className = mark.className = own.has(id) ? "own" : "";
    select.options[0].textContent = grade === undefined ? words.unjudged : words.grades[grade];
  }
  const values = choices.map(({ value }) => {
    if (!ranks(value)) return {};
    const ids = retrieved(value), hits = find(ids, judged, data.answers);
    const known = ids.slice(0, CUTOFF).filter((id) => judged.has(id)).length;
    return { ndcg: METRICS.ndcg(hits, CUTOFF).value, mrr: METRICS.mrr(hits, CUTOFF).value, recall: METRICS.recall(hits, CUTOFF).value,
      judged: ids.length ? known / ids.length : 0, R: hits.R, first: ids.findIndex((id) => judged.get(id) >= data.answers) + 1 };
  });
  const score = (name, i) => {
    const was = before?.[i][name], value = values[i][name];
    const changed = was !== undefined && was !== value ? [" ", el("small", {}, fill(words.was, { value: short(was) }))] : [];
    return el("span", { class: value > values[1 - i][name] && "best" }, `${words.names[name]} `, el("b", {}, short(value)), ...changed);
  };
  const better = ({ first }, other) => first > 0 && !(other.first && other.first < first);
  const outcome = (system, other) => el("strong", { class: better(system, other) && "hit" }, system.first ? fill(words.answered, { rank: system.first }) : words.missed);
  scores.forEach((line, i) => line.replaceChildren(...(values[i].R ? [outcome(values[i], values[1 - i]), " ", ...Object.keys(words.names).flatMap((name) => [score(name, i), " "])] : [])));
  before = values.some(({ R }) => R) ? values : null;
};

const judge = (id, value) => {
  if (value === "") own.delete(id); else own.set(id, Number(value));
  for (const select of box.querySelectorAll(`li[data-id="${id}"] select`)) select.value = value;
  draw();
};

/** Show both lists anew: another question, or another system by one of the choices. */
const show = (chosen) => {
  const free = !data.queries.includes(query);
  Object.keys(wanted).forEach((name, i) => { if (choices[i] !== chosen) choices[i].value = wanted[name]; });
  const rest = choices.filter((select) => select !== chosen), idle = rest.filter(({ value }) => !ranks(value) && !waits(value));
  if (!idle.length && !choices.some(({ value }) => ranks(value))) idle.push(rest.at(-1));
  for (const select of idle) select.value = matching.find((name) => !choices.some(({ value }) => value === name));
  const [first, second] = choices.map(({ value }) => data.means[value]);
  const unlikely = free && !query.lists && query.cosine < data.near.least;
  say(free ? verdict(unlikely) : fill(words.known, { queries: data.queries.length, first, second }), free ? "tool-note" : "tool-help");
  if (unlikely) note.prepend(el("b", {}, words.unlikely), " ");
  choices.forEach(({ value }, i) => {
    const ids = retrieved(value);
    const some = free && matching.includes(value) ? ids.some((id) => found(id, small).length) : ids.length; // or all are found by words that tell nothing
    lists[i].replaceChildren(...(some ? ids.map((id, at) => item(id, at + 1, value)) : []));
    places[i].replaceChildren(...(waits(value) ? [offer] : some ? [] : [ranks(value)
      ? el("div", { class: "tool-note" }, el("b", {}, words.nothing), el("p", {}, words.literal)) : el("p", { class: "tool-note" }, words.absent)]));
  });
  place();
  chosen?.focus({ preventScroll: true });
  const alone = !choices.every(({ value }) => ranks(value)); // a list without another beside it
  result.classList.toggle("alone", alone);
  lists.forEach((list, i) => {
    const first = list.querySelectorAll("[data-id]")[(alone ? ALONE : BESIDE) - 1], all = [...list.children];
    const left = first ? all.slice(all.indexOf(first) + 1).filter((row) => !answered(query, row.dataset.id)) : [];
    const rest = left.filter((row) => row.dataset.id).length;
    left.forEach((row) => { row.dataset.rest = ""; });
    list.classList.toggle("folded", rest > 0);
    more[i].hidden = !rest;
    more[i].textContent = fill(words.more, { rest });
  });
  const judged = free && !query.lists ? closest() : [];
  near.hidden = !judged.length;
  title.textContent = free && !query.lists && near.hidden ? words.apart : words.next;
  near.replaceChildren(el("h2", {}, words.judged), el("div", {}, ...judged.map(([{ text }, both]) => example([text, both.length ? listed(words.shares, both) : ""]))));
  if (unlikely) result.prepend(near); else result.append(near);
  const main = result.contains(offer);
  result.classList.toggle("offered", main);
  faint.hidden = !result.querySelector(".faint");
  go.classList.toggle("main", !main); // a page has one main button
  result.hidden = false;
  hint.hidden = note.hidden = !lists.some((list) => list.querySelector("li[data-id]")); // nothing to grade
  hint.textContent = free ? words.judge : fill(words.hint, { grades: words.grades.join(words.and) });
  before = null;
  draw();
  const { top } = lists[0].getBoundingClientRect();
  if (top < 0 || top > innerHeight * 0.5) form.scrollIntoView(); // an example was pressed below, or this is a phone
};

/** Say what is shown, or what goes wrong. */
const say = (text, kind) => Object.assign(note, { textContent: text, className: kind, hidden: false });

/** Load the collection, and say so, or what went wrong; returns whether it is there. */
const loaded = async () => {
  if (!data) say(words.reading, "tool-note");
  return load().then(() => true, (error) => { say(fill(words.unread, { why: error.message }), "tool-note tool-fault"); return false; });
};

const ask = async (text) => {
  input.value = text;
  if (!await loaded()) return;
  query = data.queries.find((known) => known.text === text)
    ?? { text, grades: {}, lists: data.suggested[text], ...(ready && await nearest(text)) };
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
const form = el("form", { role: "search", onsubmit: (event) => { event.preventDefault(); ask(input.value.trim() || words.suggested); } },
  input, go, el("button", { type: "button", onclick: another }, words.another));
box.append(form, suggestions, note, result, examples);

const linked = new URLSearchParams(location.hash.slice(1)).get("q");
if (linked) ask(linked.slice(0, 200));
