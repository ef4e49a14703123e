// BM25 and TF-IDF over the passages of a page, as helpers.index computes them (tests/site/test_ask.py compares the rankings).
const HAN = /[\u3007\u3400-\u9fff\u{20000}-\u{3ffff}]+/gu;
const FRACTION = /[\u00bc-\u00be\u2150-\u215f\u2189]/g;
const K1 = 1.5, B = 0.75;

/** Split a text into words in lower case, Chinese into each character or each two neighbours (length); stop words, a Set, are left out. */
export const tokenize = (text, stop, length = 2) => {
  const plain = text.replace(FRACTION, " $&").normalize("NFKC"), units = [];
  for (const [run] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    let end = 0;
    for (const match of run.matchAll(HAN)) {
      const signs = [...match[0]];
      units.push(run.slice(end, match.index), ...(length === 2 && signs.length > 1 ? signs.slice(1).map((sign, i) => signs[i] + sign) : signs));
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
  /** Count the words of n passages, of Chinese the runs of 1 or 2 characters. */
  constructor(passages, stop, length = 2) {
    this.stop = stop;
    this.cut = (text) => tokenize(text, stop, length);
    this.size = passages.length;
    const lengths = [], all = passages.map((text) => {
      const units = this.cut(text);
      lengths.push(units.length);
      return counted(units);
    });
    const mean = lengths.reduce((a, b) => a + b) / this.size;
    this.postings = new Map(); // word → [[passage, BM25's weight, TF-IDF's weight], …]
    all.forEach((counts, passage) => {
      for (const word of counts.keys()) {
        if (!this.postings.has(word)) this.postings.set(word, []);
        this.postings.get(word).push([passage, 0, 0]);
      }
    });
    const norms = new Float64Array(this.size);
    for (const [word, list] of this.postings) {
      const idf = Math.log(1 + (this.size - list.length + 0.5) / (list.length + 0.5));
      for (const posting of list) {
        const [passage] = posting, count = all[passage].get(word);
        posting[1] = Math.fround((idf * count) / (K1 * (1 - B + (B * lengths[passage]) / mean) + count));
        posting[2] = (1 + Math.log(count)) * this.rarity(list);
        norms[passage] += posting[2] ** 2;
      }
    }
    for (const list of this.postings.values()) for (const posting of list) posting[2] /= Math.sqrt(norms[posting[0]]);
  }

  rarity(list) { return Math.log((1 + this.size) / (1 + list.length)) + 1; }

  /** Return of several texts the one whose words in common with a query are the rarest together; the first of equals. */
  nearest(query, texts) {
    const wanted = new Set(this.cut(query)), sums = texts.map((text) => [...new Set(this.cut(text))]
      .reduce((sum, word) => sum + (wanted.has(word) ? this.rarity(this.postings.get(word) ?? []) : 0), 0));
    return texts[sums.indexOf(Math.max(...sums))];
  }

  /** Return which part of a query's words a text has, from 0 to 1; rare words count more. */
  share(query, text) {
    const there = new Set(this.cut(text)), wanted = [...new Set(this.cut(query))];
    const sum = (units) => units.reduce((total, unit) => total + this.rarity(this.postings.get(unit) ?? []), 0);
    return sum(wanted.filter((unit) => there.has(unit))) / sum(wanted) || 0;
  }

  /** Return the numbers of the k best passages that share a word with a query, by "BM25" or "TF-IDF". */
  search(query, system, k = 10) {
    const counts = counted(this.cut(query)), scores = new Float64Array(this.size);
    let norm = 0;
    for (const [word, count] of counts) {
      const list = this.postings.get(word) ?? [], weight = (1 + Math.log(count)) * this.rarity(list);
      if (list.length) norm += weight ** 2;
      for (const [passage, bm25, tfidf] of list) scores[passage] += system === "BM25" ? count * bm25 : weight * tfidf;
    }
    const scale = system === "BM25" || !norm ? 1 : Math.sqrt(norm);
    return [...scores.keys()]
      .filter((passage) => scores[passage] > 0)
      .map((passage) => [passage, Math.fround(scores[passage] / scale)])
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, k)
      .map(([passage]) => passage);
  }
}
