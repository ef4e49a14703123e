// Read a run or judgements as helpers.data.trec does: TREC's lines, three columns, a table with a header, JSON. Tested
// against it (tests/site/test_try.py).

export const LIMIT = 10000; // queries; a text of more than LETTERS is not read at all
export const LETTERS = 100e6;
const FAULTS = 3; // lines of a text that are named as wrong
const LARGEST = 2 ** 31 - 1; // grades are whole numbers of 32 bits
export const FIELDS = { run: "query Q0 document rank score tag", qrels: "query 0 document grade" };
export const SHORT = { run: "query document score", qrels: "query document grade" }; // BEIR has judgements so
const PLACES = { run: [0, 2, 4], qrels: [0, 2, 3] }; // of query, document and value in FIELDS
const QUERY = ["query_id", "qid", "query", "topic", "topic_id"], DOC = ["corpus_id", "doc_id", "docno", "document", "document_id", "doc", "passage_id", "pid"];
export const NAMES = { // of columns, by any of which a header is known; a run of PyTerrier has its own numbers as docid
  run: [QUERY, ["docno", ...DOC], ["score", "similarity"]],
  qrels: [QUERY, DOC, ["grade", "score", "relevance", "label", "judgement", "judgment"]],
};
const ITERATION = ["iteration", "iter", "q0", "0"], SILENT = { run: [...ITERATION, "rank", "tag"], qrels: ITERATION }; // columns without a meaning here

/** What is wrong with a text: which of the two, its line (0: the whole), a key of the words, what to fill in; of a line also its text, and `all` of the first few faults. */
export class Fault extends Error {
  constructor(box, line, key, filling = {}) {
    super(`${box}:${line} ${key}`);
    Object.assign(this, { box, line, key, filling });
  }
}

export const tooLong = (box, length) => new Fault(box, 0, "letters", { given: Math.ceil(length / 1e6), limit: LETTERS / 1e6 });
const short = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
const strip = (text) => text.replace(/^[ \t\r\v\f]+|[ \t\r\v\f]+$/g, "");
const plain = (name) => name.normalize("NFKC").replace(/[\s_-]+/g, "").toLowerCase();

const VALUE = {
  run: (text, line) => {
    const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
    if (!Number.isFinite(number)) throw new Fault("run", line, "score", { given: short(text) });
    return number;
  },
  qrels: (text, line) => {
    const number = /^[+-]?\d+(?:\.0*)?$/.test(text) ? Number(text) : NaN;
    if (!(Math.abs(number) <= LARGEST)) throw new Fault("qrels", line, "grade", { given: short(text) });
    return number;
  },
};

/** The fields of a line, without the quotes that CSV may have around them. */
const split = (line, mark) => {
  if (mark === " ") return line.split(/[ \t\r\v\f]+/);
  if (mark === "\t" || !line.includes('"')) return line.split(mark).map(strip);
  const fields = `${mark}${line}`.matchAll(new RegExp(`[${mark}]("(?:[^"]|"")*(?:"|$))?([^${mark}]*)`, "g"));
  return [...fields].map(([, quoted = '""', rest]) => strip(quoted.slice(1, -1).replaceAll('""', '"') + rest));
};

/** Where fields name query, document and value, -1 where none does. */
const named = (box, fields) => {
  const all = fields.map(plain);
  return NAMES[box].map((usual) => all.indexOf(usual.map(plain).find((name) => all.includes(name))));
};
const fits = (box, n) => n === 3 || (box === "run" ? n >= 6 : n === 4);

/** What stands between the fields: a tab, comma or semicolon, or blanks. */
const separator = (box, line) => {
  const marks = ["\t", ",", ";"], blank = split(line, " ");
  if (box === "run" && blank.length >= 6 && /^(?:q0|0)$/i.test(blank[1])) return " ";
  const header = marks.find((mark) => [split(line, mark)].some((fields) => fields.length > 2 && named(box, fields).filter((at) => at >= 0).length > 1));
  if (header || split(line, "\t").length === 3) return header ?? "\t";
  if (fits(box, blank.length) && !blank.slice(0, -1).every((field) => /[,;]$/.test(field))) return " ";
  return marks.find((mark) => fits(box, split(line, mark).length)) ?? " ";
};

/** How lines are read, from the fields of the first: where query, document and value stand, the names of all fields, and whether it is a header. */
const layout = (box, fields) => {
  const known = named(box, fields), n = fields.length, usual = n === 3 ? [0, 1, 2] : PLACES[box], names = (n === 3 ? SHORT : FIELDS)[box].split(" ");
  const trec = n !== 3 && /^(?:q0|0)$/i.test(fields[1] ?? ""), valued = box === "run" ? known[2] < 0 : /^[+-]?\d+(?:\.\d*)?$/.test(fields.at(-1));
  if (known.includes(-1) && ((box === "qrels" && n < names.length) || valued || trec)) return { places: usual, names };
  const guessed = n === 3 || (n === names.length && ITERATION.includes(plain(fields[1])));
  const places = guessed && usual.every((at, i) => [-1, at].includes(known[i]) && !SILENT[box].includes(plain(fields[at]))) ? usual : known;
  if (places.includes(-1) || new Set(fields).size < n) throw new Fault(box, 0, "header", { fields: SHORT[box] });
  return { places, names: fields, unused: fields.filter((name, at) => name && !places.includes(at) && !SILENT[box].includes(plain(name))) };
};

