"""The results of systems on one collection: means with intervals, paired tests, and files that other programs read."""

import csv
import hashlib
import io
import json
import re
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import numpy as np

from helpers._io import as_cell
from helpers._optional import Note
from helpers.data import RetrievalDataset
from helpers.data.runs import RunTable
from helpers.data.trec import as_qrels, write_qrels, write_run
from helpers.metrics import Evaluation, evaluate
from helpers.provenance import provenance
from helpers.report.spec import Record
from helpers.systems.pipeline import Ranking

if TYPE_CHECKING:
    import pandas as pd

    from helpers.significance import Interval

SCHEMA = 3  # of results.json; it grows when a key changes its meaning or goes
WRITTEN = {"ndcg": "nDCG", "mrr": "MRR", "map": "MAP", "err": "ERR", "rbp": "RBP"}  # others are words, in lower case


def base_of(metric: str) -> str:
    """Return the name of a metric without its options and cutoff."""
    return re.split(r"[(@]", metric, maxsplit=1)[0]


def cutoff_of(metric: str, default: int = 0) -> int:
    """Return the cutoff of a metric, the default where its name has none."""
    return int(metric.partition("@")[2] or default)


def shown(metric: str) -> str:
    """Write a metric as texts do: nDCG@10, MRR@10; those that are words stay in lower case."""
    base = base_of(metric)
    return WRITTEN.get(base, base) + metric[len(base) :]


