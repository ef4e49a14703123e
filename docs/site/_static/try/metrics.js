// What pages compute: metrics, intervals of means, rankings by words, fusion. A view for readers, not a second library:
// every value is tested against the package (tests/site/test_try.py, test_ask.py, test_dense.py).

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
    return { query, first: hits.relevant.indexOf(true) + 1, retrieved: docs.length, values: Object.values(METRICS).map((metric) => metric(hits, k, options).value) };
  });
  const mean = Object.keys(METRICS).map((_, i) => add(rows.map(({ values }) => values[i])) / rows.length);
  return { rows, mean, counts, judged: known / rows.length };
};

// The 95 % interval of a mean over queries, as helpers.significance.interval has it: Wilson's where every value is 0 or
// 1, else the bootstrap's, BCa (Efron 1987); for many values its expansion.

const Z = 1.959963984540054; // 97.5 % of a normal distribution lie below it
export const RESAMPLES = 10000, DRAWN = 1000; // samples; the most values that they are drawn from

/** Random bits, 32 at a time, the same for the same seed: mulberry32; and random numbers from 0 to 1. */
const randomBits = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return t ^ (t >>> 14);
};
export const random = (seed) => {
  const next = randomBits(seed);
  return () => (next() >>> 0) / 2 ** 32;
};

/** Where a rising function reaches a value, between low and high. */
const solve = (rising, value, low, high) => {
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (rising(middle) < value) low = middle; else high = middle;
  }
  return high;
};
/** The normal distribution function (Marsaglia 2004, Journal of Statistical Software 11(4)), and its inverse. */
const normal = (z) => {
  if (Math.abs(z) > 8) return z > 0 ? 1 : 0;
  let [sum, before, term] = [z, 0, z];
  for (let i = 3; sum !== before; i += 2) {
    [before, term] = [sum, term * z * z / i];
    sum += term;
  }
  return 0.5 + sum * Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
};
const quantile = (share) => solve(normal, share, -8, 8);

const wilson = (share, n) => {
  const middle = share + Z * Z / (2 * n), reach = Z * Math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
  return [middle - reach, middle + reach].map((end) => end / (1 + Z * Z / n));
};

/** BCa: bias and skew move the shares at which the ends are read, in the sorted means of resamples or, without them, in the Edgeworth expansion of the mean. */
const bca = (values, mean, means) => {
  const away = values.map((value) => value - mean), squares = add(away.map((d) => d * d));
  const skew = add(away.map((d) => d ** 3)) / (6 * squares ** 1.5);
  let [below, equal] = [0, 0];
  for (const one of means ?? []) { below += one < mean; equal += one === mean; }
  const bias = means ? quantile((below + equal / 2) / means.length) : skew;
  return [-Z, Z].map((end) => {
    const z = bias + (bias + end) / (1 - skew * (bias + end));
    if (!means) return mean + Math.sqrt(squares) / values.length * (z + skew * (z * z - 1));
    const at = normal(z) * (means.length - 1), left = Math.floor(at);
    return means[left] + (at - left) * ((means[left + 1] ?? means[left]) - means[left]);
  });
};

/** The means of resamples of the rows, sorted, for each column. */
const drawnMeans = (columns) => {
  const n = columns[0].length, next = random(0), means = columns.map(() => new Float64Array(RESAMPLES));
  const rows = columns[0].map((_, row) => Float64Array.from(columns, (values) => values[row]));
  const totals = new Float64Array(columns.length);
  for (let resample = 0; resample < RESAMPLES; resample += 1) {
    totals.fill(0);
    for (let i = 0; i < n; i += 1) {
      const row = rows[Math.floor(next() * n)];
      for (let column = 0; column < row.length; column += 1) totals[column] += row[column];
    }
    for (let column = 0; column < columns.length; column += 1) means[column][resample] = totals[column] / n;
  }
  return means.map((drawn) => drawn.sort());
};

