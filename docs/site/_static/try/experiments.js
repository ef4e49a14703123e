// Experiments: a move that the page makes once the reader has said which metrics it will change.

const A = 0, C = 2;
const relevant = ({ retrieved }) => retrieved.flatMap(({ grade }, i) => (grade ? [i] : []));
const place = (list, from, to) => list.splice(to, 0, ...list.splice(from, 1));

/** Where the document is that an experiment looks at, the first or last relevant one of a ranking. */
export const looksAt = ({ of, at }, { rankings }) => ({ ranking: of, list: "retrieved", at: relevant(rankings[of]).at(at) });

/** Each begins with an example as it is: what is set before the reader guesses, the document that is looked at, the move. */
export const EXPERIMENTS = {
  up: {
    of: C, at: 0,
    move({ rankings }) {
      const [first] = relevant(rankings[C]);
      place(rankings[C].retrieved, first, first - 1);
    },
  },
  swap: {
    of: A, at: 0,
    move({ rankings }) {
      const { retrieved } = rankings[A], [one, two] = relevant(rankings[A]);
      [retrieved[one], retrieved[two]] = [retrieved[two], retrieved[one]];
    },
  },
  out: {
    of: A, at: 0,
    move({ rankings }) {
      const { retrieved, missed } = rankings[A], [first] = relevant(rankings[A]);
      missed.push(...retrieved.splice(first, 1));
    },
  },
  late: {
    of: A, at: -1, set: { k: 10 },
    move({ rankings }) {
      const { retrieved } = rankings[A];
      place(retrieved, relevant(rankings[A]).at(-1), retrieved.length - 1);
    },
  },
  grade: {
    of: C, at: 0, set: { graded: true },
    move({ rankings }) {
      const [first] = relevant(rankings[C]);
      rankings[C].retrieved[first].grade = 3;
    },
  },
  deeper: { of: A, at: 0, move(state) { state.k = 10; } },
};