def evaluate_quietly(*rankings: Any, **settings: Any) -> Evaluation:
    """Evaluate without warnings: the notes and causes of a report say the same, by id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return evaluate(*rankings, **settings)


@dataclass(frozen=True)
class Stages:
    """The candidates of a fusion or reranking, and the answers that it loses."""

    candidates: float  # passages a query, on average
    recall: float  # of the candidates, whatever their order
    ceiling: float  # the main metric of the candidates in the order of their grades, which no other order exceeds
    losses: dict[str, float]  # share of queries by outcome, see :func:`helpers.systems.lost_by_stage`


@dataclass(frozen=True)
class Result:
    """The result of one system; ``ranking`` and ``evaluation`` are None where it failed."""

    name: str  # in tables
    metadata: Record  # kind, place, options and the facts of its model
    ranking: Ranking | None = field(default=None, repr=False)
    # The id of each row of the ranking, beyond those of the corpus the documents of a run alone; of a run that a file
    # holds, those in the first place.
    doc_ids: Sequence[str] | Mapping[int, str] = field(default=(), repr=False)
    is_run: bool = False  # read from a run file, and scored to its end
    evaluation: Evaluation | None = field(default=None, repr=False)
    stages: Stages | None = None  # of a fusion or reranking, where it loses answers
    notes: Sequence[Note] = ()  # warnings, each once
    error: str | None = None  # why it failed


@dataclass(frozen=True)
class Cause:
    """A choice that another evaluation may make otherwise."""

    name: str  # a key of :data:`helpers.report.causes.CAUSES`
    system: str | None = None  # whose ranking it concerns; None for a cause in the data, which concerns all
    count: int | None = None  # passages, queries or judgements; None where nothing is counted, or was not
    of: int | None = None  # of how many
    detail: str = ""  # the instruction, pooling, type of numbers, level, or the kind of item that was left out


@dataclass(frozen=True)
class Comparison:
    """The results of several systems on one collection, tables of them, and their files."""

    data: RetrievalDataset
    results: dict[str, Result]  # by the names of the systems, in their order
    metrics: Sequence[str]  # those computed, the main one before ``judged``
    main: str  # by which systems are ordered and tested
    causes: Sequence[Cause] = ()  # of other numbers elsewhere, see :func:`helpers.report.causes.causes`

    @property
    def scored(self) -> dict[str, Evaluation]:
        """The evaluations of the systems that did not fail, the best by the main metric first."""
        scored = {name: r.evaluation for name, r in self.results.items() if r.evaluation is not None}
        return dict(sorted(scored.items(), key=lambda item: -item[1].mean[self.main]))

    @property
    def failed(self) -> dict[str, str]:
        """Why the others failed."""
        return {name: result.error for name, result in self.results.items() if result.error is not None}

    @cached_property
    def intervals(self) -> dict[str, dict[str, "Interval"]]:
        """The interval of each mean, by system and metric."""
        from helpers.significance import intervals

        values = [evaluation.per_query[metric] for evaluation in self.scored.values() for metric in self.metrics]
        spreads = iter(intervals(np.transpose(values)))
        return {name: {metric: next(spreads) for metric in self.metrics} for name in self.scored}

    def table(self) -> "pd.DataFrame":
        """Every system by every metric, the best by the main one first, its interval beside it; failed ones last."""
        import pandas as pd

        rows: dict[str, dict[str, float]] = {}
        for name, evaluation in self.scored.items():
            rows[name] = {metric: evaluation.mean[metric] for metric in self.metrics}
            spread = self.intervals[name][self.main]
            rows[name] |= {f"{self.main} low": spread.low, f"{self.main} high": spread.high}
        rows |= {name: {} for name in self.failed}
        return pd.DataFrame.from_dict(rows, orient="index")

    def paired(self) -> "pd.DataFrame":
        """Compare the best system with every other: a row each, see :meth:`tests`."""
        import pandas as pd

        return pd.DataFrame.from_dict(self.tests, orient="index")

    @cached_property
    def tests(self) -> dict[str, dict[str, float]]:
        """The comparison of the best system with every other on the same queries, by the main metric.

        Columns, by the name of the other system: ``difference`` of the means, the best minus the other, with its
        interval ``low`` to ``high`` (bootstrap); on how many queries the best is ``better`` and ``worse``; ``p`` of the
        paired randomisation test, exact where few queries differ; ``smallest p``, below which it cannot fall with so
        few; ``sd``, the standard deviation of the differences, and ``detectable``, the smallest difference that so many
        queries show with a power of 0.8 (0 where all differences are equal); and, where there are several tests,
        ``adjusted p`` of the randomised Tukey HSD test of all pairs, which allows for choosing the best system after
        the scores were seen, and is never below ``p``. Empty with fewer than two systems.
        """
        from helpers.significance import minimum_detectable_difference, paired_rows, tukey_hsd

        scores = {name: evaluation.per_query[self.main] for name, evaluation in self.scored.items()}
        if len(scores) < 2:
            return {}
        (_, best), *others = scores.items()
        rows = paired_rows(best, dict(others))
        if len(others) > 1:
            for row, p in zip(rows.values(), tukey_hsd(np.array(list(scores.values())))[0, 1:], strict=True):
                row["adjusted p"] = max(float(p), row["p"])
        for name, row in rows.items():
            row["sd"] = sd = float(np.std(best - scores[name], ddof=1))
            row["detectable"] = sd and minimum_detectable_difference(sd, len(best))
        return rows

    def save(self, folder: str | Path, pages: Mapping[str, str] | None = None) -> list[Path]:
        """Write a report into a folder in place of an earlier one, which stays until all of the new one is written.

        Blanks in ids become %20, which TREC's format cannot hold; % becomes %25 where an id has a blank. A run that a
        file holds is not written again. Returned are the files: those of ``pages``, text by name, ``results.json``,
        ``per_query.csv``, ``qrels.trec``, and ``run.trec`` of a single system or ``run.NAME.trec`` of each of several.
        """
        data, runs, folder = self.data, run_names(self), Path(folder)
        record = json.dumps(as_record(self), ensure_ascii=False, indent=1, allow_nan=False)
        texts = {**(pages or {}), "results.json": f"{record}\n", "per_query.csv": _per_query(self)}
        files = [*texts, "qrels.trec", *runs.values()]
        blanks = r"[\s%]" if any(re.search(r"\s", name) for name in (*data.query_ids, *data.doc_ids)) else r"\s"
        query_ids, doc_ids = _quoted(data.query_ids, blanks), _quoted(data.doc_ids, blanks)
        name = "a temporary folder"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".report.", dir=folder) as part:
                for name, text in texts.items():
                    Path(part, name).write_bytes(text.encode())
                name = "qrels.trec"
                write_qrels(Path(part, name), as_qrels(data.qrels, query_ids, doc_ids))
                for system, name in runs.items():
                    result = self.results[system]
                    if result.ranking is not None:
                        names = _quoted(cast(Sequence[str], result.doc_ids), blanks) if result.is_run else doc_ids
                        run = RunTable.of_rows(result.ranking.ids, result.ranking.scores, query_ids, names)
                        write_run(Path(part, name), run, re.sub(r"\s+", "_", system) or "run")
                for name in reversed(files):  # the page last: by it people see that there is a report
                    Path(part, name).replace(folder / name)
        except OSError as error:
            raise OSError(
                f"Cannot write {name} into the folder {str(folder)!r} ({error.strerror or error}): free some space "
                "there or choose another folder."
            ) from None
        return [folder / name for name in files]


def run_names(comparison: Comparison) -> dict[str, str]:
    """Return each system's file, ``run.trec``, or of several ``run.NAME.trec``: none that a run was read from."""
    results, files = comparison.results, dict[str, str]()
    own = [name for name, one in results.items() if one.evaluation and one.metadata["kind"] != "run"]
    if len(results) == 1:
        return dict.fromkeys(own, "run.trec")
    given = {one.metadata["where"] for one in results.values()}  # of runs the name of the file
    for name in own:
        bare = re.sub(r"^run\.|(\.(trec|run|txt|gz))+$", "", name)
        plain = re.sub(r"[^\w.-]+", "-", bare).strip("-.")[:80] or "system"
        tried = [f"run.{plain}.trec", *(f"run.{plain}.{n}.trec" for n in range(2, 2 * len(results) + 2))]
        files[name] = next(file for file in tried if file not in {*given, *files.values()})
    return files