/** Low and high of the mean of each column, which holds a value for each query; null where there is one query. Differences of two runs are no shares, even if each is 0 or 1. */
export const intervals = (columns, shares = true) => {
  const n = columns[0].length;
  if (n < 2) return columns.map(() => null);
  const means = n > DRAWN ? [] : drawnMeans(columns);
  return columns.map((values, column) => {
    const mean = add(values) / n;
    if (shares && values.every((value) => value === 0 || value === 1)) return wilson(mean, n);
    return values.every((value) => value === values[0]) ? [mean, mean] : bca(values, mean, means[column]);
  });
};

// Two runs on the same queries, as helpers.significance compares them.

const ALL = 20; // differing queries of which every swap is tried
export const SWAPS = 250000; // drawn at random where more queries differ
const POWER = 0.8, LEVEL = 0.05, STEPS = 800;

/** The sums of values under every choice of their signs. */
const signedSums = (values) => {
  const sums = new Float64Array(2 ** values.length);
  values.forEach((value, i) => {
    for (let at = 0, half = 2 ** i; at < half; at += 1) {
      sums[at + half] = sums[at] - value;
      sums[at] += value;
    }
  });
  return sums;
};

/** Sums of values under random signs: one random number has those of 32 values, looked up eight at a time. */
const randomSums = (values) => {
  const sums = new Float64Array(SWAPS), next = randomBits(0);
  for (let start = 0; start < values.length; start += 32) {
    const [a, b, c, d] = [0, 8, 16, 24].map((at) => signedSums(values.slice(start + at, start + at + 8)));
    for (let at = 0; at < SWAPS; at += 1) {
      const bits = next();
      sums[at] += a[bits & (a.length - 1)] + b[bits >>> 8 & (b.length - 1)] + c[bits >>> 16 & (c.length - 1)] + d[bits >>> 24 & (d.length - 1)];
    }
  }
  return sums;
};

/** The two-sided p-value of the randomisation test on differences, a query each, and whether every swap was tried. */
const pairedTest = (differences) => {
  const differing = differences.filter((value) => value !== 0), exact = differing.length <= ALL;
  const least = Math.abs(add(differing)) - 1e-12 * add(differing.map(Math.abs));
  let reached = exact ? 0 : 1; // of random swaps, the runs as they are count as one
  for (const sum of exact ? signedSums(differing) : randomSums(differing)) reached += Math.abs(sum) >= least;
  return { p: reached / (exact ? 2 ** differing.length : 1 + SWAPS), exact };
};

/** How often Student's t lies beyond ±limit with n queries, where the true difference is `shift` standard errors: the integral over s, the standard deviation seen in units of the true one (Simpson's rule). */
const beyond = (n, limit, shift) => {
  const reach = 8 / Math.sqrt(2 * (n - 1)), low = Math.max(0, 1 - reach), step = (1 + reach - low) / STEPS;
  let [part, whole] = [0, 0];
  for (let i = 0; i <= STEPS; i += 1) {
    const s = low + i * step, density = Math.exp((n - 2) * Math.log(s || 1e-300) - (n - 1) * (s * s - 1) / 2);
    const weight = density * (i % STEPS ? 2 + 2 * (i % 2) : 1);
    whole += weight;
    part += weight * (normal(shift - limit * s) + normal(-shift - limit * s));
  }
  return part / whole;
};
const limitOf = (n) => solve((limit) => -beyond(n, limit, 0), -LEVEL, 0, 100);

/** What n queries show with a power of .8, for this standard deviation of differences; and the queries that a difference needs. */
export const detectable = (sd, n) => {
  const limit = limitOf(n);
  return sd / Math.sqrt(n) * solve((shift) => beyond(n, limit, shift), POWER, 0, 100);
};
export const queriesNeeded = (difference, sd) => {
  const shows = (n) => beyond(n, limitOf(n), Math.abs(difference) / sd * Math.sqrt(n)) >= POWER;
  let [low, high] = [1, 2];
  while (!shows(high)) {
    [low, high] = [high, 2 * high];
    if (high > 1e9) return Infinity;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (shows(middle)) high = middle; else low = middle;
  }
  return high;
};

