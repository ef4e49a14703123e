// Score a run of one's own: two files, dropped, chosen or pasted, read and scored in the page; nothing is sent anywhere.
import { el, fill } from "../try/element.js";
import { DRAWN, METRICS, RESAMPLES, SWAPS } from "../try/metrics.js";
import { explainer } from "./explain.js";
import { FIELDS, LETTERS, LIMIT, SHORT, tooLong } from "./trec.js";

const ROWS = 20; // of a list that a press adds
const EVERY = 500; // rows of the table of every query
const SHOWN = 1e6; // letters of a file that go into its box when a line of it is wrong
const root = document.querySelector(".score"), words = JSON.parse(root.querySelector("script").textContent);
let texts = {}; // of the example's queries, while the example is what is scored
const answer = el("div", { class: "score-answer", id: "results", "aria-live": "polite" });
const entry = el("li", { class: "toc-h2 nav-item toc-entry", hidden: true }, el("a", { class: "reference internal nav-link", href: "#results" }, words.results)); // of the page's contents, once there are results
document.querySelector("#pst-page-toc-nav > ul")?.prepend(entry);

const explained = (fault) => {
  const where = fault.line ? [el("b", {}, fill(words.line, fault))] : [];
  return el("p", { class: "score-fault" }, ...where, fill(words.faults[fault.key], fault.filling), ...(fault.text ? [el("code", {}, fault.text)] : []));
};

/** A place for one of the two texts: pasted, chosen or dropped. */
const source = (kind, line, changed) => {
  let file = null, called = ""; // a copy: the file itself may change
  const label = words[kind], form = kind === "qrels" ? kind : "run", hint = `${words.drop}\n${FIELDS[form]}\n${line}\n${words.columns}\n${SHORT[form]}`;
  const area = el("textarea", { rows: 6, spellcheck: "false", autocomplete: "off", placeholder: hint, "aria-label": label });
  /** Fold to one line that says what was read, or unfold; on a phone an empty box is closed until it is opened. */
  const fold = (folded) => { element.classList.toggle("folded", folded); element.classList.remove("closed"); };
  const open = () => { fold(false); area.focus(); };
  const button = (word, look) => el("button", { type: "button", class: look, "aria-label": `${word}: ${label}`, onclick: open }, word);
  const state = el("output", {}), input = el("input", { type: "file", "aria-label": `${words.choose}: ${label}` });
  /** Hold a file (a Blob) of this name, or a text; whether it can be read is said afterwards. */
  const put = async (given, name) => {
    file = given instanceof Blob ? given : null;
    [called, state.textContent, area.value, area.placeholder] = [name, name, file ? "" : given, hint];
    element.classList.remove("read");
    fold(file !== null);
    if (file) area.placeholder = [...(await file.slice(0, 2000).text()).split("\n").slice(0, 5), "…"].join("\n");
  };
  const take = async (chosen) => {
    if (!chosen) return;
    if (chosen.size > LETTERS) return tell([tooLong(kind, chosen.size)]);
    put(new Blob([await chosen.arrayBuffer()]), chosen.name);
    texts = {};
    changed();
  };
  area.addEventListener("input", () => { [file, called, state.textContent, area.placeholder, texts] = [null, "", "", hint, {}]; });
  input.addEventListener("change", () => take(input.files[0]));
  const element = el("div", { class: "score-source closed" }, el("p", {}, el("b", {}, label), state, el("label", { class: "tool-file" }, words.choose, input),
    button(words.paste, "score-open"), button(words.change, "score-change")), area);
  element.addEventListener("dragover", (event) => { event.preventDefault(); element.classList.add("over"); });
  element.addEventListener("dragleave", () => element.classList.remove("over"));
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    element.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  /** Show the text with a line of it selected, as the place of a fault; of line 0, the text alone. */
  const show = async (line) => {
    if (file && file.size <= SHOWN) [area.value, file] = [await file.text(), null];
    fold(false);
    area.focus({ preventScroll: true });
    if (file || !line) return;
    const lines = area.value.split("\n"), before = lines.slice(0, line - 1).join("\n").length + (line > 1);
    area.setSelectionRange(before, before + lines[line - 1].length);
    area.scrollTop = area.scrollHeight * ((line - 2) / lines.length);
  };
  const said = el("div", { role: "alert" });
  element.append(said);
  const tell = (faults) => {
    element.classList.toggle("wrong", faults.length > 0);
    area.setAttribute("aria-invalid", String(faults.length > 0));
    said.replaceChildren(...faults.map(explained));
  };
  /** Say that it was read. */
  const read = ({ lines }) => {
    state.textContent = called && fill(words.loaded, { name: called, lines });
    element.classList.add("read");
  };
  const given = () => file ?? area.value;
  return { kind, element, put, show, tell, read, given, held: () => [given(), called], called: () => called || label };
};

