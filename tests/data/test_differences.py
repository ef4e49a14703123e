"""The page "Why does my number differ?": its figures are measured again, its lines of Python run.

"Make your own test set" quotes the standard deviations among them.
"""

import json
import re
from pathlib import Path

import pytest

from tests.data import differences

DOCS = Path(__file__).parents[2] / "docs"
ENCODING = ("texts", "network", "spread")  # groups that encode the collection ten times, in minutes
GROUPS = [
    pytest.param(group.__name__, marks=[pytest.mark.slow] if group.__name__ in ENCODING else [])
    for group in differences.GROUPS
]


def code(language: str) -> list[str]:
    """Return the blocks of Python of the page."""
    text = (DOCS / language / "differences.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.filterwarnings("ignore:Texts are longer")
def test_the_figures_of_the_page_are_what_is_measured_today(group: str):
    """A change of collection, model or metric would leave the page with sizes that nobody gets any more."""
    recorded = json.loads(differences.TARGET.read_text(encoding="utf-8"))[group]
    measured = getattr(differences, group)()
    assert list(measured) == list(recorded), f"run {differences.COMMAND}"
    for name, value in measured.items():
        slack = 3 if isinstance(value, int) else 0.0005  # half a unit of the last digit that the pages show
        assert value == pytest.approx(recorded[name], abs=slack), (
            f"{group}/{name}: {value:.4f}, recorded is {recorded[name]}. Run {differences.COMMAND}; "
            "python -m notebooks.kit check then names the numbers of the pages to correct."
        )


def test_the_figures_belong_to_the_collection_as_it_is():
    """Judgements that were added or changed would move figures by less than the test above sees."""
    recorded = json.loads(differences.TARGET.read_text(encoding="utf-8"))
    assert recorded["sha256"] == differences.data().sha256, f"run {differences.COMMAND}"


def test_the_lines_of_python_run(capsys: pytest.CaptureFixture[str]):
    """A reader who pastes them would meet an error, or a line that prints nothing."""
    assert code("en") == code("zh")
    scope: dict[str, object] = {}
    for block in code("en"):
        exec(compile(block, "differences.md", "exec"), scope)
        assert capsys.readouterr().out.strip() or "print" not in block, block
    assert scope["result"].mean["ndcg@10"] == pytest.approx(differences.formula()["ndcg@10"])  # type: ignore[attr-defined]
