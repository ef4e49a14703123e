"""Answers that were written from retrieved passages, and what judges said of them.

A table of answers is a pandas frame, one row an answer. Its columns, of which only the first three are required:

* ``query``, ``system``: which question was answered, and what retrieved the passages;
* ``verdict``: of a judge, one of :data:`VERDICTS`; ``second`` and ``careful`` are those of another and of a careful
  judge, empty where there is none;
* ``nuggets``: the share of the vital nuggets that the answer states, half for one stated in part (Voorhees 2003);
* ``useful``: the share of the sentences with a claim that help to answer, 0 to 1: the precision beside that recall;
* ``support``: the share of the sentences with a claim that the passages they cite bear out, 0 to 1;
* any other, such as ``question``, ``answer``, ``context``, ``confidence``.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers.data.bundled import FOLDER
from helpers.data.formats import read_table
from helpers.data.spans import Span, SpanDataset, load_spans
from helpers.judgements.assessors import Agreement, agreement
from helpers.significance import Interval, bootstrap_interval, corrected_mean, proportion_interval

if TYPE_CHECKING:
    import pandas as pd

VERDICTS = ("refused", "wrong", "partly", "correct")
BUNDLED = {"answers-en": "pages-en", "answers-zh": "pages-zh"}
SHARES = ("nuggets", "useful", "support")


def load_answers(source: str | Path = "answers-en") -> "pd.DataFrame":
    """Load a table of answers: ``answers-en`` or ``answers-zh``, which are bundled, or a file of JSONL, CSV or Parquet.

    The bundled tables have all columns named above, the verdicts of two judges and those of a careful one on some,
    and: ``answerable``, False where passages with evidence were taken out first; ``question``; ``facts``, its nuggets;
    ``answer``; ``context``, spans of the documents as they were handed over; ``ranking``, the first ten chunks of the
    system's ranking; ``score``, the largest cosine of question and passage; ``confidence``, the writer's own, 0 to
    100. Shares are those of the first judge; a refusal has no support and no use.

    ``attrs["sha256"]`` of the frame is the SHA-256 of the files.

    Raises:
        ValueError: a column is missing, a verdict is none of the four, or a share is not between 0 and 1.
    """
    import pandas as pd

    if str(source) in BUNDLED:
        frame = pd.DataFrame(_bundled(str(source)))
        files = sorted((FOLDER / str(source)).glob("*.jsonl"))
        frame.attrs["sha256"] = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        return frame
    table = read_table(path := Path(source).expanduser())
    frame = pd.DataFrame(dict(table.columns))
    frame.attrs["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    if missing := [name for name in ("query", "system", "verdict") if name not in frame]:
        raise ValueError(f"{table.source}: no column {' and no '.join(map(repr, missing))}; it has {table.listed}.")
    for name in ("verdict", "second", "careful"):
        if name in frame:
            frame[name] = [str(cell).strip().lower() if cell else "" for cell in frame[name]]
            allowed = VERDICTS if name == "verdict" else (*VERDICTS, "")
            if (wrong := ~frame[name].isin(allowed)).any():
                row = int(np.argmax(wrong))
                raise ValueError(
                    f"{table.source}, row {row + 1}: {name} is {frame[name][row]!r}; expected {', '.join(VERDICTS)}."
                )
    for name in SHARES:
        if name in frame:
            frame[name] = pd.to_numeric(frame[name].replace("", None))
            if ((frame[name] < 0) | (frame[name] > 1)).any():
                raise ValueError(f"{table.source}: {name} has values outside 0 to 1; give shares.")
    return frame


def contexts(answers: "pd.DataFrame", system: str, data: SpanDataset) -> list[list[Span]]:
    """Return what a system handed over for each query of a collection, for :func:`helpers.chunks.evidence`."""
    rows = answers[answers["system"] == system].set_index("query")["context"]
    return [rows[query] for query in data.query_ids]


def correct(answers: "pd.DataFrame", judge: str = "verdict") -> "pd.DataFrame":
    """Return 1 for a correct answer and 0 for any other: a row a query, a column a system; NaN where none is judged."""
    judged = answers[answers[judge].isin(VERDICTS)]
    if (twice := judged.duplicated(["query", "system"])).any():
        query, system = judged.loc[twice, ["query", "system"]].iloc[0]
        raise ValueError(f"System {system!r} has several answers to query {query!r}: give each run a name of its own.")
    value = (judged[judge] == "correct").astype(float)
    return judged.assign(value=value).pivot(index="query", columns="system", values="value")


def answer_table(answers: "pd.DataFrame") -> "pd.DataFrame":
    """Score each system: the number of its answers, the share of each verdict, and the means of the shares.

    ``low`` and ``high`` are the ends of the 95 % interval of ``correct``, by Wilson's method.
    """
    import pandas as pd

    rows = {}
    for system, group in answers.groupby("system", sort=False):
        row: dict[str, float] = {"answers": len(group)}
        found = proportion_interval(group["verdict"] == "correct")
        row |= {"correct": found.mean, "low": found.low, "high": found.high}
        row |= {verdict: (group["verdict"] == verdict).mean() for verdict in reversed(VERDICTS[:3])}
        rows[system] = row | {name: group[name].mean() for name in SHARES if name in group}
    return pd.DataFrame.from_dict(rows, orient="index").astype({"answers": int})


def judges(answers: "pd.DataFrame", first: str = "verdict", second: str = "second") -> Agreement:
    """Return the agreement of two judges on which answers are correct, over the answers that both judged.

    The interval is a bootstrap over the questions, see :func:`helpers.judgements.agreement`.
    """
    both = answers[answers[first].isin(VERDICTS) & answers[second].isin(VERDICTS)].reset_index(drop=True)
    right = [(both[judge] == "correct").astype(int).groupby(both["query"], sort=False) for judge in (first, second)]
    ours, theirs = ({query: rows.to_dict() for query, rows in groups} for groups in right)
    return agreement(ours, theirs)


def difference(answers: "pd.DataFrame", first: str, second: str) -> "dict[str, Interval]":
    """Compare two systems by the share of correct answers: first minus second, on the queries of both.

    Returns:
        The difference with its 95 % interval by each judge who saw all these answers, ``verdict`` and ``second``; and,
        if a careful judge saw both answers to at least two queries, ``corrected``: the mean of the two judges,
        corrected by what he says otherwise, see :func:`helpers.significance.corrected_mean`.
    """
    found, tables = {}, []
    for judge in ("verdict", "second"):
        if judge in answers:
            tables.append((table := correct(answers, judge))[first] - table[second])
            found[judge] = bootstrap_interval(tables[-1].dropna())
    if "careful" in answers:
        table = correct(answers, "careful").reindex(columns=[first, second])
        careful = (table[first] - table[second]).dropna()
        cheap = sum(tables[1:], tables[0]).dropna() / len(tables)
        if len(careful) > 1:
            rows = cheap.index.get_indexer(careful.index)
            found["corrected"] = corrected_mean(cheap.to_numpy(), careful.to_numpy(), rows)
    return found


def _bundled(name: str) -> Iterator[dict[str, object]]:
    """Join a bundled collection's answers, nuggets and judgements: yield a row for each answer."""

    def lines(file: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (FOLDER / name / file).read_text(encoding="utf-8").splitlines()]

    def spans(places: list[tuple[str, int, int]]) -> list[Span]:
        return [Span(rows_of[document], start, end) for document, start, end in places]

    between = " " if name == "answers-en" else ""  # sentences
    data = load_spans(BUNDLED[name])
    rows_of = {document: row for row, document in enumerate(data.document_ids)}
    questions = dict(zip(data.query_ids, data.queries, strict=True))
    nuggets: dict[str, list[dict[str, str]]] = {}
    for nugget in lines("nuggets.jsonl"):
        nuggets.setdefault(nugget["query"], []).append(nugget)
    ranked = {(line["query"], line["system"]): line["chunks"] for line in lines("rankings.jsonl")}
    judged = {(line["answer"], line["judge"]): line for line in lines("judgements.jsonl")}
    for line in lines("answers.jsonl"):
        first, second = (judged[line["id"], judge] for judge in ("first", "second"))
        claims = [one for one in first["sentences"] if one[0] != "none" and first["verdict"] != "refused"]
        own = nuggets[line["query"]]
        careful = judged.get((line["id"], "careful"), {"verdict": ""})
        yield {
            "query": line["query"],
            "system": line["system"],
            "answerable": line["answerable"],
            "question": questions[line["query"]],
            "facts": [f"{nugget['importance']}: {nugget['text']}" for nugget in own],
            "answer": between.join(sentence for sentence, _ in line["sentences"]),
            "verdict": first["verdict"],
            "second": second["verdict"],
            "careful": careful["verdict"],
            "nuggets": np.array(first["nuggets"])[[nugget["importance"] == "vital" for nugget in own]].mean(),
            "support": np.mean([support == "yes" for support, _ in claims]) if claims else np.nan,
            "useful": np.mean([useful for _, useful in claims]) if claims else np.nan,
            "score": np.nan if line["score"] is None else line["score"],
            "confidence": line["confidence"],
            "context": spans(line["context"]),
            "ranking": spans(ranked.get((line["query"], line["system"]), [])),
        }
