// Ask the pocket collection: two systems side by side, the grades of what they retrieve, metrics, and grades of one's own.
import { el, fill } from "../try/element.js";
import { METRICS, WordIndex, find, fused, tokenize } from "../try/metrics.js";

const CUTOFF = 10, DEPTH = 100;
const box = document.querySelector(".ask"), words = JSON.parse(box.querySelector("script").textContent);
const chinese = document.documentElement.lang.startsWith("zh"), space = chinese ? "" : " ";
const BOTH = [chinese ? "multilingual" : "MiniLM", "BM25"]; // by meaning, with the dense model of the page, and by words
let wanted = BOTH; // the systems to show where they can rank the question
const MATCHING = chinese ? "BM25:bigrams" : "BM25"; // what ranks any question at once

let loading = null, data = null, index = null, between = null; // between: a pattern, where one sentence ends and the next begins
const narrow = matchMedia("(max-width: 600px)"); // one of two lists is shown
const small = new Set(words.small.split(" ")); // words that tell nothing of what is asked
const whole = ([, title, body]) => (title ? `${title}\n${body}` : body);
/** Take what is known of the collection: of the question that the page opens with, or all. */
const use = (known) => {
  data = known;
  between = new RegExp(data.between, "u");
  data.byId = new Map(data.passages.map((passage) => [passage[0], passage]));
  index = new WordIndex(data.passages.map(whole), new Set(data.stop));
  data.stop.forEach((word) => small.add(word));
};
/** Load the collection, and say so, or what went wrong; returns whether it is there. */
const loaded = async () => {
  if (!loading) say(["", words.reading], "tool-note");
  loading ??= fetch(box.dataset.collection).then((answer) => {
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
    return answer.json();
  }).then(use);
  return loading.then(() => true, (error) => {
    loading = null;
    say(["", fill(words.unread, { why: error.message })], "tool-note tool-fault");
    return false;
  });
};

// The dense model, in a worker once a reader has asked for it; messages are answered one at a time.
const DENSE = chinese ? [BOTH[0]] : [BOTH[0], "fusion"]; // what it brings
const KINDS = { MiniLM: "dense", multilingual: "dense", fusion: "fused", "": "" }, kind = (system) => KINDS[system] ?? "words"; // each has its colour
const SIZE = Number(box.dataset.model ?? 0), megabytes = (bytes) => (bytes / 1e6).toFixed();
let worker = null, ready = false, turn = Promise.resolve(), hear = null;
const tell = (message) => (turn = turn.catch(() => {}).then(() => new Promise((resolve, reject) => {
  hear = { resolve, reject };
  worker.postMessage(message);
})));
/** The passages nearest to a question. */
const nearest = (text) => tell({ text, k: DEPTH });

/** Load the model, because a reader pressed, or did so on an earlier visit and the browser still has it. */
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
    await tell({ size: SIZE, digest: box.dataset.digest });
    ready = true;
    if (!wanted.some((system) => DENSE.includes(system))) wanted = [BOTH[0], wanted[1]];
    if (!query.lists) Object.assign(query, await nearest(query.text));
    show();
  } catch (error) {
    worker?.terminate();
    button.disabled = false;
    progress.hidden = true;
    button.textContent = fill(words.failed, { why: error.message });
  }
};
const size = { size: megabytes(SIZE) }, label = fill(words.download, size);
const button = el("button", { type: "button", onclick: download }, label), progress = el("progress", { hidden: true, max: SIZE, "aria-label": label });
const offer = el("div", { class: "ask-offer" }, el("p", {}, words.meaning), button, progress, el("span", {}, words.offer));
/** Whether the browser has the model from an earlier visit. */
const kept = async () => Boolean(await globalThis.caches?.match(new URL(`model.bin?${box.dataset.digest}`, import.meta.url)).catch(() => null));

// What is shown: the question, whose grades are those of the collection, changed by the reader's own.
let query = null, own = new Map();

