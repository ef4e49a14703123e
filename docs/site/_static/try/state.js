// What the reader has set up, and the link that keeps it: ?set=lesson&k=5&a=11.1_1.0~22.1&b=…, documents with their
// grades, those after ~ not retrieved.

export const NAMES = ["A", "B", "C"];
export const MOST = 20; // documents in a ranking
const LETTERS = "abc";
const ID = /^[A-Za-z0-9-]{1,12}$/;

const docs = (retrieved, relevant) => ({
  retrieved: retrieved.map((id) => ({ id: String(id), grade: relevant.includes(id) ? 1 : 0 })),
  missed: relevant.filter((id) => !retrieved.includes(id)).map((id) => ({ id: String(id), grade: 1 })),
});

const LESSON = [
  { retrieved: [11, 1, 17, 7, 21, 8, 0, 28, 9, 20], relevant: [11, 1, 7, 17, 21] },
  { retrieved: [16, 1, 6, 18, 3, 4, 25, 19, 8, 14], relevant: [4, 16, 1] },
  { retrieved: [24, 10, 26, 2, 8, 28, 4, 23, 13, 21], relevant: [26, 10, 22, 8] },
];

/** The worked example of lesson 02, or that of real passages where it is given. */
export const example = (passages = null) => ({
  set: passages ? "passages" : "lesson", k: 5, level: 1, persistence: 0.8, gain: "linear", graded: false,
  rankings: (passages ?? LESSON).map(({ retrieved, relevant }) => docs(retrieved, relevant)),
});

const write = (list) => list.map(({ id, grade }) => `${id}.${grade}`).join("_");

/** Return the query of the link to a state. */
export const toQuery = (state) => {
  const query = new URLSearchParams({ set: state.set, k: state.k });
  if (state.graded) query.set("level", state.level);
  if (state.gain !== "linear") query.set("gain", state.gain);
  if (state.persistence !== 0.8) query.set("p", state.persistence);
  state.rankings.forEach(({ retrieved, missed }, i) =>
    query.set(LETTERS[i], write(retrieved) + (missed.length ? `~${write(missed)}` : "")));
  return String(query).replaceAll("%7E", "~");
};

const read = (text) => text === "" ? [] : text.split("_").map((part) => {
  const [, id, grade] = /^(.+)\.([0-3])$/.exec(part) ?? [];
  if (!ID.test(id ?? "")) throw new RangeError(part);
  return { id, grade: Number(grade) };
});

const number = (text, least, most, whole = true) => {
  const value = Number(text);
  if (!(value >= least && value <= most) || (whole && !Number.isInteger(value))) throw new RangeError(text);
  return value;
};

/** Return the state a link keeps; null if it keeps none. Throws RangeError, with the part that cannot be read. */
export const fromQuery = (text) => {
  const query = new URLSearchParams(text);
  if (!query.has("a")) return null;
  const state = { ...example(), graded: query.has("level") };
  if (query.get("set") === "passages") state.set = "passages";
  state.k = number(query.get("k") ?? 5, 1, MOST);
  state.level = number(query.get("level") ?? 1, 1, 3);
  state.persistence = number(query.get("p") ?? 0.8, 0.05, 0.99, false);
  if (query.has("gain") && query.get("gain") !== "exponential") throw new RangeError(query.get("gain"));
  if (query.has("gain")) state.gain = "exponential";
  state.rankings = [...LETTERS].map((letter) => {
    const [retrieved, missed] = (query.get(letter) ?? "").split("~").concat("").slice(0, 2).map(read);
    const ids = [...retrieved, ...missed].map(({ id }) => id);
    const twice = ids.find((id, i) => ids.indexOf(id) !== i);
    if (twice) throw new RangeError(twice);
    if (retrieved.length > MOST || missed.length > MOST) throw new RangeError(`${letter}: ${ids.length}`);
    return { retrieved, missed };
  });
  if (!state.graded && state.rankings.some((r) => [...r.retrieved, ...r.missed].some(({ grade }) => grade > 1))) state.graded = true;
  return state;
};