const line = ([first, ...cells]) => el("tr", {}, el("th", { scope: "row" }, first), ...cells.map((cell) => el("td", {}, cell)));
const table = (caption, about, head, rows, look = "") => el("div", { class: `score-wide ${look}`, tabindex: 0, role: "region", "aria-label": caption },
  el("table", {}, el("caption", {}, caption, el("small", {}, about)), el("thead", {}, el("tr", {}, ...head.map((word) => el("th", { scope: "col" }, word)))),
    el("tbody", {}, ...rows.map(line))));
/** A table of its first rows, and a button for as many more; `make` gives the cells of a row. */
const growing = (region, rows, make, first, step) => {
  const body = region.querySelector("tbody"), more = el("button", { type: "button", class: "score-more", onclick: () => { show(step); if (more.hidden) region.focus(); } });
  const show = (n) => {
    body.append(...rows.slice(body.rows.length, body.rows.length + n).map((row) => line(make(row))));
    more.textContent = fill(words.more, { n: rows.length - body.rows.length });
    more.hidden = body.rows.length === rows.length;
  };
  show(first);
  return [region, more];
};

const shown = (value) => value.toFixed(3);
const reach = (ends) => (ends ? fill(words.interval.reach, { low: ends[0].toFixed(3), high: ends[1].toFixed(3) }) : "");
/** A mean as a bar with its number, and its interval as a line over the bar. */
const bar = (value, ends) => {
  const part = el("i", {}, ...(ends ? [el("i", {})] : []));
  for (const [name, at] of Object.entries({ part: value, low: ends?.[0], high: ends?.[1] })) part.style.setProperty(`--${name}`, at);
  return el("span", { class: "score-bar" }, part, el("span", {}, shown(value), el("small", {}, reach(ends))));
};

const NDCG = Object.keys(METRICS).indexOf("ndcg");
const named = (id) => (texts[id] ? el("span", {}, id, el("small", {}, texts[id])) : id);
const at = ({ first, retrieved }) => String(first || fill(words.nowhere, { n: retrieved }));