const input = el("input", { type: "search", "aria-label": words.question, placeholder: words.suggested, maxlength: 200 });
/** Two systems that the reader chose are shown for the next question too. */
const choose = ({ target }) => {
  const values = choices.map(({ value }) => value);
  if (values.every(Boolean)) wanted = values;
  show(values);
  target.focus({ preventScroll: true });
};
const choice = (label, i) => el("select", { "aria-label": label, onchange: choose }, ...(i ? [el("option", { value: "" }, words.compare)] : []),
  ...Object.entries(words.systems).map(([system, name]) => el("option", { value: system }, name)));
const choices = [words.first, words.second].map(choice);
const verdicts = choices.map(() => el("p", { class: "ask-verdict", "aria-live": "polite" })), scores = choices.map(() => el("p", { class: "ask-scores" }));
const heads = choices.map((select, i) => el("div", {}, select, verdicts[i], scores[i])), head = el("div", { class: "ask-heads" }, ...heads);
const lists = choices.map(() => el("ol", {}));
const note = el("p", { "aria-live": "polite" }), notice = el("div", {}, note), question = el("p", { class: "ask-question" });
const press = (text) => ask(text).then(() => result.focus({ preventScroll: true }));
const chips = words.subjects.map(([text, subject]) => el("button", { type: "button", value: text, onclick: () => press(text) }, subject)), hint = el("p", { class: "ask-hint" });
const columns = choices.map((select, i) => el("div", { class: "ask-list" }, lists[i]));
/** On a phone: show one list of two, and below it the systems to choose from with their metrics in a fold. */
const turnTo = (i) => {
  columns.forEach((column, at) => column.classList.toggle("other", at !== i));
  sides.forEach((side, at) => side.setAttribute("aria-pressed", at === i));
};
const sides = choices.map((select, i) => el("button", { type: "button", onclick: () => turnTo(i) }));
const change = el("details", { class: "ask-change" }, el("summary", {}, words.change));
const place = () => (narrow.matches ? change.append(head) : table.before(head));
narrow.addEventListener("change", place);
turnTo(0);
const table = el("div", { class: "ask-lists" }, ...columns);
const result = el("div", { class: "ask-result", hidden: true, tabindex: -1 }, question, el("p", { class: "ask-legend" }, words.legend), el("div", { class: "ask-switch", role: "group", "aria-label": words.list }, ...sides), table, change, hint);
place();

/** Whether a system has ranked the query, or can: matching of words always can, the dense model once it is there. */
const ranks = (system) => Boolean(system && (query.lists || system === MATCHING || (query.nearest && DENSE.includes(system))));
const retrieved = (system) => {
  if (query.lists || !ranks(system)) return query.lists?.[system] ?? [];
  const passages = system === BOTH[0] ? query.nearest.slice(0, CUTOFF)
    : system === "fusion" ? fused([query.nearest, index.search(asked(), DEPTH)], data.passages.map(([id]) => id), CUTOFF) : index.search(asked(), CUTOFF);
  return passages.map((passage) => data.passages[passage][0]);
};
const segmenter = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" });
const segments = (text) => [...segmenter.segment(text)].map(({ segment }) => segment);
/** The question without the words that tell nothing: it is searched so. */
const asked = () => segments(query.text).map((segment) => (tokenize(segment, small).length ? segment : " ")).join("");
/** The words of a text that say something; of Chinese as they are cut, of English in lower case. */
const telling = (text) => segments(text).flatMap((segment) => (/\p{Script=Han}/u.test(segment) ? (tokenize(segment, small).length ? [segment] : []) : tokenize(segment, small)));
/** Which words a passage shares with the question; one of two characters may be cut otherwise in the passage. */
const reason = (id) => {
  const text = whole(data.byId.get(id)), there = new Set(telling(text));
  const shared = [...new Set(telling(query.text))].filter((word) => there.has(word) || (/\p{Script=Han}{2}/u.test(word) && text.includes(word)));
  return el("small", {}, shared.length ? fill(words.shares, { words: shared.join(words.and) }) : words.unlike);
};
/** What is known of a question that nobody has judged, in short and at length. */
const verdict = (nothing) => (nothing ? [words.nothing, words.literal + (SIZE ? space + words.meaning : "")] : [words.read, words.own]);

