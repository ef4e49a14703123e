"""The report page: one HTML file that needs nothing else and runs no script.

Its words are in words/LANGUAGE.toml, one file a language; its layout is in report.html.jinja.
"""

import contextlib
import importlib.metadata
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from helpers.data import RetrievalDataset
from helpers.provenance import provenance
from helpers.report.causes import CAUSES
from helpers.report.results import Comparison, base_of, shown
from helpers.show.palette import COLOURS, DARK, GREYS
from helpers.show.ranks import failures
from helpers.systems.stages import CUT_OFF, DELIVERED, LOST, NOT_RETRIEVED

FOLDER = Path(__file__).parent
LANGUAGES = tuple(sorted(path.stem for path in (FOLDER / "words").glob("*.toml")))
# Nothing from elsewhere, no script, no form, no other base for links.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
DISTRIBUTION = "retrieval-evaluation-tutorial"
DIFFERS = "differences.html"  # the page of the site on numbers that differ
FAILURES, PAIRS = 10, 5  # queries shown
TEXT = 160  # characters of a text
NAMED = 5  # systems named for one cause
WIDTH = 300  # units across a drawing
SMALL = 0.05
Cell: TypeAlias = str | tuple[str, str]  # a number, and what stands below it


class Grid(NamedTuple):
    """A table of which the first columns are text, so many as ``text``, and the others are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    text: int = 1


@cache
def catalogue(language: str) -> dict[str, dict[str, str]]:
    """Return every word in one language, by section."""
    return tomllib.loads((FOLDER / "words" / f"{language}.toml").read_text(encoding="utf-8"))


def render(
    comparison: Comparison,
    *,
    language: str = "en",
    verdicts: Sequence[tuple[str, str]] = (),
    headline: str = "",
    baseline: bool = False,
) -> str:
    """Return the page of a comparison; everything that comes from data, models or files is escaped.

    ``verdicts`` has of each gate its name and why; ``headline`` comes first, against a ``baseline`` or of two systems.
    """
    import jinja2

    view, differs = View(comparison, language), ""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for url in importlib.metadata.metadata(DISTRIBUTION).get_all("Project-URL") or []:
            if url.startswith("Documentation"):
                differs = f"{url.partition(',')[2].strip().rstrip('/')}/{view.words['site']}/{DIFFERS}"
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    templates.globals |= {"policy": POLICY, "palette": COLOURS | GREYS, "dark": DARK}
    return templates.get_template("report.html.jinja").render(
        title=view.title(), view=view, w=view.words, verdicts=verdicts, headline=headline,
        main=shown(comparison.main), number=number, differs=differs, width=WIDTH, lead=baseline or not headline,
    )  # fmt: skip


@dataclass(frozen=True)
class View:
    """The sections of the page of a comparison: text and numbers, ready for the template."""

    comparison: Comparison
    language: str = "en"  # one of ``LANGUAGES``

    @property
    def words(self) -> dict[str, str]:
        """The words of headings, sentences and columns."""
        return catalogue(self.language)["page"]

    @property
    def names(self) -> list[str]:
        """The systems that were scored, the best first."""
        return list(self.comparison.scored)

    def title(self) -> str:
        """Name the systems and the data."""
        w, names = self.words, list(self.comparison.results)
        several = w["two" if len(names) == 2 else "and_more"] if len(names) > 1 else "{first}"
        systems = several.format(first=names[0], second=names[-1], more=len(names) - 1, all=len(names))
        return w["title"].format(systems=systems, data=self.comparison.data.name)

    def summary(self, lead: bool = True) -> list[str]:
        """Return the sentences on the best system, and how sure its ``lead`` is, which a headline may say already."""
        c, w = self.comparison, self.words
        if not self.names:
            return [w["summary_none"]]
        best = self.names[0]
        spread, mean = c.intervals[best][c.main], number(c.scored[best].mean[c.main])
        sentences = [
            w["summary_runs" if c.data.judged_alone else "summary_one"].format(
                best=best, metric=shown(c.main), mean=mean, low=number(spread.low), high=number(spread.high),
                queries=c.scored[best].queries, passages=f"{len(c.data.corpus):,}",
            )
        ]  # fmt: skip
        answers = {p for grades in c.data.qrels for p, grade in grades.items() if grade >= c.data.relevance_level}
        if len(answers) == len(c.data.corpus) > 1 and not c.data.judged_alone:
            sentences.append(w["summary_answers"])
        if (rows := c.tests) and lead:
            row = next(iter(rows.values()))
            p, which = row.get("adjusted p", row["p"]), w["adjusted_p" if "adjusted p" in row else "plain_p"]
            key = "summary_clear" if p < SMALL else "summary_open"
            sentence = w[key if row["better"] or row["worse"] else "summary_equal"]
            fields = {field: number(row[field]) for field in ("difference", "low", "high")}
            sentences.append(sentence.format(second=self.names[1], which=which, p=p_text(p), **fields))
        return sentences

    def evaluated(self) -> list[tuple[str, str]]:
        """Return the facts of the collection, a line each."""
        w, data = self.words, self.comparison.data
        zero = sum(not data.relevant(row) for row in range(len(data.queries)))
        used = w["queries_used" if zero else "queries_all"].format(used=f"{len(data.queries):,}", zero=zero)
        judged = sum(map(len, data.qrels))
        answers = len({p for grades in data.qrels for p, grade in grades.items() if grade > 0})
        return [
            (w["data"], data.name),
            *([(w["split"], data.split)] if data.split else []),
            (w["queries"], used),
            (w["judged_documents" if data.judged_alone else "passages"], f"{len(data.corpus):,}"),
            *changes(data, self.language),
            (w["judgements"], w["judged_each"].format(n=f"{judged:,}", mean=f"{judged / len(data.queries):.1f}")),
            (w["level"], str(data.relevance_level)),
            (w["answers"], f"{answers:,}"),
            (w["digest"], data.sha256),
        ]

    def definitions(self) -> list[tuple[str, str]]:
        """Return each metric with its meaning in a line."""
        texts, rows = catalogue(self.language)["metrics"], {}
        for metric in [self.comparison.main, *self.comparison.metrics]:
            name = "ndcg_exponential" if metric.startswith("ndcg(gain=exponential)") else base_of(metric)
            if name in texts:
                among, k = (self.words["among"], "@k") if "@" in metric else ("", "")
                rows[shown(metric.partition("@")[0]) + k] = texts[name].format(among=among)
        return list(rows.items())

    def scores(self) -> Grid:
        """Return every system by every metric, the main one first."""
        c, rows = self.comparison, list[list[Cell]]()
        metrics = dict.fromkeys([c.main, *c.metrics])
        for name, e in c.scored.items():
            ends = {metric: f"{number(own.low)}–{number(own.high)}" for metric, own in c.intervals[name].items()}
            del ends[c.metrics[-1]]  # a share that is judged
            rows.append([name, *((number(e.mean[metric]), ends.get(metric, "")) for metric in metrics)])
        return Grid([self.words["system"], *map(shown, metrics)], rows)

    def causes(self) -> list[tuple[str, str, list[str]]]:
        """Return each cause of another number: the section that explains it, a sentence, counts."""
        w, sentences, kinds = (catalogue(self.language)[section] for section in ("page", "causes", "skipped"))
        rows: dict[tuple[str, str], list[str]] = {}
        for cause in self.comparison.causes:
            if cause.count is None:
                value = w["uncounted" if cause.name == "truncated" else "yes"]
            else:
                value = f"{cause.count:,}"
                value = w["count_of"].format(count=value, of=f"{cause.of:,}") if cause.of else value
            sentence = sentences[cause.name].format(detail=kinds.get(cause.detail, cause.detail))
            counts = rows.setdefault((CAUSES[cause.name], sentence), [])
            counts.append(w["named"].format(system=cause.system, value=value) if cause.system else value)
        for counts in rows.values():
            if len(counts) > NAMED + 1:
                counts[NAMED:] = [w["more"].format(n=len(counts) - NAMED)]
        return [(section, sentence, counts) for (section, sentence), counts in rows.items()]

    def tests(self) -> tuple[Grid, list[str]] | None:
        """Return the best system against the others, and the notes that the table needs; None without another."""
        w, tests = self.words, self.comparison.tests
        if not tests:
            return None
        several = len(tests) > 1
        header = [w["system"], w["difference"], w["interval"], w["detectable"], w["better_worse"], w["p"]]
        rows = [
            [name, number(row["difference"]), w["interval_of"].format(low=number(row["low"]), high=number(row["high"])),
             w["detectable_of"].format(value=number(row["detectable"]), sd=number(row["sd"])),
             f"{row['better']} / {row['worse']}", p_text(row["p"]),
             *([p_text(row["adjusted p"])] if several else [])]
            for name, row in tests.items()
        ]  # fmt: skip
        notes = [w["detectable_note"].format(n=self.comparison.scored[self.names[0]].queries), w["exact_note"]] + (
            [w["adjusted_note"].format(n=len(tests))] if several else []
        )
        for name, row in tests.items():
            differing, floor = row["better"] + row["worse"], row["smallest p"]
            if differing > 0 and floor > SMALL:
                notes.append(w["floor_note"].format(system=name, n=differing, floor=p_text(floor)))
        return Grid([*header, *([w["adjusted"]] if several else [])], rows), notes

    def wins(self) -> list[tuple[str, Grid]]:
        """Return the queries on which the two best systems differ most, either way."""
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
                tables.append((caption, Grid([w["id"], w["query"], a, b], listed, 2)))
        return tables

    def failures(self) -> tuple[str, Grid] | None:
        """Return the queries whose first passage is not relevant, of the best system; None where none was scored."""
        result = self.comparison.results[self.names[0]] if self.names else None
        if result is None or result.ranking is None:
            return None
        w, data = self.words, self.comparison.data
        first = failures(data, result.ranking.ids)
        wrong, rows = [row for row in first if data.relevant(row)], []
        beyond = w["beyond"].format(depth=result.ranking.ids.shape[1])
        for row in wrong[:FAILURES]:
            passage, top = int(result.ranking.ids[row, 0]), (w["nothing"], "")
            if passage >= 0:
                text = short(data.corpus[passage]) if passage < len(data.corpus) else str(result.doc_ids[passage])
                top = text, str(data.qrels[row].get(passage, w["not_judged"]))
            rows.append([data.query_ids[row], short(data.queries[row]), str(first[row] or beyond), *top])
        note = w["failures_note"].format(system=self.names[0], shown=len(rows), all=len(wrong))
        header = [w["id"], w["query"], w["first_hit"], w["instead"], w["grade"]]
        return (note if rows else w["no_failures"]), Grid(header, rows, len(header))

    def gaps(self) -> tuple[float, list[tuple[str, str, list[float]]]] | None:
        """Return where 0 lies, and how far the best system is ahead of each other one; None without another.

        Of each its name, the difference as text, and where a line begins, is marked and ends, in ``WIDTH`` units.
        """
        tests = self.comparison.tests
        if not tests:
            return None
        keys = ("low", "difference", "high")
        ends = [0.0, *(row[key] for row in tests.values() for key in keys)]
        low = min(ends)
        scale = WIDTH / (max(ends) - low or 1.0)
        return -low * scale, [
            (n, number(row["difference"]), [(row[key] - low) * scale for key in keys]) for n, row in tests.items()
        ]

    def stages(self) -> Grid | None:
        """Return, of each fusion and reranking, its candidates, their best order and where answers are lost."""
        c, w = self.comparison, self.words
        rows: list[list[Cell]] = []
        for name in self.names:
            if stages := c.results[name].stages:
                lost = {k.removeprefix(LOST): v for k, v in stages.losses.items() if k.startswith(LOST) and v}
                where = w["comma"].join(f"{stage} {percent(share)}" for stage, share in lost.items())
                before, *after = (percent(stages.losses[key]) for key in (NOT_RETRIEVED, CUT_OFF, DELIVERED))
                by_stage = percent(sum(lost.values())), where
                candidates = f"{stages.candidates:,.0f}", number(stages.recall), number(stages.ceiling)
                rows.append([name, *candidates, number(c.scored[name].mean[c.main]), before, by_stage, *after])
        keys = ("candidates", "recall_of_them", "ceiling", "reached", "not_retrieved", "lost", "cut_off", "delivered")
        header = [w["system"], *(w[key].format(metric=shown(c.main)) for key in keys)]
        return Grid(header, rows) if rows else None

    def notes(self) -> list[tuple[str, str, str]]:
        """Return the warnings: a system, a sentence, and in English a message that the catalogue lacks."""
        known, foreign = catalogue(self.language)["notes"], self.words["foreign_note"]
        return [
            (name, known[n.template].format_map(n.values), "") if n.template in known else (name, foreign, n.text)
            for name, result in self.comparison.results.items()
            for n in result.notes
        ]

    def made_with(self) -> list[tuple[str, str]]:
        """Return versions, models and files behind the numbers."""
        w, record = self.words, provenance()
        rows = [(w["date"], str(record["date"])), ("Python", str(record["python"])), *record["packages"].items()]
        return rows + [(name, w["comma"].join(facts(own.metadata))) for name, own in self.comparison.results.items()]


def changes(data: RetrievalDataset, language: str) -> list[tuple[str, str]]:
    """List how data differ from their source, which changes a number that others publish."""
    w, kinds = (catalogue(language)[section] for section in ("page", "skipped"))
    counts = {w["merged"]: data.merged, w["without_text"]: len(data.ids_without_text)}
    counts |= {w["skipped"].format(kind=kinds.get(kind, kind)): count for kind, count in data.skipped.items()}
    unused = [(w["unused"].format(file=file), ", ".join(names)) for file, names in data.unused.items()]
    return [*((label, f"{count:,}") for label, count in counts.items() if count), *unused]


def facts(record: Mapping[str, object], within: str = "") -> list[str]:
    """List the facts of a system under their keys in results.json, without those that are empty."""
    rows = []
    for key, value in record.items():
        if isinstance(value, Mapping):
            rows += facts(value, f"{within}{key}.")
        elif value not in (None, "", [], ()):
            rows.append(f"{within}{key} = {', '.join(map(str, value)) if isinstance(value, list) else value}")
    return rows


def number(value: float) -> str:
    """Write a score to three places, without a minus before 0."""
    return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")


def percent(share: float) -> str:
    """Write a share as a percentage to one place."""
    return f"{100 * share:.1f} %"


def p_text(value: float) -> str:
    """Write a p-value: four places, or that it is smaller."""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def short(text: str) -> str:
    """Return a text on one line, a dash between its title and the rest, cut to the width of a cell."""
    line = " – ".join(" ".join(part.split()) for part in text.strip().split("\n", 1))
    return line if len(line) <= TEXT else line[: TEXT - 1].rstrip() + "…"
