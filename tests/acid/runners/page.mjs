import { find, METRICS, ordered } from "../../../docs/site/_static/try/metrics.js";

const [queries, name, k] = JSON.parse(process.argv[2]);
const number = (text) => (text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text));
const values = queries.map(([docs, scores, judged]) =>
  METRICS[name](find(scores ? ordered(docs, scores.map(number)) : docs, new Map(judged)), k, { gain: "linear" }).value);
console.log(JSON.stringify(values.reduce((total, value) => total + value, 0) / values.length));