const text = async (source) => (source.given() instanceof Blob ? source.given().text() : source.given());
const signed = (value) => `${value < 0 ? "−" : "+"}${shown(Math.abs(value))}`;
const between = (ends) => (ends ? fill(words.interval.reach, { low: signed(ends[0]), high: signed(ends[1]) }) : "–");
const chance = (p) => (p < 0.0005 ? "< 0.001" : shown(p));
/** The lines of a table as text, in Markdown and in LaTeX. */
const markdown = ([head, ...rows]) => [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`).join("\n");
const latex = (rows) => rows.map((cells) => `${cells.join(" & ").replace(/[%$#_{}]/g, "\\$&").replaceAll("−", "$-$").replaceAll("<", "$<$")} \\\\`).join("\n");

/** A second run against the first: of each metric the difference with its interval and p; the queries that decide; how many it takes; rows for a paper. */
const versus = ({ rows, mean, other: second, gaps, plan }, k) => {
  const said = words.versus, names = { first: run.called(), second: other.called() }, { difference, ends, p, exact, gaps: gap } = gaps[NDCG], by = (i) => Math.abs(gap[i]);
  const deciding = [...gap.keys()].filter(by).sort((a, b) => by(b) - by(a)), better = deciding.filter((i) => gap[i] > 0).length;
  const counts = { n: rows.length, better, worse: deciding.length - better, way: exact ? said.exact : fill(said.drawn, { draws: SWAPS.toLocaleString("en") }) };
  const planned = { n: rows.length, ...plan, shows: shown(plan?.shows ?? 0), gap: shown(Math.abs(difference)) };
  const head = [`${words.metric}, k = ${k}`, said.first, said.second, said.difference, words.interval.span, "p"];
  const lines = Object.keys(METRICS).map((metric, i) => [words.names[metric], shown(mean[i]), shown(second.mean[i]), signed(gaps[i].difference), between(gaps[i].ends), chance(gaps[i].p)]);
  const decide = table(said.decide, fill(said.largest, { k }), [words.query, said.first, said.second, said.difference], []);
  return [
    el("h2", {}, fill(said.name, names)),
    el("p", { class: "score-headline" }, el("b", {}, `${words.names.ndcg}@${k} ${signed(difference)}`), `${fill(words.headline, { reach: between(ends), n: rows.length })}, p ${p < 0.0005 ? "" : "= "}${chance(p)}`),
    el("p", { class: "tool-note" }, fill(said.counts, counts), ...(plan ? [fill(plan.needed ? said.plan + said.needed : said.plan, planned)] : [])),
    table(said.all, said.one, head.toSpliced(4, 1), lines.map(([metric, a, b, gap, reach, p]) => [metric, a, b, el("span", {}, gap, el("small", {}, reach)), p]), "score-gaps"),
    el("details", {}, el("summary", {}, said.paste), ...[markdown, latex].map((form) => el("pre", { tabindex: 0 }, form([[head[0], names.first, names.second, ...head.slice(3)], ...lines])))),
    ...growing(decide, deciding, (i) => [named(rows[i].query), shown(rows[i].values[NDCG]), shown(second.rows[i].values[NDCG]), signed(gap[i])], 6, ROWS),
  ];
};

const result = ({ rows, mean, counts, judged, ends }, k, grade) => {
  const metrics = Object.keys(METRICS), of = (metric) => metrics.indexOf(metric);
  const missed = rows.filter(({ values }) => values[of("success")] === 0), lower = missed.filter(({ values }) => values[NDCG] > 0);
  const zero = fill(words.zero, { n: missed.length, queries: rows.length, k }) + (lower.length ? fill(words.lower, { n: lower.length, grade }) : "");
  const same = rows.every(({ values }) => values[of("recall")] === values[of("capped_recall")]); // then one row is for both
  const meant = (metric) => (same && metric === "recall" ? words.same : words.metrics[metric]);
  const means = metrics.filter((metric) => !(same && metric === "capped_recall"))
    .map((metric) => [el("span", {}, `${words.names[metric]}@${k}`, el("small", {}, meant(metric))), bar(mean[of(metric)], ends[of(metric)])]);
  means.push([el("span", {}, `${words.share.name}@${k}`, el("small", {}, words.share.text)), bar(judged)]);
  const said = missed.length ? [zero] : [], worst = rows.toSorted((a, b) => a.values[NDCG] - b.values[NDCG] || (a.first || Infinity) - (b.first || Infinity));
  said.push(...Object.entries(words.counts).filter(([name]) => counts[name]).map(([name, text]) => fill(text, { n: counts[name] })));
  const about = ends[NDCG] ? fill(words.headline, { reach: reach(ends[NDCG]), n: rows.length }) : "";
  return [
    el("h2", {}, run.called()),
    el("p", { class: "score-headline" }, el("b", {}, `${words.names.ndcg}@${k} ${shown(mean[NDCG])}`), about),
    ...(said.length ? [el("p", { class: "tool-note" }, said.join(" "))] : []),
    el("div", { class: "score-tables" }, table(words.means, fill(words.judged, counts), [words.metric, words.interval.name], means),
      el("p", { class: "tool-help" }, fill(rows.length < 2 ? words.interval.one : words.interval.about, { resamples: RESAMPLES, drawn: DRAWN }), " ", el("a", { href: root.dataset.lesson }, words.interval.lesson))),
    el("details", {}, el("summary", {}, words.each), ...growing(table(words.each, "", [words.query, ...metrics.map((metric) => `${words.names[metric]}@${k}`), words.first], []), worst, (row) => [named(row.query), ...row.values.map(shown), at(row)], EVERY, EVERY)),
    explainer(words.explain, async () => ({ run: await text(run), qrels: await text(qrels), level: Number(grade) })),
  ];
};

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
let asked = 0, done = () => {};
const busy = (is) => { root.classList.toggle("busy", is); go.textContent = is ? words.working : words.score; };

/** Read what is there, or both where the reader asked for a score, and score; then show where the result begins, or the box with the fault. */
const score = (pressed, move = true) => {
  const given = Object.fromEntries([run, qrels, other].filter((one) => (pressed && one !== other) || one.given()).map((one) => [one.kind, one.given()]));
  const k = Math.max(1, Math.round(Number(cutoff.value)) || 10), grade = level.value;
  done = (found) => show(found, k, grade, move);
  busy(true);
  worker.postMessage({ number: ++asked, given, k, options: { level: Number(grade), gain: gain.value, persistence: 0.8 } });
};
worker.onmessage = ({ data }) => { if (data.number === asked) done(data); };

const show = async ({ files, exchanged, faults, result: found }, k, grade, move) => {
  if (exchanged) [qrels.held(), run.held()].forEach((held, i) => [run, qrels][i].put(...held));
  const unused = [run, qrels, other].filter(({ kind }) => files[kind]?.unused.length).map(({ kind }) => fill(words.unused, { box: words[kind], names: files[kind].unused.join(", ") }));
  told.replaceChildren([...(exchanged ? [words.exchanged] : []), ...unused].join(" "));
  told.hidden = !told.textContent;
  entry.hidden = !found;
  answer.replaceChildren(...(found?.other ? versus(found, k) : []), ...(found ? result(found, k, grade) : []));
  for (const one of [other, qrels, run]) { // the first that is wrong keeps the focus
    const own = faults.filter(({ box }) => box === one.kind);
    one.tell(own);
    if (files[one.kind]) one.read(files[one.kind]);
    if (own.length) await one.show(own[0].line);
  }
  busy(false);
  const wrong = root.querySelector(".score-source.wrong");
  if (wrong && move) wrong.scrollIntoView({ block: "nearest" });
  else if (found && move && answer.getBoundingClientRect().top > innerHeight / 2) answer.scrollIntoView();
};

/** Score a recorded run, for readers who have none at hand. */
const example = async () => {
  const recorded = await (await fetch(root.dataset.example)).json();
  level.value = recorded.level;
  say();
  for (const one of [run, qrels, other]) one.put(new Blob([recorded[one.kind]]), words.example[one.kind]);
  texts = recorded.texts;
  score(true);
};

const [run, qrels, other] = [["run", "q1 Q0 d7 1 12.5 mine"], ["qrels", "q1 0 d7 2"], ["other", "q1 Q0 d3 1 9.5 theirs"]].map(([kind, line]) => source(kind, line, () => score(false)));
const go = el("button", { type: "button", class: "main score-go", onclick: () => score(true) }, words.score);
const told = el("p", { class: "tool-note", role: "status", hidden: true });
const summary = el("summary", {});
/** Say in the line of the settings how they are set. */
const say = () => { summary.textContent = fill(words.settings, { k: cutoff.value, level: level.value, gain: gain.selectedOptions[0].textContent }); };
const again = () => { say(); if (answer.children.length) score(true, false); };
const cutoff = el("input", { type: "number", min: 1, max: 1000, value: 10, onchange: again });
const level = el("select", { onchange: again }, ...[1, 2, 3].map((grade) => el("option", { value: grade }, String(grade))));
const gain = el("select", { onchange: again }, el("option", { value: "linear" }, words.linear), el("option", { value: "exponential" }, words.exponential));
const setting = (label, input, about) => el("label", {}, el("span", {}, label), input, el("small", {}, about));
say();
root.append(
  el("p", { class: "score-first" }, el("b", {}, words.files.name),
    el("span", { class: "score-none" }, words.files.none, " ", el("button", { type: "button", class: "score-example", onclick: example }, words.example.load))),
  el("div", { class: "score-sources" }, run.element, qrels.element, other.element),
  el("div", { class: "score-first score-last" }, go, el("details", { class: "score-settings" }, summary, setting("k", cutoff, words.about.k), setting(words.level, level, words.about.level), setting(words.gain, gain, words.about.gain))),
  el("p", { class: "tool-help" }, fill(words.limit, { limit: LIMIT.toLocaleString("en") })),
  told,
  answer,
);
root.classList.add("ready");
