"""What a report shows of a comparison: tables of plain text and numbers, ready for the template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from helpers.show.cost_view import cost_table, made_with
from helpers.show.messages import CAUSES, NOTES_ZH, SKIPPED, VERDICTS_ZH, translated
from helpers.show.tables import first_relevant_ranks
from helpers.show.words import LANGUAGES, TYPES_ZH, definition, shown, words
from helpers.significance import interval
from helpers.systems import Comparison, Result
from helpers.systems.causes import CAUSES as SECTIONS
from helpers.systems.causes import Cause, causes, tied_at

FAILURES, PAIRS = 10, 5  # queries shown
TEXT = 160  # characters of a text
SMALL = 0.05


class Table(NamedTuple):
    """A table of text: the first column names the row; ``numbers`` says which columns stand to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numbers: Sequence[int] = ()


class Cell(NamedTuple):
    """A number with its interval below it."""

    main: str
    below: str = ""


class Remark(NamedTuple):
    """What is said of a system; ``original`` is a message that stays as it came, in English."""

    system: str
    text: str
    original: str = ""


@dataclass(frozen=True)
class View:
    """Makes every section of the page of a comparison.

    Attributes:
        comparison: what was measured.
        language: "en" or "zh".
        types: the type of a query by its id, for the slices.
    """

    comparison: Comparison
    language: str = "en"
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> dict[str, str]:
        """The words of the page."""
        return words(self.language)

    @property
    def names(self) -> list[str]:
        """The systems that were scored, the best first."""
        return list(self.comparison.scored)

    def title(self) -> str:
        """Name the systems and the data."""
        given, w = list(self.comparison.results), self.words
        shown = given[0] if len(given) == 1 else w["and_more"].format(first=given[0], more=len(given) - 1)
        if len(given) == 2:
            shown = (" / " if self.language == "en" else "与").join(given)
        elif self.language == "zh" and len(given) > 2:
            shown = w["and_more"].format(first=given[0], more=len(given))
        return w["title"].format(systems=shown, data=self.comparison.data.name)

    def summary(self) -> list[str]:
        """Say which system is best, how sure that is, and which failed."""
        c, w = self.comparison, self.words
        failed = [w["summary_failed"].format(names=w["comma"].join(c.failed))] if c.failed else []
        if not self.names:
            return [w["summary_none"], *failed]
        best = self.names[0]
        found, mean = c.intervals[best][c.main], number(c.scored[best].mean[c.main])
        if found is None:
            return [w["summary_single"].format(best=best, metric=shown(c.main), mean=mean), *failed]
        first = w["summary_one"].format(
            best=best, metric=shown(c.main), mean=mean, low=number(found.low), high=number(found.high),
            queries=c.scored[best].queries,
        )  # fmt: skip
        return [first, *self._lead(), *failed]

    def _lead(self) -> list[str]:
        """Say whether the best system is significantly better than the next."""
        if len(self.names) < 2:
            return []
        row = self.comparison.paired().iloc[0]
        p = row.get("adjusted p", row["p"])
        if not row["better"] and not row["worse"]:
            return [self.words["summary_equal"].format(second=self.names[1])]
        key = "summary_clear" if p < SMALL else "summary_open"
        return [
            self.words[key].format(
                second=self.names[1], difference=number(row["difference"]), low=number(row["low"]),
                high=number(row["high"]), p=p_text(p),
            )
        ]  # fmt: skip

    def evaluated(self) -> list[tuple[str, str]]:
        """Say what was evaluated, a line each."""
        c, w, data = self.comparison, self.words, self.comparison.data
        zero = sum(not data.relevant(row) for row in range(len(data.queries)))
        used = w["queries_used" if zero else "queries_all"].format(used=thousands(len(data.queries)), zero=zero)
        judged = sum(map(len, data.qrels))
        answers = len({p for own in data.qrels for p, grade in own.items() if grade > 0})
        rows = [(w["data"], data.name)]
        if data.split:
            rows.append((w["split"], data.split))
        rows += [(w["queries"], used), (w["passages"], thousands(len(data.corpus)))]
        if data.merged:
            rows.append((w["merged"], thousands(data.merged)))
        if data.ids_without_text:
            rows.append((w["without_text"], thousands(len(data.ids_without_text))))
        for what, count in data.skipped.items():
            rows.append((w["skipped"].format(what=self._left_out(what)), thousands(count)))
        each = w["judged_each"].format(n=thousands(judged), mean=f"{judged / len(data.queries):.1f}")
        rows += [(w["judgements"], each), (w["level"], str(data.relevance_level)), (w["answers"], thousands(answers))]
        return [*rows, (w["digest"], data.sha256)] if c.results else rows

    def definitions(self) -> list[tuple[str, str]]:
        """Say in a line what each metric means."""
        kinds = dict.fromkeys(metric.partition("@")[0] for metric in self.comparison.metrics)
        at = {m.partition("@")[0] for m in self.comparison.metrics if "@" in m}
        return [(shown(f"{k}@k" if k in at else k), text) for k in kinds if (text := definition(k, self.language))]

    def scores(self) -> Table:
        """Put every system under one another, a column a metric; those that failed last."""
        c, rows = self.comparison, []
        cutoff = c.metrics[-1].partition("@")[2]
        for name, evaluation in c.scored.items():
            cells = []
            for metric in c.metrics:
                found = c.intervals[name][metric]
                spread = f"{number(found.low)}–{number(found.high)}" if found else ""
                cells.append(Cell(number(evaluation.mean[metric]), "" if metric.startswith("judged") else spread))
            ranking = c.results[name].ranking
            assert ranking is not None
            rows.append([name, *cells, thousands(tied_at(ranking, int(cutoff)))])
        header = [self.words["system"], *map(shown, c.metrics), f"ties@{cutoff}"]
        return Table(header, rows, range(1, len(header)))

    def failed(self) -> list[Remark]:
        """Say which systems failed, at which step, what to do, and the message in English as it came."""
        w, remarks = self.words, []
        for name, error in self.comparison.failed.items():
            result = self.comparison.results[name]
            step, advice = w[f"step_{result.cost.failed_in}"], w[f"advice_{result.failure or 'other'}"]
            remarks.append(Remark(name, w["failed"].format(step=step, advice=advice), error))
        return remarks

    def causes(self) -> list[tuple[str, str, list[str]]]:
        """Say what another evaluation may do otherwise: the section that explains it, what it is, how often where."""
        rows: dict[tuple[str, str], list[str]] = {}
        for cause in causes(self.comparison):
            detail = self._left_out(cause.detail) if cause.name == "left_out" else cause.detail
            said = CAUSES[cause.name][LANGUAGES.index(self.language)].format(detail=detail)
            rows.setdefault((SECTIONS[cause.name], said), []).append(self._counted(cause))
        return [(section, said, counts) for (section, said), counts in rows.items()]

    def _counted(self, cause: Cause) -> str:
        """Say how many, of a system by its name."""
        w, kind = self.words, "uncounted" if cause.name == "truncated" else "yes"
        value = w[kind] if cause.count is None else thousands(cause.count)
        if cause.count is not None and cause.of:
            value = w["count_of"].format(count=value, of=thousands(cause.of))
        return value if cause.system is None else w["named"].format(system=cause.system, value=value)

    def _left_out(self, kind: str) -> str:
        """Name what was left out of a collection."""
        return SKIPPED.get(kind, (kind, kind))[LANGUAGES.index(self.language)]

    def verdicts(self, verdicts: Sequence[Any]) -> list[tuple[bool, str]]:
        """Say which gates were passed, and why."""
        zh = self.language == "zh"
        return [(v.passed, (translated(v.why, VERDICTS_ZH) or v.why) if zh else v.why) for v in verdicts]

    def tests(self) -> tuple[Table, list[str]] | None:
        """Compare the best system with the others; the notes that the table needs. None where there is no other."""
        if len(self.names) < 2 or self.comparison.scored[self.names[0]].queries < 2:
            return None
        w, frame = self.words, self.comparison.paired()
        several = "adjusted p" in frame
        header = [w["system"], w["difference"], w["interval"], w["better_worse"], w["p"]]
        rows = [
            [name, number(row["difference"]), w["interval_of"].format(low=number(row["low"]), high=number(row["high"])),
             f"{int(row['better'])} / {int(row['worse'])}", p_text(row["p"]),
             *([p_text(row["adjusted p"])] if several else [])]
            for name, row in frame.iterrows()
        ]  # fmt: skip
        notes = [w["exact_note"]] + ([w["holm_note"].format(n=len(frame))] if several else [])
        for name, test in self.comparison.tests().items():
            if test.differing > 0 and test.smallest > SMALL:
                notes.append(w["floor_note"].format(system=name, n=test.differing, floor=p_text(test.smallest)))
        return Table([*header, *([w["adjusted"]] if several else [])], rows, range(1, len(header) + several)), notes

    def wins(self) -> list[tuple[str, Table]]:
        """List the queries on which the two best systems differ most, either way."""
        if len(self.names) < 2:
            return []
        c, w = self.comparison, self.words
        a, b = self.names[:2]
        ours, theirs = (c.scored[name].per_query[c.main] for name in (a, b))
        tables = []
        for name, gain in ((a, ours - theirs), (b, theirs - ours)):
            rows = [row for row in np.argsort(-gain, kind="stable")[:PAIRS] if gain[row] > 0]
            listed = [[c.data.query_ids[r], short(c.data.queries[r]), number(ours[r]), number(theirs[r])] for r in rows]
            if rows:
                caption = w["wins_better"].format(a=name, n=int((gain > 0).sum()))
                tables.append((caption, Table([w["id"], w["query"], a, b], listed, (2, 3))))
        return tables

    def slices(self) -> Table | None:
        """Give the main metric by type of query, where there are several types."""
        c, w = self.comparison, self.words
        kinds = np.array([self.types.get(query, w["other"]) for query in c.data.query_ids])
        if len(set(kinds)) < 2 or not self.names:
            return None
        rows = []
        for kind in sorted(set(kinds)):
            own, cells = kinds == kind, []
            for evaluation in c.scored.values():
                values = evaluation.per_query[c.main][own]
                found = interval(values) if len(values) > 1 else None
                cells.append(Cell(number(values.mean()), f"{number(found.low)}–{number(found.high)}" if found else ""))
            label = TYPES_ZH.get(kind, kind) if self.language == "zh" else kind
            rows.append([label, str(int(own.sum())), *cells])
        return Table([w["type"], w["queries"], *self.names], rows, range(1, len(self.names) + 2))

    def failures(self) -> tuple[str, Table] | None:
        """List queries whose first passage is not relevant, of the best system; None where nothing was scored."""
        if not self.names:
            return None
        c, w, result = self.comparison, self.words, self.comparison.results[self.names[0]]
        assert result.ranking is not None
        first = first_relevant_ranks(c.data, result.ranking.ids)
        wrong = [row for row, rank in enumerate(first) if rank != 1 and c.data.relevant(row)]
        wrong.sort(key=lambda row: (-(first[row] or np.inf), row))
        beyond = w["beyond"].format(depth=result.ranking.ids.shape[1])
        rows = [
            [c.data.query_ids[row], short(c.data.queries[row]), str(first[row] or beyond), *self._top(result, row)]
            for row in wrong[:FAILURES]
        ]
        note = w["failures_note"].format(system=self.names[0], shown=len(rows), all=len(wrong))
        header = [w["id"], w["query"], w["first_hit"], w["instead"], w["grade"]]
        return (note if rows else w["no_failures"]), Table(header, rows)

    def _top(self, result: Result, row: int) -> tuple[str, str]:
        """Return what was ranked first for a query, and its grade."""
        data, w = self.comparison.data, self.words
        assert result.ranking is not None
        passage = int(result.ranking.ids[row, 0])
        if passage < 0:
            return w["nothing"], ""
        text = short(data.corpus[passage]) if passage < len(data.corpus) else str(result.doc_ids[passage])
        return text, str(data.qrels[row].get(passage, w["not_judged"]))

    def growth(self) -> dict[str, dict[int, float]]:
        """Give the curves that are not flat, by system."""
        curves = {name: self.comparison.results[name].growth for name in self.names}
        return {name: c for name, c in curves.items() if len(c) > 1 and max(c.values()) - min(c.values()) > 0.005}

    def growth_table(self) -> Table:
        """Give the numbers of the curves."""
        curves = self.growth()
        sizes = sorted({size for curve in curves.values() for size in curve})
        rows = [[thousands(s), *(number(c[s]) if s in c else "" for c in curves.values())] for s in sizes]
        return Table([self.words["passages"], *curves], rows, range(1, len(curves) + 1))

    def cost(self) -> Table:
        """Say what each system cost."""
        return Table(*cost_table(self.comparison, self.words))

    def notes(self) -> list[Remark]:
        """Return the warnings, by system; on a Chinese page one that is not known stays in English, and is marked."""
        found = [(name, note) for name, result in self.comparison.results.items() for note in result.notes]
        if self.language == "en":
            return [Remark(name, note) for name, note in found]
        return [
            Remark(name, known)
            if (known := translated(note, NOTES_ZH))
            else Remark(name, self.words["foreign_note"], note)
            for name, note in found
        ]

    def made_with(self) -> list[tuple[str, str]]:
        """Say what the numbers were made with."""
        return made_with(self.comparison, self.words, self.language)


def number(value: float) -> str:
    """Write a score to three places, without a minus before 0."""
    return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")


def p_text(value: float) -> str:
    """Write a p-value: four places, or that it is smaller."""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def thousands(value: int) -> str:
    """Write a count with separators."""
    return f"{value:,}"


def short(text: str) -> str:
    """Return a text on one line, cut to the width of a cell."""
    line = " ".join(text.split())
    return line if len(line) <= TEXT else line[: TEXT - 1].rstrip() + "…"
