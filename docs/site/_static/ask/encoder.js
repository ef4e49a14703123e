// MiniLM in the page: WordPiece tokens, six layers of BERT, the mean of the token vectors (docs/site/dense.py writes the files).
const DIM = 384, HEADS = 12, WIDTH = DIM / HEADS, EPSILON = 1e-12, LONGEST = 256, LAYERS = 6;
const HAN = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
const SIGN = /[!-/:-@[-`{-~]|\p{P}/gu; // ASCII's signs, and punctuation
const CONTROL = /[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/gu;

/** Split a text into words and signs in lower case, without accents. */
const pieces = (text) => text.replace(CONTROL, "").replace(HAN, " $& ").toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "")
  .replace(SIGN, " $& ").split(/\s+/u).filter(Boolean);

/** The error function, to 1.5e-7 (Abramowitz and Stegun 7.1.26). */
const erf = (x) => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const rest = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-x * x);
  return x < 0 ? rest - 1 : 1 - rest;
};

export class Encoder {
  /** Read the weights, an ArrayBuffer, by a layout: shape and offsets of each tensor by its name. */
  constructor(layout, weights, vocabulary) {
    this.tensors = new Map(Object.entries(layout).map(([name, { shape, offset, scales }]) => {
      if (shape.length === 1) return [name, new Float32Array(weights, offset, shape[0])];
      return [name, { rows: new Int8Array(weights, offset, shape[0] * shape[1]), scales: new Float32Array(weights, scales, shape[0]) }];
    }));
    this.ids = new Map(vocabulary.trimEnd().split("\n").map((piece, id) => [piece, id]));
  }

  /** Return the numbers of the tokens of a text, between [CLS] and [SEP]; the longest beginning first, as BERT's WordPiece does. */
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
    return [this.ids.get("[CLS]"), ...numbers.slice(0, LONGEST - 2), this.ids.get("[SEP]")];
  }

  /** Multiply rows, four or a multiple of it, by a matrix and add its bias; two outputs of four rows at a time, for speed. */
  dense(x, name, size) {
    const { rows, scales } = this.tensors.get(`${name}.weight`), bias = this.tensors.get(`${name}.bias`);
    const out = bias.length, y = new Float64Array((x.length / size) * out);
    const fours = new Float64Array(x.length), pair = new Float64Array(2 * size); // what is read together lies together
    for (let row = 0, i = 0; i < x.length; row += 1) for (let k = 0; k < size; k += 1, i += 1) fours[4 * ((row >> 2) * size + k) + (row & 3)] = x[i];
    for (let o = 0; o < out; o += 2) {
      const last = o + 1, scale = scales[o], next = scales[last];
      for (let k = 0; k < size; k += 1) { pair[2 * k] = rows[o * size + k]; pair[2 * k + 1] = rows[last * size + k]; }
      for (let start = 0, i = 0; start < x.length; start += 4 * size, i += 4 * out) {
        let a0 = 0, b0 = 0, c0 = 0, d0 = 0, a1 = 0, b1 = 0, c1 = 0, d1 = 0;
        for (let k = 0, at = start; k < 2 * size; k += 2, at += 4) {
          const first = pair[k], second = pair[k + 1], a = fours[at], b = fours[at + 1], c = fours[at + 2], d = fours[at + 3];
          a0 += first * a; b0 += first * b; c0 += first * c; d0 += first * d;
          a1 += second * a; b1 += second * b; c1 += second * c; d1 += second * d;
        }
        const at = i + o;
        y[at] = a0 * scale + bias[o]; y[at + out] = b0 * scale + bias[o]; y[at + 2 * out] = c0 * scale + bias[o]; y[at + 3 * out] = d0 * scale + bias[o];
        y[at + 1] = a1 * next + bias[last]; y[at + out + 1] = b1 * next + bias[last]; y[at + 2 * out + 1] = c1 * next + bias[last]; y[at + 3 * out + 1] = d1 * next + bias[last];
      }
    }
    return y;
  }

  /** Add to each of n rows and bring it to mean 0 and variance 1, times weight plus bias. */
  normalize(x, add, n, name) {
    const weight = this.tensors.get(`${name}.weight`), bias = this.tensors.get(`${name}.bias`);
    for (let i = 0; i < n; i += 1) {
      const row = x.subarray(i * DIM, (i + 1) * DIM);
      let mean = 0, square = 0;
      for (let k = 0; k < DIM; k += 1) { row[k] += add[i * DIM + k]; mean += row[k] / DIM; }
      for (let k = 0; k < DIM; k += 1) square += (row[k] - mean) ** 2 / DIM;
      for (let k = 0; k < DIM; k += 1) row[k] = ((row[k] - mean) / Math.sqrt(square + EPSILON)) * weight[k] + bias[k];
    }
    return x;
  }

  /** Attend from each of n tokens to all, in each head. */
  attend(query, key, value, n) {
    const mixed = new Float64Array(query.length), weights = new Float64Array(n);
    for (let start = 0; start < DIM; start += WIDTH) {
      for (let i = 0; i < n; i += 1) {
        let most = -Infinity, sum = 0;
        for (let j = 0; j < n; j += 1) {
          let product = 0;
          for (let k = start; k < start + WIDTH; k += 1) product += query[i * DIM + k] * key[j * DIM + k];
          weights[j] = product / Math.sqrt(WIDTH);
          most = Math.max(most, weights[j]);
        }
        for (let j = 0; j < n; j += 1) { weights[j] = Math.exp(weights[j] - most); sum += weights[j]; }
        for (let j = 0; j < n; j += 1) for (let k = start; k < start + WIDTH; k += 1) mixed[i * DIM + k] += (weights[j] / sum) * value[j * DIM + k];
      }
    }
    return mixed;
  }

  /** Return the vector of a text, of length 1. */
  encode(text) {
    const tokens = this.tokenize(text), n = tokens.length, room = Math.ceil(n / 4) * 4 * DIM;
    const x = new Float64Array(room), add = new Float64Array(room);
    const words = this.tensors.get("embeddings.word_embeddings.weight"), places = this.tensors.get("embeddings.position_embeddings.weight");
    const types = this.tensors.get("embeddings.token_type_embeddings.weight");
    tokens.forEach((token, i) => {
      for (let k = 0; k < DIM; k += 1) {
        x[i * DIM + k] = words.rows[token * DIM + k] * words.scales[token];
        add[i * DIM + k] = places.rows[i * DIM + k] * places.scales[i] + types.rows[k] * types.scales[0];
      }
    });
    this.normalize(x, add, n, "embeddings.LayerNorm");
    for (let layer = 0; layer < LAYERS; layer += 1) {
      const at = `encoder.layer.${layer}`, [query, key, value] = ["query", "key", "value"].map((name) => this.dense(x, `${at}.attention.self.${name}`, DIM));
      this.normalize(x, this.dense(this.attend(query, key, value, n), `${at}.attention.output.dense`, DIM), n, `${at}.attention.output.LayerNorm`);
      const inner = this.dense(x, `${at}.intermediate.dense`, DIM);
      for (let i = 0; i < n * 4 * DIM; i += 1) inner[i] *= 0.5 * (1 + erf(inner[i] / Math.SQRT2));
      this.normalize(x, this.dense(inner, `${at}.output.dense`, 4 * DIM), n, `${at}.output.LayerNorm`);
    }
    const mean = new Float64Array(DIM);
    for (let i = 0; i < n * DIM; i += 1) mean[i % DIM] += x[i];
    const length = Math.hypot(...mean);
    return mean.map((v) => v / length);
  }
}

export class DenseIndex extends Encoder {
  /** Read the model and the vectors of the passages: a scale for each, then their numbers. */
  constructor(layout, weights, vocabulary, passages) {
    super(layout, weights, vocabulary);
    this.size = passages.byteLength / (DIM + 4);
    this.scales = new Float32Array(passages, 0, this.size);
    this.passages = new Int8Array(passages, 4 * this.size);
  }

  /** Return the numbers of the k passages nearest to a text, each with its cosine. */
  search(text, k = 10) {
    const vector = this.encode(text);
    const scores = Array.from(this.scales, (scale, passage) => {
      let sum = 0;
      for (let i = 0, at = passage * DIM; i < DIM; i += 1, at += 1) sum += vector[i] * this.passages[at];
      return Math.fround(scale * sum);
    });
    return [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b).slice(0, k).map((passage) => [passage, scores[passage]]);
  }
}

/** Fuse rankings by reciprocal ranks, as helpers.systems.Fusion does; return the k best passages. */
export const fuse = (rankings, k = 10, constant = 60) => {
  const totals = new Map();
  for (const ranking of rankings) ranking.forEach((passage, i) => totals.set(passage, (totals.get(passage) ?? 0) + 1 / (constant + 1 + i)));
  return [...totals].sort(([a, first], [b, second]) => Math.fround(second) - Math.fround(first) || a - b).slice(0, k).map(([passage]) => passage);
};
