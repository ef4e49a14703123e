// The rankings with which the tool begins.

export const NAMES = ["A", "B", "C"];

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
