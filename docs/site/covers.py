"""A small picture of each lesson and tool, for its card on the home page; numbers in it are recorded or exact."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from math import log2

from docs.site.pocket import ANSWERS, SYSTEMS, read_pocket
from docs.site.project import Edition, read_yaml
from notebooks.kit.figures import notebook_figures

Figures = dict[str, str]


def cover(edition: Edition, name: str) -> str:
    """Return the picture of a page as one line of HTML, its colours in _static/home/home.css; "" if it has none."""
    if name in _TOOLS:
        drawn = _TOOLS[name](edition)
    elif name in _LESSONS:
        drawn = _LESSONS[name](notebook_figures(edition.lesson(name)))
    else:
        return ""
    if edition.language == "zh":
        drawn = drawn.translate(str.maketrans("A文", "文A"))
    return f'<div class="cover"><svg viewBox="0 0 120 48" aria-hidden="true">{drawn}</svg></div>'


def _box(x: float, y: float, width: float, height: float, kind: str = "") -> str:
    """Return a box: grey, or blue (answer), blue and dashed (beyond the cutoff), dashed (open: nobody judged it)."""
    named = f' class="{kind}"' if kind else ""
    return f'<rect{named} x="{x:g}" y="{y:.3g}" width="{width:.4g}" height="{height:.3g}" rx="1.5"/>'


def _boxes(places: Iterable[tuple[float, float]], width: float, height: float, answers: set[int]) -> str:
    return "".join(_box(x, y, width, height, "answer" if at in answers else "") for at, (x, y) in enumerate(places))


def _arrow(x: int) -> str:
    return f'<path d="M{x} 24h9m-4-4 4 4-4 4"/>'


def _evaluation(figures: Figures) -> str:
    """Rankings, a row each, with the first passage that answers."""
    firsts = [int(figures[f"picture/{row}/first relevant at"]) - 1 for row in range(4)]
    return "".join(
        _boxes([(5 + 11 * at, 2 + 11.5 * row) for at in range(10)], 9, 9, {first}) for row, first in enumerate(firsts)
    )


def _metrics(figures: Figures) -> str:
    """A ranking, and above it what each rank is worth."""
    answers = {rank - 1 for rank in json.loads(figures["picture/B/ranks of the relevant documents"])}
    worth = [30 / log2(at + 2) for at in range(10)]
    bars = (_box(5 + 11 * at, 32 - high, 9, high, "answer" if at in answers else "") for at, high in enumerate(worth))
    return "".join(bars) + _boxes([(5 + 11 * at, 36) for at in range(10)], 9, 9, answers)


def _comparison(figures: Figures) -> str:
    """The intervals of the two best systems, and where they overlap."""
    best, next_best = (
        [float(figures[f"pocket-bars/{system}/{part}"]) for part in ("low", "mean", "high")]
        for system in ("MiniLM, mean", "MiniLM, unmasked_mean")
    )
    least, most = min(best[0], next_best[0]), max(best[2], next_best[2])
    ends = [[8 + 104 * (value - least) / (most - least) for value in one] for one in (best, next_best)]
    left, right = max(end[0] for end in ends), min(end[2] for end in ends)
    parts = [_box(left, 2, right - left, 44, "both")]
    for y, kind, (low, mean, high) in ((15, "answer", ends[0]), (33, "other", ends[1])):
        parts += [_box(low, y - 1.5, high - low, 3, kind), f'<circle class="{kind}" cx="{mean:.4g}" cy="{y}" r="5"/>']
    return "".join(parts)


def _judgements(_figures: Figures) -> str:
    """Two rankings: in one of them every passage was judged."""
    judged = _boxes([(11 + 20 * at, 3) for at in range(5)], 17, 19, {0, 2})
    asked = "".join(
        f'{_box(11 + 20 * at, 26, 17, 19, "open")}<text x="{19.5 + 20 * at}" y="40.5">?</text>' for at in (1, 3, 4)
    )
    return judged + _boxes([(11, 26), (51, 26)], 17, 19, {1}) + asked


def _languages(_figures: Figures) -> str:
    """A question in one language, an answer in the other."""
    asked = '<path d="M8 9h26v24H22l-7 7v-7H8z"/><text x="21" y="27">A</text>'
    ranked = _boxes([(55 + 21 * at, 11) for at in range(3)], 18, 24, {0})
    return f'{asked}{_arrow(40)}{ranked}<text class="on" x="64" y="28">文</text>'


def _scaling(figures: Figures) -> str:
    """The score, from 0 to 1, while the corpus grows."""
    keys = [key.split("/") for key in figures if key.startswith("growth/") and key.endswith("/ndcg@10")]
    curve = [(int(key[1]), float(figures["/".join(key)])) for key in keys]
    most = max(size for size, _ in curve)
    points = [(12 + 100 * size / most, 44 - 56 * value) for size, value in curve]
    line = " ".join(f"{x:.4g},{y:.3g}" for x, y in points)
    dots = "".join(f'<circle class="answer" cx="{x:.4g}" cy="{y:.3g}" r="2.5"/>' for x, y in points)
    below = f'<polygon class="both" points="{line} 112,44 {points[0][0]:.4g},44"/>'
    return f'{below}<path d="M12 2v42h102"/><polyline points="{line}"/>{dots}'


def _stages(_figures: Figures) -> str:
    """Fewer and fewer passages; the last stage lost the one that answers."""
    first = _boxes([(4 + 11 * (at % 3), 2 + 11.5 * (at // 3)) for at in range(12)], 9, 9, {7})
    second = _boxes([(59, 2 + 11.5 * at) for at in range(4)], 9, 9, {2})
    last = _boxes([(93, 13.5), (93, 2)], 9, 9, set()) + _box(93, 25, 9, 9, "beyond")
    return f"{first}{_arrow(43)}{second}{_arrow(76)}{last}"


def _chunks(_figures: Figures) -> str:
    """A page, and its pieces, one of which answers."""
    lines = "".join(_box(14, 5.5 + 11 * at + 4 * line, 24 - 8 * line, 2) for at in range(4) for line in range(2))
    cuts = "".join(f'<path class="cut" d="M4 {13 + 11 * at}h44"/>' for at in range(3))
    pieces = _boxes([(68, 2 + 11.7 * at) for at in range(4)], 44, 8.5, {2})
    return f'<path d="M10 2h32v44H10z"/>{lines}{cuts}{_arrow(54)}{pieces}'


def _ask(edition: Edition) -> str:
    """A question, and the first three passages of two systems, as on the home page."""
    pocket = read_pocket(edition)
    query = read_yaml(edition.root / "docs" / "site" / "home.yml")[edition.language]["first"]
    parts = ['<path d="M6 1h108v10H6z"/>', _box(11, 5, 52, 2)]
    for x, kind, system in zip((6, 63), ("answer", "words"), SYSTEMS[edition.language].values(), strict=True):
        ranked = pocket.lists[query][system][:3]
        answers = {at for at, passage in enumerate(ranked) if pocket.grades[query].get(passage, 0) >= ANSWERS}
        parts.append(_box(x, 15, 51, 2, kind) + _boxes([(x, 20 + 9.5 * at) for at in range(3)], 51, 7, answers))
    return "".join(parts)


def _try(_edition: Edition) -> str:
    """A document goes from rank 5 to rank 2: of two metrics, the reciprocal rank rises, recall does not."""
    ranked = _boxes([(5 + 11 * at, 36) for at in range(7) if at != 4], 9, 9, {1}) + _box(49, 36, 9, 9, "open")
    moved = '<path d="M53.5 32C53.5 8 20.5 8 20.5 30m-4-4.5 4 4.5 4-4.5"/>'
    rise = _box(92, 45 - 40 / 2, 9, 40 / 2 - 40 / 5, "both") + _box(92, 45 - 40 / 5, 9, 40 / 5, "answer")
    return ranked + moved + rise + _box(106, 5, 9, 40, "answer")


def _score(edition: Edition) -> str:
    """A file, and what becomes of it: the means of lesson 1, each with its interval."""
    figures, parts = notebook_figures(edition.lesson("01_evaluation")), ['<path d="M6 4h19l7 7v33H6zM25 4v7h7"/>']
    parts += [_box(11, 18 + 6.5 * line, 16, 2) for line in range(4)] + [_arrow(35)]
    for row, metric in enumerate(("recall@10", "ndcg@10", "mrr@10", "recall@1")):
        low, mean, high = (50 + 66 * float(figures[f"intervals/{metric}/{part}"]) for part in ("low", "mean", "high"))
        y = 6 + 12 * row
        parts += [_box(50, y - 4, mean - 50, 8, "both"), _box(low, y - 1.25, high - low, 2.5, "answer")]
    return "".join(parts)


def _differences(edition: Edition) -> str:
    """What some changes make of a score: how far each moves it from where it was."""
    path = edition.root / "docs" / "benchmarks" / "differences.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    start, *changed = (
        8 + 208 * (found[part][change] - 0.5)
        for part, change in (
            ("formula", "ndcg@10"), ("ranking", "queries in the corpus"), ("ranking", "answers only"),
            ("formula", "ndcg@1"), ("network", "first token"), ("texts", "title left out"),
            ("texts", "instruction of another model"),
        )
    )  # fmt: skip
    bars = "".join(
        _box(min(start, x), 4 + 7 * at, abs(x - start), 5, "answer" if x > start else "")
        for at, x in enumerate(changed)
    )
    return f'{bars}<path class="cut" d="M{start:.4g} 1v46"/>'


_TOOLS: dict[str, Callable[[Edition], str]] = {
    "ask": _ask,
    "try": _try,
    "score": _score,
    "differences": _differences,
}
_LESSONS: dict[str, Callable[[Figures], str]] = {
    "01_evaluation": _evaluation,
    "02_metrics": _metrics,
    "03_model_comparison": _comparison,
    "04_judgements": _judgements,
    "05_languages": _languages,
    "06_scaling_up": _scaling,
    "07_stages": _stages,
    "08_chunks": _chunks,
}
