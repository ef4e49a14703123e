"""Reports on several data sets in one page: `python -m helpers.report.suite FOLDER FOLDER …`.

Each folder holds the report of the same systems on one set. Every set counts the same in a mean; a system without a
score on one of them has no mean, and nothing is filled in. Ranks come with intervals.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from helpers._atomic import write_text
from helpers.report.gates import SCHEMA, read_saved
from helpers.report.page import COLUMNS, LANGUAGES, SMALL, Cell, Table, environment, number, p_text, words
from helpers.report.results import shown
from helpers.report.spec import Record, one_line
from helpers.significance import suite_bootstrap, suite_hsd


@dataclass(frozen=True)
class Suite:
    """The scores of systems on several data sets.

    Attributes:
        metric: the metric of the scores.
        scores: by set and system, one for each query, (q,); a system that failed on a set is missing there.
    """

    metric: str
    scores: dict[str, dict[str, np.ndarray]]

    @cached_property
    def systems(self) -> list[str]:
        """The systems with a score on every set, the best by the mean of the sets first."""
        common = [name for name in next(iter(self.scores.values())) if name not in self.incomplete]
        return sorted(common, key=lambda name: -np.mean([scores[name].mean() for scores in self.scores.values()]))

    @cached_property
    def incomplete(self) -> dict[str, list[str]]:
        """The other systems, which have no mean, with the sets on which each has no score."""
        every = dict.fromkeys(name for scores in self.scores.values() for name in scores)
        missing = {name: [data for data, scores in self.scores.items() if name not in scores] for name in every}
        return {name: sets for name, sets in missing.items() if sets}

    @cached_property
    def rows(self) -> dict[str, dict[str, float]]:
        """The mean of each complete system over the sets, and how sure that is.

        ``mean`` with its 95 % interval ``low`` to ``high``; ``best_rank`` and ``worst_rank``, the interval of its
        rank; and beside the first, ``difference``, ``p`` (adjusted for all pairs by
        :func:`helpers.significance.suite_hsd`), on how many sets the first is ``better`` and ``worse``, and
        ``beyond_low`` to ``beyond_high``: Student's interval of the difference if the sets are a sample of others.
        """
        from scipy import stats

        tables = [np.array([scores[name] for name in self.systems]) for scores in self.scores.values()]
        drawn = suite_bootstrap(tables)
        ranks = 1 + (drawn[:, None, :] > drawn[:, :, None] + 1e-12).sum(2)
        (low, high), (best, worst) = (np.percentile(values, [2.5, 97.5], axis=0) for values in (drawn, ranks))
        means = np.array([table.mean(1) for table in tables])  # (sets, systems)
        adjusted = suite_hsd(tables) if len(self.systems) > 1 else np.ones((1, 1))
        rows = {}
        for place, name in enumerate(self.systems):
            gaps = means[:, 0] - means[:, place]
            spread = stats.t.isf(0.025, len(gaps) - 1) * stats.sem(gaps)
            rows[name] = {
                "mean": means[:, place].mean(), "low": low[place], "high": high[place],
                "best_rank": np.floor(best[place]), "worst_rank": np.ceil(worst[place]),
                "difference": gaps.mean(), "p": adjusted[0, place],
                "better": (gaps > 0).sum(), "worse": (gaps < 0).sum(),
                "beyond_low": gaps.mean() - spread, "beyond_high": gaps.mean() + spread,
            }  # fmt: skip
        return {name: {key: float(value) for key, value in row.items()} for name, row in rows.items()}


def read_suite(folders: Sequence[Path], metric: str | None = None) -> Suite:
    """Read the scores of several reports.

    Args:
        folders: of one report each; sets are called by the name of their data, or of the folder where two are alike.
        metric: which score; by default the one that decides in the first report.

    Raises:
        ValueError: fewer than two, the same data twice, no system that all have; as :func:`read_saved`.
    """
    if len(folders) < 2:
        raise ValueError("Give the folders of at least two reports, one a data set.")
    scores: dict[str, dict[str, np.ndarray]] = {}
    digests: dict[str, Path] = {}
    for folder in folders:
        record, saved = read_saved(folder, [metric] if metric else [])
        data, metric = record["data"], metric or record["main"]
        digest = data.get("qrels_sha256", data["sha256"])
        if digest in digests:
            raise ValueError(f"{folder} and {digests[digest]} are of the same data; give each set once.")
        digests[digest] = folder
        name = data["name"] if data["name"] not in scores else folder.name
        scores[name] = {system: np.array(list(rows.values()))[:, 0] for system, rows in saved.items()}
    suite = Suite(str(metric), scores)
    if len(scores) < len(folders) or not suite.systems:
        raise ValueError("No system has a score in every report: give the same names, and each set a name of its own.")
    return suite


def as_record(suite: Suite) -> Record:
    """Return the content of ``suite.json``."""
    sets = {
        name: {system: {"mean": float(v.mean()), "queries": len(v)} for system, v in scores.items()}
        for name, scores in suite.scores.items()
    }
    return {
        "schema": SCHEMA, "metric": suite.metric, "sets": sets, "systems": suite.rows,
        "without_mean": suite.incomplete,
    }  # fmt: skip


def render(suite: Suite, language: str = "en") -> str:
    """Return the page of a suite; everything that comes from data or files is escaped."""
    w, s, rows = words(language)["page"], words(language)["suite"], suite.rows
    first, *others = suite.systems
    equal = [name for name in others if rows[name]["p"] >= SMALL]
    sentence = s["equal" if equal else "clear"] if others else s["alone"]
    best = rows[first]
    summary = [sentence.format(
        best=first, mean=number(best["mean"]), low=number(best["low"]), high=number(best["high"]),
        metric=shown(suite.metric), sets=len(suite.scores), names=w["comma"].join(equal),
    )]  # fmt: skip
    summary += [s["no_mean"].format(name=n, sets=w["comma"].join(sets)) for n, sets in suite.incomplete.items()]
    header = [w["system"], shown(suite.metric), s["rank"], w["difference"], w["adjusted"], w["better_worse"]]
    header.append(s["beyond"])
    lines: list[list[Cell | str]] = []
    for name, row in rows.items():
        compared = [
            number(row["difference"]), p_text(row["p"]), f"{row['better']:.0f} / {row['worse']:.0f}",
            w["interval_of"].format(low=number(row["beyond_low"]), high=number(row["beyond_high"])),
        ]  # fmt: skip
        mean = Cell(number(row["mean"]), f"{number(row['low'])}–{number(row['high'])}")
        ranks = f"{row['best_rank']:.0f} – {row['worst_rank']:.0f}"
        lines.append([name, mean, ranks, *(compared if name != first else ["–"] * len(compared))])
    tables = [Table(header, lines)]
    names = list(suite.scores)
    for start in range(0, len(names), COLUMNS):
        part = names[start : start + COLUMNS]
        cells: list[list[Cell | str]] = []
        for system in (*suite.systems, *suite.incomplete):
            samples = [suite.scores[name].get(system) for name in part]
            cells.append([system, *("–" if sample is None else number(sample.mean()) for sample in samples)])
        sizes = [str(len(next(iter(suite.scores[name].values())))) for name in part]
        tables.append(Table([w["system"], *part], [*cells, [w["queries"], *sizes]]))
    title = s["title"].format(systems=len(rows), sets=len(suite.scores))
    return environment().get_template("suite.html.jinja").render(w=w, s=s, title=title, summary=summary, tables=tables)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m helpers.report.suite", description="Combine reports on several sets.")
    top.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="the folder of one report")
    top.add_argument("--metric", help="the score; by default the one that decides in the first report")
    top.add_argument("--language", choices=LANGUAGES, default="en", help="language of the page")
    top.add_argument("--out", type=Path, default=Path("build/suite"), help="folder for the page and suite.json")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Write ``suite.html`` and ``suite.json``, and return the exit status; an error is printed in one line."""
    args = parser().parse_args(argv)
    try:
        suite = read_suite(args.folders, args.metric)
        args.out.mkdir(parents=True, exist_ok=True)
        record = json.dumps(as_record(suite), ensure_ascii=False, indent=1)
        for name, text in (("suite.json", f"{record}\n"), ("suite.html", render(suite, args.language))):
            write_text(args.out / name, text)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 1
    for name, row in suite.rows.items():
        ranks = f"{row['best_rank']:.0f} to {row['worst_rank']:.0f}"
        print(f"{name}: mean {suite.metric} {row['mean']:.4f} ({row['low']:.4f} to {row['high']:.4f}), rank {ranks}")
    for name, missing in suite.incomplete.items():
        print(f"{name}: no mean, no score on {', '.join(missing)}")
    print(f"report: {args.out / 'suite.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
