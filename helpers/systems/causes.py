"""What in a comparison would give somebody else another number, as far as it can be told: each cause with its count."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from helpers.models.families import family_instructions
from helpers.systems.pipeline import Ranking
from helpers.systems.results import Compared, Result

HALF = ("float16", "bfloat16")
SIDES = ("query", "passage")

# The names of the causes, and the section of docs/en/differences.md that explains each.
CAUSES = {
    "queries_used": "part-of-the-corpus",
    "passages_used": "part-of-the-corpus",
    "left_out": "part-of-the-corpus",
    "merged": "part-of-the-corpus",
    "titles": "the-title",
    "level": "what-counts-as-relevant",
    "unanswered": "the-queries-over-which-the-mean-runs",
    "own_id": "a-document-whose-id-is-the-query-s",
    "missing": "the-queries-over-which-the-mean-runs",
    "unjudged": "unjudged-passages",
    "ties": "ties",
    "truncated": "the-longest-input",
    "instruction": "the-instruction",
    "no_instruction": "the-instruction",
    "pooling": "pooling",
    "scaled": "normalisation",
    "half": "half-precision",
}


@dataclass(frozen=True)
class Cause:
    """Something that another evaluation may do otherwise.

    Attributes:
        name: a key of ``CAUSES``.
        system: whose ranking it concerns; None for all, where it lies in the data.
        count: how many passages, queries or judgements; None where it is not a matter of counting, or nobody counted.
        of: of how many, None where that means nothing.
        detail: the instruction, pooling, type of numbers, level, or what was left out.
    """

    name: str
    system: str | None = None
    count: int | None = None
    of: int | None = None
    detail: str = ""


def causes(comparison: Compared) -> list[Cause]:
    """List what applies, in the order of ``CAUSES``; a cause that does not is absent."""
    found = list(_of_data(comparison))
    for result in comparison.results.values():
        if result.evaluation is not None:
            found += [*_of_ranking(comparison, result), *_of_model(result, len(comparison.data.corpus))]
    names = list(CAUSES)
    return sorted(found, key=lambda cause: names.index(cause.name))


def tied_at(ranking: Ranking, k: int) -> int:
    """Count the queries in whose ranking two of the first k passages, or the k-th and the next, have equal scores."""
    scores, found = ranking.scores[:, : k + 1], ranking.ids[:, 1 : k + 1] >= 0
    return int(((scores[:, 1:] == scores[:, :-1]) & found).any(axis=1).sum())


def _of_data(comparison: Compared) -> Iterator[Cause]:
    """Give the causes that lie in the collection, and hold for every system."""
    data = comparison.data
    counted = {
        "queries_used": (len(data.queries) if data.all_queries else 0, data.all_queries),
        "passages_used": (len(data.corpus) if data.all_passages else 0, data.all_passages),
        "merged": (data.merged, None),
        "titles": (data.titled, None),
        "unanswered": (len(data.unanswered()), len(data.queries)),
        "own_id": (len(set(data.query_ids) & set(data.corpus_ids)), len(data.queries)),
    }
    for name, (count, of) in counted.items():
        if count:
            yield Cause(name, None, count, of)
    for what, count in data.skipped.items():
        yield Cause("left_out", None, count, None, what)
    grades = [grade for judged in data.qrels for grade in judged.values()]
    low = sum(0 < grade < data.relevance_level for grade in grades)
    if low:
        yield Cause("level", None, low, len(grades), str(data.relevance_level))


def _of_ranking(comparison: Compared, result: Result) -> Iterator[Cause]:
    """Give the causes that a ranking shows: queries it lacks, unjudged passages in the first k, equal scores."""
    evaluation, ranking = result.evaluation, result.ranking
    assert evaluation is not None
    assert ranking is not None
    if evaluation.missing:
        yield Cause("missing", result.name, evaluation.missing, evaluation.queries)
    metric = comparison.metrics[-1]  # judged@k
    k = int(metric.partition("@")[2])
    retrieved = np.minimum(k, (ranking.ids >= 0).sum(axis=1))
    unjudged = round(float(((1 - evaluation.per_query[metric]) * retrieved).sum()))
    if unjudged:
        yield Cause("unjudged", result.name, unjudged, int(retrieved.sum()), str(k))
    if tied := tied_at(ranking, k):
        yield Cause("ties", result.name, tied, evaluation.queries, str(k))


def _of_model(result: Result, size: int) -> Iterator[Cause]:
    """Give the causes that lie in how a model was run."""
    what, model = result.what, result.what.get("model", {})
    options, truncated = what.get("options", {}), what.get("truncated")
    if truncated or (truncated is None and any(note.startswith("Texts are longer") for note in result.notes)):
        yield Cause("truncated", result.name, truncated, size, str(model.get("max_length", "")))
    yield from _of_instructions(result.name, model, options)
    if "pooling" in options:
        yield Cause("pooling", result.name, detail=str(options["pooling"]))
    if "scaled to length one" in str(model.get("pooling", "")):
        yield Cause("scaled", result.name)
    if what.get("dtype") in HALF:
        yield Cause("half", result.name, detail=what["dtype"])


def _of_instructions(name: str, model: dict[str, Any], options: dict[str, Any]) -> Iterator[Cause]:
    """Say which instructions were put before texts, and which are missing: switched off, or wanted by the family."""
    used = [model.get(f"{side}_instruction") or "" for side in SIDES]
    if any(used):
        yield Cause("instruction", name, detail=" / ".join(repr(text) for text in used))
    if "sha256" not in model or "precomputed" in str(model.get("pooling", "")):
        return
    wanted = family_instructions(str(model.get("name", "")))
    switched_off = [options.get(f"{side}_instruction") == "" for side in SIDES]
    missing = [
        side
        for side, text, own, off in zip(SIDES, used, wanted, switched_off, strict=True)
        if not text and (own or off)
    ]
    if missing:
        detail = " / ".join(repr(own) for own, text in zip(wanted, used, strict=True) if own and not text)
        yield Cause("no_instruction", name, detail=detail)
