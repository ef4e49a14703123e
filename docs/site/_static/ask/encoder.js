// A dense model in the page: the layers of BERT, the mean of the token vectors (docs/site/dense.py writes the files).
import { Unigram, WordPiece } from "./tokens.js";

const DIM = 384, HEADS = 12, WIDTH = DIM / HEADS, EPSILON = 1e-12;

/** The error function, to 1.5e-7 (Abramowitz and Stegun 1964, 7.1.26). */
const erf = (x) => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const rest = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-x * x);
  return x < 0 ? rest - 1 : 1 - rest;
};

/** Read a tensor: numbers of 32 bits; or of 8 or 4, with a scale for each block. Of 4 bits, a block has the low halves of its bytes first, then the high ones. */
const read = (weights, { shape, bits, block, scales, offset }) => {
  const count = shape.reduce((product, size) => product * size, 1);
  if (bits === 32) return { rows: new Float32Array(weights, offset, count), scales: [1], block: count };
  const scale = new Float32Array(weights, scales, count / block);
  if (bits === 8) return { rows: new Int8Array(weights, offset, count), scales: scale, block };
  const rows = new Int8Array(count), half = block / 2;
  new Uint8Array(weights, offset, count / 2).forEach((pair, i) => {
    const at = Math.floor(i / half) * block + (i % half);
    rows[at] = (pair & 15) - 8;
    rows[at + half] = (pair >> 4) - 8;
  });
  return { rows, scales: scale, block };
};

export class Encoder {
  /** Read the weights, an ArrayBuffer, by a layout: shape and offsets of each tensor by its name. */
  constructor({ layers, tensors, prefix, unknown }, weights, vocabulary) {
    this.tensors = new Map(Object.entries(tensors).map(([name, tensor]) => [name, read(weights, tensor)]));
    this.layers = layers;
    this.tokens = prefix ? new Unigram(vocabulary, prefix, unknown) : new WordPiece(vocabulary);
  }

  /** Add a row of a matrix to the row of a token. */
  add(x, i, name, row) {
    const { rows, scales, block } = this.tensors.get(`embeddings.${name}_embeddings.weight`);
    for (let k = 0, at = row * DIM; k < DIM; k += 1, at += 1) x[i * DIM + k] += rows[at] * scales[Math.floor(at / block)];
  }

  /** Multiply rows, four or a multiple of it, by a matrix and add its bias; two outputs of four rows at a time, for speed. */
  dense(x, name, size) {
    const { rows, scales, block } = this.tensors.get(`${name}.weight`), bias = this.tensors.get(`${name}.bias`).rows;
    const out = bias.length, y = new Float64Array((x.length / size) * out);
    const fours = new Float64Array(x.length), pair = new Float64Array(2 * size); // what is read together lies together
    for (let row = 0, i = 0; i < x.length; row += 1) for (let k = 0; k < size; k += 1, i += 1) fours[4 * ((row >> 2) * size + k) + (row & 3)] = x[i];
    for (let o = 0; o < out; o += 2) {
      const last = o + 1;
      for (let k = 0, at = o * size, next = last * size; k < size; k += 1, at += 1, next += 1) {
        pair[2 * k] = rows[at] * scales[Math.floor(at / block)];
        pair[2 * k + 1] = rows[next] * scales[Math.floor(next / block)];
      }
      for (let start = 0, i = 0; start < x.length; start += 4 * size, i += 4 * out) {
        let a0 = 0, b0 = 0, c0 = 0, d0 = 0, a1 = 0, b1 = 0, c1 = 0, d1 = 0;
        for (let k = 0, at = start; k < 2 * size; k += 2, at += 4) {
          const first = pair[k], second = pair[k + 1], a = fours[at], b = fours[at + 1], c = fours[at + 2], d = fours[at + 3];
          a0 += first * a; b0 += first * b; c0 += first * c; d0 += first * d;
          a1 += second * a; b1 += second * b; c1 += second * c; d1 += second * d;
        }
        const at = i + o;
        y[at] = a0 + bias[o]; y[at + out] = b0 + bias[o]; y[at + 2 * out] = c0 + bias[o]; y[at + 3 * out] = d0 + bias[o];
        y[at + 1] = a1 + bias[last]; y[at + out + 1] = b1 + bias[last]; y[at + 2 * out + 1] = c1 + bias[last]; y[at + 3 * out + 1] = d1 + bias[last];
      }
    }
    return y;
  }

  /** Add to each of n rows and bring it to mean 0 and variance 1, times weight plus bias. */
  normalize(x, add, n, name) {
    const [weight, bias] = ["weight", "bias"].map((part) => this.tensors.get(`${name}.${part}`).rows);
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
    const tokens = this.tokens.tokenize(text), n = tokens.length, room = Math.ceil(n / 4) * 4 * DIM;
    const x = new Float64Array(room), add = new Float64Array(room);
    tokens.forEach((token, i) => { this.add(x, i, "word", token); this.add(add, i, "position", i); this.add(add, i, "token_type", 0); });
    this.normalize(x, add, n, "embeddings.LayerNorm");
    for (let layer = 0; layer < this.layers; layer += 1) {
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
