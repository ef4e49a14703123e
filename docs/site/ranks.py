"""The charts of the page "How far to trust a rank", from docs/benchmarks/ranks.json."""

from __future__ import annotations

import json
from html import escape

from docs.site.project import Edition

WIDTH, HEIGHT, LEFT, TOP = 340, 230, 34, 8  # units of a drawing, which is so wide on a phone; of its field of points
FIELD = HEIGHT - TOP - 34


def ranks(edition: Edition, _argument: str) -> str:
    """Return two charts: the lead of each model over the next, and each model's score below the first's, in order.

    A model is drawn in blue if its interval says that the two are told apart, in grey if not.
    """
    report = json.loads((edition.root / "docs" / "benchmarks" / "ranks.json").read_text(encoding="utf-8"))
    words, found = edition.words["ranks"], report["leaderboard"]
    rows = {name: [float(value) for value in row.split()] for name, row in report["intervals"].items()}
    leads = list(zip(rows["next"], rows["next"], rows["half, next"], strict=True))
    means = list(zip(rows["means"][1:], rows["first"], rows["half, first"], strict=True))
    figures = []
    for kind, points, ticks, line in (
        ("next", leads, (-0.1, 0, 0.1), 0.0),
        ("first", means, (0, 0.2, 0.4, 0.6, 0.8), rows["means"][0]),
    ):
        drawn = _drawn(points, ticks, line, words["place"], first=1 + (kind == "first"))
        alt, caption = (escape(words[part][kind].format(**found)) for part in ("alt", "caption"))
        figures.append(
            f'<figure><figcaption>{caption}</figcaption><svg class="drawn" role="img" aria-label="{alt}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}">{drawn}</svg></figure>'
        )
    return f'<div class="panels">{"".join(figures)}</div>'


def _drawn(
    points: list[tuple[float, float, float]], ticks: tuple[float, ...], line: float, place: str, first: int
) -> str:
    """Return dots with intervals, each given as value, lead and half the width, and a line where no lead is."""
    low, high = min(value - half for value, _, half in points), max(value + half for value, _, half in points)
    last = first + len(points) - 1

    def x(rank: int) -> float:
        return round(LEFT + 6 + (WIDTH - LEFT - 12) * (rank - 1) / (last - 1), 1)

    def y(value: float) -> float:
        return round(TOP + FIELD * (high - value) / (high - low), 1)

    parts = []
    for tick in ticks:
        parts.append(f'<path d="M{LEFT} {y(tick)}H{WIDTH}" stroke="var(--figure-grid)"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y(tick) + 4}" text-anchor="end">{f"{tick:g}".replace("-", "−")}</text>')
    bottom = TOP + FIELD
    for rank, anchor in ((1, "start"), (50, "middle"), (100, "middle"), (last, "end")):
        parts.append(f'<text x="{x(rank)}" y="{bottom + 15}" text-anchor="{anchor}">{rank}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) // 2}" y="{bottom + 30}" text-anchor="middle">{escape(place)}</text>')
    parts.append(f'<path d="M{LEFT} {y(line)}H{WIDTH}" stroke="var(--figure-ink)"/>')
    ranked = list(enumerate(points, first))
    for apart, paint in ((False, 'stroke="var(--figure-quiet)" opacity="0.5"'), (True, 'stroke="var(--figure-blue)"')):
        chosen = [(x(rank), value, half) for rank, (value, lead, half) in ranked if (lead > half) is apart]
        spans = "".join(f"M{at} {y(value + half)}V{y(value - half)}" for at, value, half in chosen)
        dots = "".join(f"M{at} {y(value)}h0" for at, value, _ in chosen)
        parts.append(f'<path d="{spans}" {paint}/><path d="{dots}" {paint} stroke-width="3.5" stroke-linecap="round"/>')
    return "".join(parts)