/** The sentence of a passage nearest to a question: as recorded or, where it is not, by words. */
const nearestSentence = ({ id, text }, passage, body) => {
  const sentences = body.split(between).filter(Boolean);
  return sentences[data.sentences[id ?? text]?.[passage]] ?? index.nearest(text, sentences);
};
/** A passage at its rank, which the reader may grade: its title opens its text, of which the style sheet shows that sentence where the passage answers. */
const item = (id, rank, other) => {
  const [, name, body] = data.byId.get(id), sentence = nearestSentence(query, id, body), at = body.indexOf(sentence), why = reason(id);
  if (other) why.append(" ", fill(words.also, { rank: other }));
  const menu = el("select", { "aria-label": fill(words.mine, { title: name }), onchange: ({ target }) => judge(id, target.value) },
    el("option", { value: "" }), el("optgroup", { label: words.keep }, ...words.grades.map((label, grade) => el("option", { value: grade, selected: own.get(id) === grade }, label))));
  const text = el("p", {}, body.slice(0, at), el("mark", {}, sentence), body.slice(at + sentence.length));
  const details = el("details", {}, el("summary", {}, name, " ", why), text);
  return Object.assign(el("li", { "data-id": id, "data-rank": rank }, details, menu, el("q", {}, sentence), el("b", { "aria-hidden": "true" })), { menu });
};

/** Whether the question is the suggested one, of whose passages only the one that answers is graded. */
const isSuggested = () => Boolean(query.lists && !query.id);

