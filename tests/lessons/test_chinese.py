"""What the Chinese lessons tell beside their English ones: the parameters, which stand in English code, in a table."""

from __future__ import annotations

import ast
import re

from notebooks.kit.cells import by_id
from notebooks.kit.notebooks import ROOT, lesson_path, read


def test_parameters_in_chinese() -> None:
    """A parameter would be missing from the Chinese table, or stand there after it has gone from the lesson."""
    cells = by_id(read(lesson_path(ROOT, "zh", "01_evaluation")))
    targets = [node.targets[0] for node in ast.parse(cells["parameters"].source).body if isinstance(node, ast.Assign)]
    set_by_code = [target.id for target in targets if isinstance(target, ast.Name)]
    assert len(set_by_code) > 10
    assert re.findall(r"^\| `([A-Z_]+)` \| .", cells["parameters-text"].source, re.M) == set_by_code
