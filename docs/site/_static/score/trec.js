// Read pasted TREC text: a run, `query Q0 document rank score tag`, or judgements, `query 0 document grade`; of both also three columns.

export const LIMIT = 1000; // queries; a text of more than LETTERS is not read at all
export const LETTERS = 50e6;
const FAULTS = 3; // lines of a text that are named as wrong
const LARGEST = 2 ** 31 - 1; // grades are whole numbers of 32 bits
export const FIELDS = { run: "query Q0 document rank score tag", qrels: "query 0 document grade" };
export const SHORT = { run: "query document score", qrels: "query document grade" }; // BEIR has judgements so
const HEADER = { run: /score/i, qrels: /^(?![+-]?\d+$)/ }; // the third column of a first line that names the three

/** What is wrong with a pasted text: which of the two, its line (0: the whole), a key of the words, what to fill in; of a line also its text, and `all` of the first few faults. */
export class Fault extends Error {
  constructor(box, line, key, filling = {}) {
    super(`${box}:${line} ${key}`);
    Object.assign(this, { box, line, key, filling });
  }
}

const short = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

const scoreOf = (text, line) => {
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(number)) throw new Fault("run", line, "score", { given: short(text) });
  return number;
};

const gradeOf = (text, line) => {
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
  if (!(Math.abs(number) <= LARGEST)) throw new Fault("qrels", line, "grade", { given: short(text) });
  return number;
};

/** Give each line that is not blank to `take`, with its number and its fields, blanks and tabs between them; the first line says how many. Throws the first Fault. */
const lines = (box, text, take) => {
  if (text.length > LETTERS) throw new Fault(box, 0, "letters", { given: text.length, limit: LETTERS });
  let [names, any] = ["", false];
  const faults = [];
  for (const [i, line] of text.replace(/^\ufeff/, "").split("\n").entries()) {
    const fields = line.split(/[ \t\r\v\f]+/).filter(Boolean);
    if (!fields.length) continue;
    if (!names) {
      names = (fields.length === 3 ? SHORT : FIELDS)[box];
      if (fields.length === 3 && HEADER[box].test(fields[2])) continue;
    }
    const key = !any && names === FIELDS[box] ? "either" : "fields"; // the first line could have either number
    any = true;
    try {
      need(box, fields, names, i + 1, key);
      take(fields, i + 1);
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault;
      faults.push(Object.assign(fault, { text: short(line.trim()) }));
      if (faults.length === FAULTS || fault.key === "limit") break;
    }
  }
  if (faults.length) throw Object.assign(faults[0], { all: faults });
  if (!any) throw new Fault(box, 0, "empty", { fields: FIELDS[box] });
};

const enter = (box, table, [query, doc, value], line) => {
  if (!table.has(query)) {
    if (table.size === LIMIT) throw new Fault(box, line, "limit", { limit: LIMIT });
    table.set(query, new Map());
  }
  if (table.get(query).has(doc)) throw new Fault(box, line, "twice", { doc: short(doc), query: short(query) });
  table.get(query).set(doc, value);
};

const need = (box, fields, names, line, key) => {
  const wanted = names.split(" ").length;
  if (fields.length !== wanted) throw new Fault(box, line, key, { wanted, fields: names, given: fields.length, short: SHORT[box] });
};

/** Return a run as Map(query → Map(document → score)). Throws Fault. */
export const readRun = (text) => {
  const run = new Map();
  lines("run", text, (fields, line) => {
    const [query, doc, score] = fields.length === 3 ? fields : [fields[0], fields[2], fields[4]];
    enter("run", run, [query, doc, scoreOf(score, line)], line);
  });
  return run;
};

/** Return judgements as Map(query → Map(document → grade)). Throws Fault. */
export const readQrels = (text) => {
  const qrels = new Map();
  lines("qrels", text, (fields, line) => enter("qrels", qrels, [fields[0], fields.at(-2), gradeOf(fields.at(-1), line)], line));
  return qrels;
};
