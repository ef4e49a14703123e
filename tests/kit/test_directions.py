"""Whether words point where the numbers and claims beside them do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from notebooks.kit.wording import contradicts, opposed, wrong_moves
from tests.kit.test_claims import change, found


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The value falls from 0.863 at 5 to 0.807 at 10.", "The value rises from 0.863 at 5 to 0.807 at 10."),
        ("It lifts the model from 67 % to 69 %.", "It drops from 67 % to 69 %."),
        ("Recall rises from 1/3 to 1/2; MRR falls from 1 to 1/2.", "Recall rises from 1/2 to 1/3; MRR falls."),
        ("从0.753降到0.669", "从0.753升到0.669"),
        ("从截断位置5的0.863降到10的0.807", "从截断位置5的0.863提到10的0.807"),
        ("从2,500涨到3,000个", "从2,500减到3,000个"),
    ],
)
def test_from_one_number_to_another(right: str, wrong: str) -> None:
    """A score would be said to rise from a number to a lower one, or to fall to a higher one."""
    assert list(wrong_moves(right)) == []
    assert len(list(wrong_moves(wrong))) == 1


@pytest.mark.parametrize(
    ("words", "expression"),
    [
        ("Static vectors stay below BM25", "'static' < 'BM25'"),
        ("The small corpus gave higher scores", "'small/mrr' > 'whole/mrr' and 'small/recall' > 'whole/recall'"),
        ("at most. Recall never falls as $k$ grows", "rises('recall/*')"),
        ("So no line can rise", "falls('growth/*/mrr')"),
        ("bigrams, the tradition of engines, are not better than words here.", "'bigrams' < 'words'"),
        ("static则不如BM25", "'static' < 'BM25'"),
        ("分数更高", "'small' > 'whole'"),
        ("没有一条曲线会上升", "falls('growth/*')"),
        ("召回率不会随$k$增大而下降", "rises('recall/*')"),
        ("比**不相关**的中文段落还低。", "'relevant' < 'other'"),
    ],
)
def test_a_claim_says_what_its_words_say(words: str, expression: str) -> None:
    """The word "below" could become "above", in one language or both, while the claim behind it still holds."""
    swapped = {"<": ">", ">": "<", "rises": "falls", "falls": "rises"}
    opposite = re.sub("[<>]|rises|falls", lambda match: swapped[match[0]], expression)
    assert not contradicts(words, expression)
    assert contradicts(words, opposite)


@pytest.mark.parametrize(
    ("words", "expression"),
    [
        ("ahead of CLS and behind the mean", "'CLS' < 'MaxSim' < 'mean'"),
        ("ahead of CLS and behind the mean", "'CLS' < 'MaxSim'"),
        ("It is higher, which is no accident", "'p' < 0.05"),
        ("The order is the same", "'a' > 'b'"),
        ("below the usual level", "0.02 < 'p' < 0.05"),
        ("BM25 is ahead", "'BM25' > 'dense' and 'low' < 0"),
        ("的领先丢掉一半", "'a' < 'b'"),
    ],
)
def test_words_that_settle_nothing_are_passed_over(words: str, expression: str) -> None:
    """A writer would have to bend a true sentence until the check understands it."""
    assert not contradicts(words, expression)


def test_the_check_names_a_sentence_that_says_the_opposite(project: Path) -> None:
    """The two rules would be written and not asked."""
    claim = "<!--holds: 'scores/system a/recall' < 'printed/best'-->"
    change(project, "-->66.7%", f"-->66.7%, system a below it{claim}")
    assert {rule for rule, _ in found(project)} == set()
    change(project, "system a below it", "it falls from 1/3 to 1/2; system a above it", languages=("en",))
    messages = [message for rule, message in found(project) if rule == "direction"]
    assert len(messages) == 2
    assert any("'falls from 1/3 to 1/2'" in message for message in messages)


@pytest.mark.parametrize(
    ("english", "chinese", "agree"),
    [
        ("BM25 is better there.", "在那里BM25更好。", True),
        ("BM25 is worse there.", "在那里BM25更好。", False),
        ("BM25 is better there.", "在那里BM25更差。", False),
        ("Larger corpora give lower scores.", "语料库越大，分数越低。", True),
        ("One is bad, the other better.", "一个差，另一个更好。", True),
        ("The first is worse, the second worse.", "第一个更好，第二个更差。", False),
        ("It says nothing.", "它什么也没说。", True),
    ],
)
def test_both_languages_point_the_same_way(english: str, chinese: str, agree: bool) -> None:
    """A translation could say the opposite of its text."""
    assert (list(opposed(english, chinese)) == []) is agree
