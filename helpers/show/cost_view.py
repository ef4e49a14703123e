"""What each system cost, and what the numbers of a report were made with, as rows of text."""

from collections.abc import Mapping, Sequence
from typing import Any

from helpers.provenance import provenance
from helpers.show.words import FACTS, LANGUAGES
from helpers.systems import Comparison

MEGA = 1e6


def cost_table(comparison: Comparison, words: Mapping[str, str]) -> tuple[list[str], list[list[str]], Sequence[int]]:
    """Give header, rows and columns of numbers: seconds to load and to index, milliseconds a query, size of the index.

    The time of a query is that of encoding, searching, fusing and reranking it, all queries together divided by their
    number.
    """
    queries, rows = len(comparison.data.queries), []
    for name, result in comparison.results.items():
        seconds, facts = result.cost.seconds, result.what.get("model", {})
        each = sum(seconds.get(stage, 0.0) for stage in ("queries", "search", "fuse", "rerank")) / queries
        size = result.cost.index_bytes
        truncated, limit = result.what.get("truncated"), facts.get("max_length")
        rows.append(
            [
                name, words[f"kind_{result.what.get('kind', 'object')}"], _seconds(seconds.get("load")),
                _seconds(seconds.get("passages")), f"{1000 * each:.2f}" if seconds else "–",
                f"{size / MEGA:,.1f}" if size else "–", str(limit) if limit else "–",
                "–" if truncated is None else f"{truncated:,}",
            ]
        )  # fmt: skip
    keys = ("system", "type", "s_load", "s_passages", "ms_query", "index_bytes", "longest", "truncated")
    return [words[key] for key in keys], rows, range(2, len(keys))


def made_with(comparison: Comparison, words: Mapping[str, str], language: str) -> list[tuple[str, str]]:
    """Say in rows which versions, models and files the numbers came from."""
    which = LANGUAGES.index(language)
    record = provenance()
    rows = [(words["date"], str(record["date"])), ("Python", str(record["python"]))]
    rows += list(record["packages"].items())
    for name, result in comparison.results.items():
        for key, value in _facts(result.what):
            label = FACTS[key][which] if key in FACTS else key.removeprefix("options.")
            rows.append((f"{name}{words['colon']}{label}", words[f"kind_{value}"] if key == "kind" else value))
    return rows


def _facts(what: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List what is known of a system, nested facts under names with dots."""
    rows = []
    for key, value in what.items():
        if isinstance(value, Mapping):
            rows += [(f"{key}.{inner}", text) for inner, text in _facts(value)]
        elif value not in (None, "", [], ()):
            rows.append((key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return rows


def _seconds(value: float | None) -> str:
    """Write seconds, or a dash."""
    return "–" if value is None else f"{value:.1f}"