def data_digests(data: RetrievalDataset) -> dict[str, str]:
    """Return the digest that must be equal in two reports: of the data, or of judgements without texts."""
    if not data.judged_alone:
        return {"sha256": data.sha256}
    judged, doc_ids = zip(data.query_ids, data.qrels, strict=True), data.doc_ids
    lines = sorted((q, sorted((doc_ids[row], grade) for row, grade in grades.items())) for q, grades in judged)
    return {"qrels_sha256": hashlib.sha256(json.dumps(lines, ensure_ascii=False).encode()).hexdigest()}


def as_record(comparison: Comparison) -> Record:
    """Return the content of ``results.json``; docs/site/_root/tasks.md documents every key."""
    data = comparison.data
    return {
        "schema": SCHEMA,
        "data": {
            "name": data.name, "sha256": data.sha256, **data_digests(data), "split": data.split,
            "queries": len(data.queries), "passages": len(data.corpus), "merged": data.merged,
            "all_queries": data.all_queries or len(data.queries), "all_passages": data.all_passages or len(data.corpus),
            "titled": data.titled, "skipped": dict(data.skipped), "relevance_level": data.relevance_level,
            "judgements": sum(map(len, data.qrels)), "without_text": len(data.ids_without_text),
            "unused": dict(data.unused),
        },
        "metrics": list(comparison.metrics),
        "main": comparison.main,
        "level": 0.95,
        "systems": [_system(comparison, result) for result in comparison.results.values()],
        "tests": [
            {"metric": comparison.main, "reference": next(iter(comparison.scored)), "system": name}
            | {key.replace(" ", "_"): value for key, value in row.items()}
            for name, row in comparison.tests.items()
        ],
        "causes": [asdict(cause) for cause in comparison.causes],
        "made_with": provenance(),
    }  # fmt: skip


def _system(comparison: Comparison, result: Result) -> Record:
    record: Record = {
        "name": result.name, **result.metadata, "error": result.error, "notes": [note.text for note in result.notes],
    }  # fmt: skip
    if result.evaluation is None:
        return record
    record["scores"] = {}
    for metric, mean in result.evaluation.mean.items():
        spread = comparison.intervals[result.name][metric]
        record["scores"][metric] = {"mean": mean, "low": spread.low, "high": spread.high}
    for key in ("queries", "no_relevant", "missing", "tied"):
        record[key] = getattr(result.evaluation, key)
    record["run"] = run_names(comparison).get(result.name)
    if result.stages:
        record["stages"] = asdict(result.stages)
    return record


def _per_query(comparison: Comparison) -> str:
    table = io.StringIO()
    lines = csv.writer(table, lineterminator="\n")
    lines.writerow(["system", "query", *comparison.metrics])
    for name, evaluation in comparison.scored.items():
        columns = [evaluation.per_query[metric].tolist() for metric in comparison.metrics]
        for query, *values in zip(comparison.data.query_ids, *columns, strict=True):
            lines.writerow([as_cell(name), as_cell(query), *map(repr, values)])
    return table.getvalue()


def _quoted(names: Sequence[str], signs: str) -> list[str]:
    """Write ids with some signs as % and their code; an empty one, which TREC's format cannot hold either, as %."""
    return [re.sub(signs, lambda sign: quote(sign[0]), name) or "%" for name in names]
