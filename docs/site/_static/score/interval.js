// The 95 % interval of a mean over queries, as helpers.significance.interval has it: Wilson's where every value is 0 or
// 1, else the bootstrap's, BCa (Efron 1987); for many values its expansion. Tested against it (tests/site/test_try.py).

const Z = 1.959963984540054; // 97.5 % of a normal distribution lie below it
export const RESAMPLES = 10000, DRAWN = 1000; // samples; the most values that they are drawn from

/** Random numbers from 0 to 1, the same for the same seed: mulberry32. */
export const random = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

/** The normal distribution function, to 1e-7 (Abramowitz and Stegun 1964, 7.1.26), and its inverse. */
const normal = (z) => {
  const t = 1 / (1 + 0.3275911 * Math.abs(z) / Math.SQRT2);
  const tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-z * z / 2) / 2;
  return z < 0 ? tail : 1 - tail;
};
const quantile = (share) => {
  let [low, high] = [-8, 8];
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (normal(middle) < share) low = middle; else high = middle;
  }
  return low;
};

const sum = (values) => values.reduce((total, value) => total + value, 0);

const wilson = (share, n) => {
  const middle = share + Z * Z / (2 * n), reach = Z * Math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
  return [middle - reach, middle + reach].map((end) => end / (1 + Z * Z / n));
};

/** BCa: bias and skew move the shares at which the ends are read, in the sorted means of resamples or, without them, in the Edgeworth expansion of the mean. */
const bca = (values, mean, means) => {
  const away = values.map((value) => value - mean), squares = sum(away.map((d) => d * d));
  const skew = sum(away.map((d) => d ** 3)) / (6 * squares ** 1.5);
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
const drawnMeans = (columns, seed) => {
  const n = columns[0].length, next = random(seed), means = columns.map(() => new Float64Array(RESAMPLES));
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

/** Low and high of the mean of each column, which holds a value for each query; null where there is one query. */
export const intervals = (columns, seed = 0) => {
  const n = columns[0].length;
  if (n < 2) return columns.map(() => null);
  const means = n > DRAWN ? [] : drawnMeans(columns, seed);
  return columns.map((values, column) => {
    const mean = sum(values) / n;
    if (values.every((value) => value === 0 || value === 1)) return wilson(mean, n);
    return values.every((value) => value === values[0]) ? [mean, mean] : bca(values, mean, means[column]);
  });
};