/** Two runs that `evaluate` has scored, second minus first: of each metric its differences by query and what they say. */
export const compare = (first, second) => {
  const gaps = first.mean.map((_, i) => first.rows.map(({ values }, row) => second.rows[row].values[i] - values[i]));
  const ends = intervals(gaps, false);
  return gaps.map((each, i) => {
    const difference = add(each) / each.length, sd = Math.sqrt(add(each.map((gap) => (gap - difference) ** 2)) / (each.length - 1));
    return { gaps: each, difference, sd, ends: ends[i], ...pairedTest(each) };
  });
};

// BM25 over the passages of a page, as helpers.index computes it.
const HAN = /[\u3007\u3400-\u9fff\u{20000}-\u{3ffff}]+/gu;
const FRACTION = /[\u00bc-\u00be\u2150-\u215f\u2189]/g;
const K1 = 1.5, B = 0.75; // of BM25

/** Split a text into words in lower case, Chinese into each two neighbours; stop words, a Set, are left out. */
export const tokenize = (text, stop) => {
  const plain = text.replace(FRACTION, " $&").normalize("NFKC"), units = [];
  for (const [run] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    let end = 0;
    for (const match of run.matchAll(HAN)) {
      const signs = [...match[0]];
      units.push(run.slice(end, match.index), ...(signs.length > 1 ? signs.slice(1).map((sign, i) => signs[i] + sign) : signs));
      end = match.index + match[0].length;
    }
    units.push(run.slice(end));
  }
  return units.map((unit) => unit.toLowerCase()).filter((unit) => unit && !stop.has(unit));
};

const counted = (units) => {
  const counts = new Map();
  for (const unit of units) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  return counts;
};

export class WordIndex {
  /** Count the words of n passages. */
  constructor(passages, stop) {
    this.cut = (text) => tokenize(text, stop);
    this.size = passages.length;
    const all = passages.map(this.cut), mean = add(all.map(({ length }) => length)) / this.size;
    this.postings = new Map(); // word → [[passage, weight], …]
    all.map(counted).forEach((counts, passage) => {
      for (const [word, count] of counts) {
        if (!this.postings.has(word)) this.postings.set(word, []);
        this.postings.get(word).push([passage, count / (K1 * (1 - B + (B * all[passage].length) / mean) + count)]);
      }
    });
    for (const list of this.postings.values()) for (const posting of list) posting[1] = Math.fround(this.rarity(list) * posting[1]);
  }

  rarity(list) { return Math.log(1 + (this.size - list.length + 0.5) / (list.length + 0.5)); }

  /** Return of several texts the one whose words in common with a query are the rarest together; the first of equals. */
  nearest(query, texts) {
    const wanted = new Set(this.cut(query)), sums = texts.map((text) => add([...new Set(this.cut(text))]
      .map((word) => (wanted.has(word) ? this.rarity(this.postings.get(word) ?? []) : 0))));
    return texts[sums.indexOf(Math.max(...sums))];
  }

  /** Return the numbers of the k best passages that share a word with a query. */
  search(query, k = 10) {
    const scores = new Float64Array(this.size);
    for (const [word, count] of counted(this.cut(query))) for (const [passage, weight] of this.postings.get(word) ?? []) scores[passage] += count * weight;
    return [...scores.keys()].filter((passage) => scores[passage] > 0).map((passage) => [passage, Math.fround(scores[passage])])
      .sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, k).map(([passage]) => passage);
  }
}

/** The k best passages of rankings fused by the sums of 1 / (60 + rank), as helpers.systems.Fusion does it. Equal sums, in single precision, come by
 id as text, descending; ids are the texts of the passages' numbers. */
export const fused = (rankings, ids, k = 10) => {
  const sums = new Map();
  for (const ranking of rankings) ranking.forEach((passage, i) => sums.set(passage, (sums.get(passage) ?? 0) + 1 / (61 + i)));
  return [...sums].map(([passage, sum]) => [passage, Math.fround(sum)]).sort((a, b) => b[1] - a[1] || compareText(ids[b[0]], ids[a[0]])).slice(0, k).map(([passage]) => passage);
};
