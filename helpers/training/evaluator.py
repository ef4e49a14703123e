"""An evaluator for sentence-transformers' trainer that keeps rankings, and compares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from helpers._optional import from_extra
from helpers.data import RetrievalDataset
from helpers.metrics import evaluate
from helpers.significance import Change, change

with from_extra("report"):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

Grades = Mapping[str, Mapping[str, int]]


class Look(NamedTuple):
    """One evaluation of a model: when it was made, as the trainer counts, and by query the documents, best first."""

    epoch: float
    steps: int
    run: dict[str, list[str]]


class RetrievalEvaluator(InformationRetrievalEvaluator):
    """sentence-transformers' `InformationRetrievalEvaluator`, whose rankings are kept, one look for each call.

    Give it to `SentenceTransformerTrainer(evaluator=…)`, or call it with a model. The means that it returns are its
    parent's. `evaluate(evaluator.looks[-1].run, evaluator.grades, "ndcg@10")` of `helpers.metrics` gives the same but
    for these: the parent knows no grades, so its nDCG is another one where a grade is not 1; it divides average
    precision by min(k, R), not by R; it orders equal scores by id ascending, which both keep here, where trec_eval
    orders them descending. Both leave out queries without a relevant document.
    """

    def __init__(
        self,
        queries: Mapping[str, str],
        corpus: Mapping[str, str],
        relevant_docs: Mapping[str, Sequence[str] | set[str] | Mapping[str, int]],
        *,
        metric: str = "ndcg@10",
        **settings: Any,
    ) -> None:
        """Take texts by id and, by query, its relevant documents or their grades; settings are the parent's.

        `metric` decides in `compare`; its cutoff must be no deeper than the parent ranks, 100 by default.
        """
        grades = {query: dict(docs) if isinstance(docs, Mapping) else dict.fromkeys(docs, 1)
                  for query, docs in relevant_docs.items()}  # fmt: skip
        relevant = {query: {doc for doc, grade in docs.items() if grade > 0} for query, docs in grades.items()}
        self.grades: Grades = {query: grades[query] for query in queries if relevant.get(query)}
        if not self.grades:
            raise ValueError(
                f"No query has a relevant document: the ids of queries (the first is {next(iter(queries), None)!r}) "
                f"and of relevant_docs ({next(iter(relevant_docs), None)!r}) must be the same."
            )
        if unknown := sorted({doc for query in self.grades for doc in relevant[query]} - corpus.keys())[:1]:
            raise ValueError(f"relevant_docs has {unknown[0]!r}, which is not in the corpus: add its text.")
        super().__init__(dict(queries), dict(corpus), relevant, **{"write_csv": False} | settings)
        self.metric, self.looks = metric, list[Look]()
        self._runs: list[dict[str, list[str]]] = []

    @classmethod
    def of(cls, data: RetrievalDataset, **settings: Any) -> RetrievalEvaluator:
        """Return the evaluator of a collection; grades below its relevance level count as not relevant."""
        grades = {
            query: {data.corpus_ids[row]: grade for row, grade in judged.items() if grade >= data.relevance_level}
            for query, judged in zip(data.query_ids, data.qrels, strict=True)
        }
        texts = (
            dict(zip(data.query_ids, data.queries, strict=True)),
            dict(zip(data.corpus_ids, data.corpus, strict=True)),
        )
        return cls(*texts, grades, **settings)

    def compute_metrics(self, queries_result_list: Any) -> Any:
        """Keep the rankings of one score function, in the parent's order, and return the parent's means."""
        run = {}
        for query, hits in zip(self.queries_ids, queries_result_list, strict=True):
            if any(hit["score"] != hit["score"] for hit in hits):
                raise ValueError(
                    f"A score of query {query!r} is NaN: the model's weights or its inputs are not numbers."
                )
            ordered = sorted(hits, key=lambda hit: (-hit["score"], hit["corpus_id"]))
            run[query] = [hit["corpus_id"] for hit in ordered]
        self._runs.append(run)
        return super().compute_metrics(queries_result_list)

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: Any = -1, steps: int = -1, *args: Any, **more: Any
    ) -> dict[str, float]:
        """Rank by a model and return the parent's means; the rankings become the last look."""
        self._runs = []
        means: dict[str, float] = super().__call__(model, output_path, epoch, steps, *args, **more)
        by_function = zip(self.score_functions or (), self._runs, strict=True)
        run = next(run for name, run in by_function if f"{name}_ndcg" in str(self.primary_metric))
        self.looks.append(Look(epoch, steps, run))
        return means

    def compare(self, before: int | None = None, after: int = -1, *, margin: float, looks: int | None = None) -> Change:
        """Compare two looks by `metric`: better, worse, equal within the margin, or how many more queries it takes.

        `looks` is how many comparisons are planned on these queries, by default as many as were made after the first
        look. The default is right for one decision at the end; if you stop at the first "better", give the plan.
        Raises ValueError for fewer than two looks, and for a first one from within training, unless `before` is given.
        """
        if len(self.looks) < 2:
            raise ValueError(f"{len(self.looks)} evaluations were made: call the evaluator before and after training.")
        if before is None and (steps := self.looks[0].steps) > 0:
            raise ValueError(f"The first evaluation was made at step {steps}: call the evaluator before training too.")
        compared = (self.looks[before or 0], self.looks[after])
        [then], [now] = (evaluate(look.run, self.grades, self.metric).per_query.values() for look in compared)
        return change(then, now, margin, looks=looks or len(self.looks) - 1)