const enter = (box, table, query, doc, text, line) => {
  const value = VALUE[box](text, line);
  if (!table.has(query)) {
    if (table.size === LIMIT) throw new Fault(box, line, "limit", { limit: LIMIT });
    table.set(query, new Map());
  }
  const docs = table.get(query);
  if (docs.has(doc) && (box === "run" || docs.get(doc) !== value)) throw new Fault(box, line, "twice", { doc: short(doc), query: short(query) });
  docs.set(doc, value);
};

const readLines = (box, text, table) => {
  let mark = "", form = null;
  const faults = [];
  for (const [i, raw] of text.split("\n").entries()) {
    const line = strip(raw), stated = !form && /^"?sep=([,;|\t])"?$/.exec(line);
    if (stated) mark = stated[1];
    if (!line || line.startsWith("#") || stated) continue;
    const first = !form;
    try {
      const fields = split(line, mark ||= separator(box, line)), n = fields.length;
      form ??= layout(box, fields);
      table.lines += 1;
      if (first && form.unused) continue;
      const { places, names } = form, wanted = names.length, enough = box === "run" && wanted >= 6 ? n >= wanted : n === wanted;
      if (!enough || !places.every((at) => fields[at]))
        throw new Fault(box, i + 1, first && wanted > 3 ? "either" : "fields", { wanted, fields: names.join(" "), given: fields.filter(Boolean).length, short: SHORT[box] });
      if (box === "qrels" && wanted === 4 && !form.unused && !/^q?0$/i.test(fields[1])) form.second ??= fields[1]; // not TREC's 0
      enter(box, table, ...places.map((at) => fields[at]), i + 1);
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault;
      faults.push(Object.assign(fault, { line: i + 1, text: short(line) }));
      if (faults.length === FAULTS || !form || fault.key === "limit") break;
    }
  }
  if (faults.length) throw Object.assign(faults[0], { all: faults });
  table.unused = form?.unused ?? [form?.second ?? []].flat();
};

/** JSON of the form {query: {document: value}}. */
const readJson = (box, text, table) => {
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  let given = null;
  try { given = JSON.parse(text); } catch { /* the same is said of it */ }
  if (!isObject(given) || !Object.values(given).every(isObject)) throw new Fault(box, 0, "json", { value: SHORT[box].split(" ")[2] });
  for (const [query, docs] of Object.entries(given))
    for (const [doc, value] of Object.entries(docs)) { table.lines += 1; enter(box, table, query, doc, String(value), 0); }
};

/** Return a run or judgements as Map(query → Map(document → value)), with the number of its lines and the columns not used. Throws the first Fault. */
export const read = (box, given) => {
  if (given.length > LETTERS) throw tooLong(box, given.length);
  const table = Object.assign(new Map(), { lines: 0, unused: [] }), text = given.replace(/^\ufeff/, "");
  (/^\s*[[{]/.test(text) ? readJson : readLines)(box, text, table);
  if (!table.size) throw new Fault(box, 0, "empty", { fields: FIELDS[box] });
  return table;
};

const firstDoc = (table) => [...table.values()].flatMap((docs) => [...docs.keys()].slice(0, 1))[0];

/** What keeps a run that was read from being scored: no query or no document is in the judgements. */
const apart = (box, run, qrels) => {
  if (![...qrels.keys()].some((query) => run.has(query))) return [new Fault(box, 0, "apart", { run: [...run.keys()][0], qrels: [...qrels.keys()][0] })];
  const judged = new Set([...qrels.values()].flatMap((docs) => [...docs.keys()]));
  if ([...run.values()].some((docs) => [...docs.keys()].some((doc) => judged.has(doc)))) return [];
  return [new Fault(box, 0, "foreign", { run: short(firstDoc(run)), qrels: short(firstDoc(qrels)) })];
};

/** Read {run, qrels, other}, of which each may be missing; `other` is a second run. Where run or judgements cannot be read, but all can with the two in each other's place, they are exchanged; one alone waits for the other. */
export const readAll = (texts) => {
  const attempt = (given) => {
    const tables = {}, faults = [];
    for (const [box, text] of Object.entries(given)) {
      try { tables[box] = read(box === "other" ? "run" : box, text); } catch (fault) {
        if (!(fault instanceof Fault)) throw fault;
        faults.push(...(fault.all ?? [fault]).map((one) => Object.assign(one, { box })));
      }
    }
    return { tables, faults };
  };
  const found = attempt(texts), place = { run: "qrels", qrels: "run", other: "other" };
  const turned = found.faults.length ? attempt(Object.fromEntries(Object.entries(texts).map(([box, text]) => [place[box], text]))) : found;
  const better = found.faults.length > 0 && !turned.faults.length, { tables, faults } = better ? turned : found;
  if (better && Object.keys(texts).length < 2) return { tables: {}, exchanged: false, faults: [] };
  return { tables, exchanged: better, faults: [...faults, ...["run", "other"].flatMap((box) => (tables[box] && tables.qrels ? apart(box, tables[box], tables.qrels) : []))] };
};