/** Show the grade of each passage, and the metrics of both lists. */
const draw = () => {
  const judged = new Map([...Object.entries(query.grades), ...own]);
  for (const element of box.querySelectorAll(".ask-lists li[data-id]")) {
    const { id } = element.dataset, grade = query.grades[id], { menu: select } = element, mark = element.querySelector(":scope > b");
    element.className = judged.has(id) ? `grade-${judged.get(id)}` : "";
    [mark.textContent, mark.title] = judged.has(id) ? [fill(words.grade, { grade: judged.get(id) }), words.grades[judged.get(id)]] : ["", ""];
    select.className = mark.className = own.has(id) ? "own" : "";
    select.options[0].textContent = grade === undefined ? words.unjudged : words.grades[grade];
  }
  const values = choices.map(({ value }) => {
    if (!ranks(value)) return {};
    const ids = retrieved(value), hits = find(ids, judged, data.answers), known = ids.filter((id) => judged.has(id)).length;
    const [ndcg, mrr, recall] = ["ndcg", "mrr", "recall"].map((metric) => METRICS[metric](hits, CUTOFF).value);
    return { ndcg, mrr, recall, judged: ids.length ? known / ids.length : 0, R: hits.R, first: hits.relevant.indexOf(true) + 1 };
  });
  const score = (name, i) => {
    const value = values[i][name];
    return el("span", { class: value > values[1 - i][name] && "best" }, `${words.names[name]} `, el("b", {}, String(Number(value.toFixed(3)))));
  };
  const names = Object.keys(words.names).filter((name) => !isSuggested() || name === "mrr");
  const called = choices.map(({ value }) => words.systems[value] ?? ""), brief = called.map((name) => name.split(/ ?[(（]/)[0]);
  verdicts.forEach((line, i) => {
    const { R, first } = values[i], kind = !first ? "missed" : values[1 - i].first < first && values[1 - i].first ? "late" : "answered";
    const outcome = () => (R ? [el("strong", { class: kind }, fill(words[kind], { rank: first }))] : []);
    line.replaceChildren(...outcome());
    scores[i].replaceChildren(...(R ? names.flatMap((each) => [score(each, i), " "]) : []));
    sides[i].replaceChildren((brief[0] === brief[1] ? called : brief)[i], " ", ...outcome());
  });
};

const judge = (id, value) => {
  if (value === "") own.delete(id); else own.set(id, Number(value));
  for (const { menu } of box.querySelectorAll(`li[data-id="${id}"]`)) menu.value = value;
  draw();
};

/** Show the lists anew, of those of two systems that can rank the question, or of one that matches words; above them the offer of the dense model where it is not here. */
const show = (systems = wanted) => {
  const mine = !query.lists, able = (system) => (mine && system === BOTH[1] && !ranks(system) ? MATCHING : system);
  const some = systems.map(able).filter(ranks), shown = some.length ? some : [MATCHING];
  choices.forEach((select, i) => {
    for (const option of select.options) option.disabled = option.value ? !ranks(option.value) : Boolean(query.id);
    select.value = shown[i] ?? "";
  });
  const filled = choices.map(({ value }) => retrieved(value)), nothing = !filled.flat().length;
  const offering = mine && SIZE > 0 && !query.nearest, [first, second] = shown.map((system) => data.means[system]);
  for (const [name, given] of Object.entries({ alone: shown.length < 2, mine })) result.classList.toggle(name, given);
  choices.forEach(({ value }, i) => {
    for (const one of [heads[i], sides[i]]) one.className = kind(value);
    columns[i].classList.remove("dense", "words", "fused");
    if (value) columns[i].classList.add(kind(value));
    columns[i].dataset.system = words.systems[value] ?? "";
    lists[i].replaceChildren(...filled[i].map((id, at) => item(id, at + 1, mine && filled[1 - i].indexOf(id) + 1)));
  });
  say(mine ? verdict(nothing) : [], "tool-note");
  if (offering) (nothing ? notice.append(offer) : table.prepend(offer));
  result.hidden = nothing;
  button.classList.toggle("main", offering); // a page has one main button
  go.classList.toggle("main", !offering);
  for (const chip of chips) chip.setAttribute("aria-pressed", chip.value === query.text);
  hint.textContent = mine ? words.judge : isSuggested() ? words.recorded
    : [fill(words.known, { queries: data.count, first, second }), fill(words.hint, { grades: words.grades.join(words.and) })].join(space);
  draw();
  question.textContent = input.value ? query.text : fill(words.opening, query);
  if (!input.value) return;
  const { top } = result.getBoundingClientRect();
  if (narrow.matches || top < 0 || top > innerHeight * 0.5) form.scrollIntoView();
};

/** Say what is shown, or what goes wrong, in short and at length. */
const say = ([short, long], kind) => {
  note.replaceChildren(...(short ? [el("b", {}, short), space] : []), long ?? "");
  notice.className = note.textContent && kind;
  offer.remove();
};

/** A question without capitals, and without what ends it. */
const bare = (text) => text.toLowerCase().replace(/[\s?!.？！。]+$/u, "");
const linked = () => new URLSearchParams(location.hash.slice(1)).get("q");
const ask = async (text) => {
  input.value = text;
  box.classList.add("asked");
  if (!await loaded()) return;
  const same = (other) => bare(other) === bare(text);
  query = data.queries.find((known) => same(known.text))
    ?? (same(words.suggested) ? { text: words.suggested, grades: { [words.answer]: words.grades.length - 1 }, lists: data.suggested[words.suggested] }
      : { text, grades: {}, ...(ready && await nearest(text)) });
  own = new Map();
  if (SIZE && !worker && !query.lists && await kept()) download();
  if (linked() !== text) history.pushState(null, "", `#q=${encodeURIComponent(text)}`);
  show();
};

const go = el("button", { class: "main" }, words.ask);
const form = el("form", { role: "search", onsubmit: (event) => { event.preventDefault(); ask(input.value.trim() || words.suggested); } },
  input, go, el("p", { class: "ask-begin" }, fill(words.begin, size)));
const subjects = el("div", { class: "ask-subjects", role: "group", "aria-label": words.try }, el("span", {}, words.try), el("div", {}, ...chips));
box.append(form, subjects, notice, result);

use(words.example);
[query] = data.queries;
const begin = () => { if (linked()) ask(linked().slice(0, 200)); };
addEventListener("popstate", begin);
if (linked()) begin(); else show();
