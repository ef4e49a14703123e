// The tokens of a text as the models of the page number them: WordPiece of MiniLM, Unigram of the multilingual model.
export const LONGEST = 256; // tokens of a text that are read
const HAN = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
const SIGN = /[!-/:-@[-`{-~]|\p{P}/gu; // ASCII's signs, and punctuation
const CONTROL = /[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/gu;

/** Split a text into words and signs in lower case, without accents. */
const pieces = (text) => text.replace(CONTROL, "").replace(HAN, " $& ").toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "")
  .replace(SIGN, " $& ").split(/\s+/u).filter(Boolean);

/** The beginning, the numbers of a text as far as they are read, the end. */
const between = (first, numbers, last) => [first, ...numbers.slice(0, LONGEST - 2), last];

export class WordPiece {
  constructor(vocabulary) {
    this.ids = new Map(vocabulary.trimEnd().split("\n").map((piece, id) => [piece, id]));
  }

  /** Return the numbers of the tokens of a text, between [CLS] and [SEP]; the longest beginning first. */
  tokenize(text) {
    const numbers = pieces(text).flatMap((word) => {
      const signs = [...word], found = [];
      for (let start = 0, end; start < signs.length; start = end) {
        const prefix = start ? "##" : "";
        for (end = signs.length; end > start && !this.ids.has(prefix + signs.slice(start, end).join("")); end -= 1);
        if (end === start || signs.length > 100) return [this.ids.get("[UNK]")];
        found.push(this.ids.get(prefix + signs.slice(start, end).join("")));
      }
      return found;
    });
    return between(this.ids.get("[CLS]"), numbers, this.ids.get("[SEP]"));
  }
}

const START = 0, END = 2, UNKNOWN = 3, SPECIAL = 4; // the first tokens of XLM-R
const REMOVED = /[\x01-\x08\v\x0e-\x1f\x7f\x8f\x9f]/g, SPACES = /[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/g;

export class Unigram {
  /** Read a token and its log probability from each line; `unknown` is that of a character that no token has. */
  constructor(vocabulary, prefix, unknown) {
    const lines = vocabulary.trimEnd().split("\n").map((line) => line.split("\t"));
    this.ids = new Map(lines.map(([token], id) => [token, id]).slice(SPECIAL));
    this.scores = lines.map(([, score]) => Number(score));
    this.longest = Math.max(...lines.map(([token]) => token.length));
    Object.assign(this, { prefix, unknown });
  }

  /** Return the numbers of the tokens of a text behind the instruction of the model. */
  tokenize(text) {
    const plain = (this.prefix + text).replace(REMOVED, "").replace(SPACES, " ").split("\uff5e").map((part) => part.normalize("NFKC")).join("\uff5e");
    return between(START, plain.split(/\s+/u).filter(Boolean).flatMap((word) => this.split([...`▁${word}`])), END);
  }

  /** Split a word into the tokens whose probabilities have the largest product (Viterbi); unknown neighbours are one. */
  split(signs) {
    const best = [{ score: 0 }];
    const offer = (start, end, id, score) => {
      const sum = best[start].score + score;
      if (!best[end] || sum > best[end].score) best[end] = { score: sum, start, id };
    };
    signs.forEach((sign, start) => {
      for (let end = start + 1; end <= Math.min(signs.length, start + this.longest); end += 1) {
        const id = this.ids.get(signs.slice(start, end).join(""));
        if (id !== undefined) offer(start, end, id, this.scores[id]);
      }
      if (!this.ids.has(sign)) offer(start, start + 1, UNKNOWN, this.unknown);
    });
    const numbers = [];
    for (let end = signs.length; end > 0; end = best[end].start) {
      const { id } = best[end];
      if (id !== UNKNOWN || numbers[0] !== UNKNOWN) numbers.unshift(id);
    }
    return numbers;
  }
}
