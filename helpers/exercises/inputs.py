"""The inputs of the exercises: the lessons' worked example where it fits, and small ones drawn from a fixed seed."""

import random

ARGUMENTS = {
    "binary": ("retrieved", "relevant", "k"),
    "whole": ("retrieved", "relevant"),
    "graded": ("retrieved", "grades", "k"),
    "judged": ("retrieved", "grades"),
    "run": ("run", "qrels", "k"),
    "scores": ("scores",),
    "chunks": ("chunks", "k"),
    "labels": ("first", "second"),
    "orders": ("first", "second"),
    "pool": ("rankings", "depth"),
    "p_values": ("p_values",),
    "vectors": ("query", "passages", "k"),
    "pairs": ("first", "second"),
}
"""The arguments of an exercise's function, by the kind of exercise."""

Case = tuple[object, ...]


def draw() -> dict[str, list[Case]]:
    """Sixty inputs of each kind, the same ones each time."""
    rng = random.Random(2)
    documents = [f"d{number}" for number in range(1, 16)]
    cases: dict[str, list[Case]] = {name: [] for name in ARGUMENTS}
    for _ in range(60):
        retrieved = rng.sample(documents, rng.randint(1, 12))
        relevant = set(rng.sample(documents, rng.randint(1, 7)))
        grades = {doc: rng.choice((0, 0, 0, 1, 2, 3)) for doc in rng.sample(documents, rng.randint(3, 12))}
        grades[rng.choice(documents)] = rng.randint(1, 3)  # one at least is relevant
        k = rng.randint(1, 14)
        cases["binary"].append((retrieved, relevant, k))
        cases["whole"].append((retrieved, relevant))
        cases["graded"].append((retrieved, grades, k))
        cases["judged"].append((retrieved, grades))
        queries = [f"q{number}" for number in range(1, rng.randint(3, 6))]
        qrels = {query: set(rng.sample(documents, rng.randint(1, 5))) for query in queries}
        answered = [*rng.sample(queries, len(queries) - rng.randint(0, 1)), "q9"]  # one may lack, one is not judged
        run = {query: rng.sample(documents, rng.randint(1, 6)) for query in answered}
        cases["run"].append((run, qrels, rng.randint(1, 4)))
        cases["scores"].append(
            ({str(doc): rng.randint(1, 4) / 4 for doc in rng.sample(range(1, 30), rng.randint(2, 8))},)
        )
        cases["chunks"].append(
            ([f"{rng.choice(documents[:6])}#{part}" for part in range(rng.randint(2, 9))], rng.randint(1, 4))
        )
        pairs = rng.randint(4, 12)
        labels = [[1, 0, *(int(rng.random() < share) for _ in range(pairs))] for share in (0.3, 0.5)]
        cases["labels"].append((labels[0], labels[1][1:] + labels[1][:1]))
        systems = rng.randint(3, 7)
        cases["orders"].append(tuple([number / 10 for number in rng.sample(range(10), systems)] for _ in range(2)))
        rankings = {name: rng.sample(documents, 5) for name in ("BM25", "dense", "hybrid")}
        cases["pool"].append((rankings, rng.randint(1, 4)))
        cases["p_values"].append(([round(rng.random() ** 3, 4) for _ in range(rng.randint(2, 6))],))
        size = rng.randint(3, 7)
        steep = rng.sample(range(1, 50), size)  # no two passages are equally near
        cases["vectors"].append(([3, 1], [[at, at % 3] for at in steep], rng.randint(2, size - 1)))
        cases["pairs"].append(tuple([rng.randint(0, 4) / 4 for _ in range(size)] for _ in range(2)))
    return cases


INPUTS = draw()
