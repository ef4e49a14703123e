"""Formulas as MathML, which browsers show by themselves and screen readers read.

They are made when the site is built, so that a page needs no script to show them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML

from docs.site.project import DocsError

_MACROS = {"substack": r"\begin{subarray}{c}#1\end{subarray}"}  # the one command of the lessons that math-core lacks


_CONVERTER = LatexToMathML(macros=_MACROS, fancy_error=False)


@cache
def mathml(latex: str, *, display: bool = False) -> str:
    """Return a formula in LaTeX as MathML; display: on lines of its own. Raises DocsError for what is no formula."""
    try:
        return str(_CONVERTER.convert_with_local_state(latex.strip(), displaystyle=display))
    except LatexError as error:
        raise DocsError(f"the formula {latex.strip()!r} cannot be shown: {error}") from error


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula inside a line."""
    writer.body.append(f'<span class="math">{mathml(node.astext())}</span>')
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own; where it is too wide, it can break at wide spaces."""
    parts = [mathml(part, display=True) for part in re.split(r"\\q?quad", node.astext())]
    writer.body.append(f'<div class="math">{"".join(parts)}</div>\n')
    raise nodes.SkipNode
