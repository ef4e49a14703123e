// The metrics of helpers.metrics for one ranking, so that a page can show them while a reader moves documents.
// A view for readers, not a second library: every value is tested against helpers.metrics (tests/site/test_try.py).

/** Compare two ids as text by code points, as Python does. */
const compareText = (a, b) => {
  const left = [...a], right = [...b];
  const at = left.findIndex((letter, i) => letter !== right[i]);
  if (at < 0) return left.length - right.length;
  return at < right.length ? left[at].codePointAt(0) - right[at].codePointAt(0) : 1;
};

/** Return documents in trec_eval's order: score in single precision descending, then id as text descending. */
export const ordered = (docs, scores) => docs
  .map((doc, i) => ({ doc, score: Math.fround(scores[i]) }))
  .sort((a, b) => (a.score === b.score ? compareText(String(b.doc), String(a.doc)) : b.score > a.score ? 1 : -1))
  .map(({ doc }) => doc);

/** Tell whether two scores are equal in single precision. */
export const tied = (scores) => new Set(scores.map((score) => Math.fround(score))).size < scores.length;

/**
 * Look up what was judged: the grade at each rank, the ideal order of grades, and R, how many documents are relevant.
 * A document without judgement has grade 0; padding (-1) at the end is nothing.
 */
export const find = (ranking, judged, level = 1) => {
  const all = [...judged.values()];
  const docs = ranking.filter((doc) => doc !== -1);
  return {
    grades: docs.map((doc) => judged.get(doc) ?? 0),
    relevant: docs.map((doc) => (judged.get(doc) ?? 0) >= level),
    ideal: all.filter((grade) => grade > 0).sort((a, b) => b - a),
    R: all.filter((grade) => grade >= level).length,
  };
};

const over = (part, whole) => (whole > 0 ? part / whole : 0);
const add = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** The ranks, from 1, of the relevant documents in the top k. */
const ranks = (hits, k) => hits.relevant.slice(0, k).flatMap((yes, i) => (yes ? [i + 1] : []));

/** The addends of DCG: rank and gain of each document with a gain in the top k. */
const gains = (grades, k, gain) => grades.slice(0, k).flatMap((grade, i) =>
  grade > 0 ? [{ rank: i + 1, gain: gain === "exponential" ? 2 ** grade - 1 : grade }] : []);
const discounted = (terms) => add(terms.map(({ rank, gain }) => gain / Math.log2(rank + 1)));

/**
 * Each metric: (hits, k, options) => the value and the parts of its formula, in the conventions of helpers.metrics.
 * Options: gain "linear" or "exponential" (ndcg), persistence between 0 and 1 (rbp).
 */
export const METRICS = {
  recall(hits, k) {
    const found = ranks(hits, k).length;
    return { value: over(found, hits.R), found, whole: hits.R };
  },
  capped_recall(hits, k) {
    const found = ranks(hits, k).length;
    return { value: over(found, Math.min(k, hits.R)), found, whole: hits.R };
  },
  precision(hits, k) {
    const found = ranks(hits, k).length;
    return { value: found / k, found, whole: k };
  },
  success(hits, k) {
    return { value: ranks(hits, k).length > 0 ? 1 : 0, shown: hits.relevant.slice(0, k).map(Number) };
  },
  mrr(hits, k) {
    const [first = 0] = ranks(hits, k);
    return { value: over(1, first), first };
  },
  map(hits, k) {
    const terms = ranks(hits, k).map((rank, i) => ({ found: i + 1, rank }));
    return { value: over(add(terms.map(({ found, rank }) => found / rank)), hits.R), terms, whole: hits.R };
  },
  ndcg(hits, k, { gain = "linear" } = {}) {
    const dcg = discounted(gains(hits.grades, k, gain)), terms = gains(hits.ideal, k, gain);
    return { value: over(dcg, discounted(terms)), dcg, terms };
  },
  rbp(hits, k, { persistence = 0.8 } = {}) {
    const at = ranks(hits, k);
    return { value: add(at.map((rank) => (1 - persistence) * persistence ** (rank - 1))), at, persistence };
  },
};

/** Score a whole run, {query: Map(doc → score)}, against {query: Map(doc → grade)}, as helpers.metrics.evaluate does. */
export const evaluate = (run, qrels, k, options = {}) => {
  const counts = { queries: qrels.size, missing: 0, noRelevant: 0, unjudged: 0, tied: 0 };
  counts.unjudged = [...run.keys()].filter((query) => !qrels.has(query)).length;
  let known = 0; // of judged@k, what the queries add up to
  const rows = [...qrels].map(([query, judged]) => {
    const found = run.get(query) ?? new Map();
    const docs = [...found.keys()], scores = [...found.values()];
    const ranking = ordered(docs, scores), hits = find(ranking, judged, options.level);
    counts.missing += docs.length === 0;
    counts.noRelevant += hits.R === 0;
    counts.tied += tied(scores);
    known += over(ranking.slice(0, k).filter((doc) => judged.has(doc)).length, Math.min(k, ranking.length));
    return { query, first: hits.relevant.indexOf(true) + 1, top: ranking[0], retrieved: docs.length, values: Object.values(METRICS).map((metric) => metric(hits, k, options).value) };
  });
  const mean = Object.keys(METRICS).map((_, i) => add(rows.map(({ values }) => values[i])) / rows.length);
  return { rows, mean, counts, judged: known / rows.length };
};
