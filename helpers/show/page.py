"""The report page: one HTML file that needs nothing else and runs no script."""

import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers._atomic import write_file
from helpers.show.words import shown, words

if TYPE_CHECKING:
    from helpers.systems import Comparison

# Nothing from elsewhere, no script, no form, no other base for links.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
DISTRIBUTION = "retrieval-evaluation-tutorial"
DIFFERS = "differences.html"  # the page of the site on numbers that differ


def write_report(
    comparison: "Comparison",
    page: str | Path,
    *,
    language: str = "en",
    slices: Mapping[str, str] | None = None,
    verdicts: Sequence[Any] = (),
) -> None:
    """Write the page of a comparison.

    Args:
        comparison: what :func:`helpers.systems.compare` gave.
        page: where the HTML file goes.
        language: "en" or "zh", for every word on it.
        slices: the type of a query by its id.
        verdicts: what came of gates, each with ``passed`` and ``why``.

    Raises:
        OSError: the page cannot be written; the message names it and its folder.
    """
    text = render(comparison, language=language, slices=slices, verdicts=verdicts)
    path = Path(page)
    write_file(path.parent, path.name, lambda temporary: temporary.write_bytes(text.encode()))


def render(
    comparison: "Comparison",
    *,
    language: str = "en",
    slices: Mapping[str, str] | None = None,
    verdicts: Sequence[Any] = (),
) -> str:
    """Return the page as text; everything that comes from data, models or files is escaped by the template."""
    import jinja2

    from helpers.show.charts import bars, lines
    from helpers.show.view import View

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    view = View(comparison, language, slices or {})
    rows = [
        (name, evaluation.mean[comparison.main], found.low, found.high)
        for name, evaluation in comparison.scored.items()
        for found in [comparison.intervals[name][comparison.main]]
        if found is not None
    ]
    curves = view.growth()
    return environment.get_template("report.html.jinja").render(
        view=view, w=words(language), policy=POLICY, verdicts=view.verdicts(verdicts), main=shown(comparison.main),
        language={"en": "en", "zh": "zh-CN"}[language], bars=bars(rows) if rows else None,
        lines=lines(curves) if curves else None, differs=_address(language),
    )  # fmt: skip


def _address(language: str) -> str:
    """Return the address of the page on numbers that differ; empty where the package is not installed."""
    try:
        urls = importlib.metadata.metadata(DISTRIBUTION).get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    sites = [url.partition(",")[2].strip() for url in urls if url.startswith("Documentation")]
    return f"{sites[0].rstrip('/')}/{language}/{DIFFERS}" if sites else ""
