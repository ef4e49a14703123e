"""Reasons why another evaluation may report a different number, each with its count."""

from collections.abc import Iterator

import numpy as np

from helpers.data import RetrievalDataset
from helpers.models.card import family_instructions
from helpers.report.results import Cause, Comparison, Result, cutoff_of

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
    "own_questions": "who-wrote-the-questions",
    "own_id": "a-document-whose-id-is-the-query-s",
    "missing": "the-queries-over-which-the-mean-runs",
    "unjudged": "unjudged-passages",
    "rising": "ties",
    "ties": "ties",
    "truncated": "the-longest-input",
    "instruction": "the-instruction",
    "no_instruction": "the-instruction",
    "pooling": "pooling",
    "scaled": "normalisation",
    "half": "half-precision",
}


def causes(comparison: Comparison) -> list[Cause]:
    """List the causes that apply, in the order of ``CAUSES``."""
    applying = list(_of_data(comparison.data))
    for result in comparison.results.values():
        applying += [*_of_ranking(comparison, result), *_of_model(result, len(comparison.data.corpus))]
    return sorted(applying, key=lambda cause: list(CAUSES).index(cause.name))


def _of_data(data: RetrievalDataset) -> Iterator[Cause]:
    counted = {
        "queries_used": (len(data.queries) if data.all_queries else 0, data.all_queries),
        "passages_used": (len(data.corpus) if data.all_passages else 0, data.all_passages),
        "merged": (data.merged, None),
        "titles": (data.titled, None),
        "unanswered": (len(data.unanswered()), len(data.queries)),
        "own_id": (0 if data.numbered else len(set(data.query_ids) & set(data.corpus_ids)), len(data.queries)),
    }
    for name, (count, of) in counted.items():
        if count:
            yield Cause(name, None, count, of)
    answers = [data.relevant(row) for row in range(len(data.queries))]
    if all(len(rows) == 1 for rows in answers) and len({rows[0] for rows in answers}) == len(data.queries) > 1:
        yield Cause("own_questions", None, len(data.queries), len(data.corpus))  # as in an FAQ
    for kind, count in data.skipped.items():
        yield Cause("left_out", None, count, None, kind)
    grades = [grade for judged in data.qrels for grade in judged.values()]
    if low := sum(0 < grade < data.relevance_level for grade in grades):
        yield Cause("level", None, low, len(grades), str(data.relevance_level))


def _of_ranking(comparison: Comparison, result: Result) -> Iterator[Cause]:
    evaluation, ranking = result.evaluation, result.ranking
    if evaluation is None or ranking is None:
        return
    if evaluation.missing:
        yield Cause("missing", result.name, evaluation.missing, evaluation.queries)
    metric = comparison.metrics[-1]  # judged@k
    k = cutoff_of(metric)
    retrieved = np.minimum(k, (ranking.ids >= 0).sum(axis=1))
    if unjudged := round(float(((1 - evaluation.per_query[metric]) * retrieved).sum())):
        yield Cause("unjudged", result.name, unjudged, int(retrieved.sum()), str(k))
    for note in result.notes:
        if rising := note.values.get("rising"):
            yield Cause("rising", result.name, int(str(rising)), evaluation.queries)
    scores = ranking.scores[:, : k + 1]  # of the k-th and the next too: which of them is among the first k
    equal = (scores[:, 1:] == scores[:, :-1]) & (ranking.ids[:, 1 : k + 1] >= 0)
    if tied := int(equal.any(axis=1).sum()):
        yield Cause("ties", result.name, tied, evaluation.queries, str(k))


def _of_model(result: Result, size: int) -> Iterator[Cause]:
    """Yield the settings of a model, and the instructions that it lacks: off, or on the card of its family."""
    name, record, model = result.name, result.metadata, result.metadata.get("model", {})
    options, truncated = record.get("options", {}), record.get("truncated")
    limits = [str(note.values["limit"]) for note in result.notes if "limit" in note.values]
    if truncated or (truncated is None and limits):
        yield Cause("truncated", name, truncated, size, str(model.get("max_length") or limits[0]))
    used = [model.get(f"{side}_instruction") or "" for side in SIDES]
    if any(used):
        yield Cause("instruction", name, detail=" / ".join(map(repr, used)))
    if "sha256" in model and "files" not in model:  # a model, and no embeddings that were computed elsewhere
        usual = family_instructions(str(model.get("name", "")))
        off = [options.get(f"{side}_instruction") == "" for side in SIDES]
        if any(not text and (want or unset) for text, want, unset in zip(used, usual, off, strict=True)):
            missing = [repr(want) for want, text in zip(usual, used, strict=True) if want and not text]
            yield Cause("no_instruction", name, detail=" / ".join(missing))
    if "pooling" in options:
        yield Cause("pooling", name, detail=str(options["pooling"]))
    if record.get("scaled"):
        yield Cause("scaled", name)
    if record.get("dtype") in HALF:
        yield Cause("half", name, detail=record["dtype"])
