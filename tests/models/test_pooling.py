"""The formulas of pooling: right by hand."""

import numpy as np
import pytest
import torch

from helpers.models import load_model, pooling
from helpers.models.pooling import Pooling, TokenBatch
from tests.checkpoints import save_checkpoint

# Two texts of two dimensions: three tokens, and two tokens behind one place of padding (padded on the left).
BATCH = TokenBatch(
    hidden=torch.tensor([[[1.0, 0.0], [3.0, 2.0], [2.0, 7.0]], [[90.0, 90.0], [4.0, -6.0], [8.0, -2.0]]]),
    mask=torch.tensor([[1, 1, 1], [0, 1, 1]]),
    is_cls=torch.tensor([[True, False, False], [False, False, True]]),
    # Rows look at columns. Two heads that agree but for the first row of the first text.
    attention=torch.tensor(
        [
            [[[1.0, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]], [[0, 1.0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]],
            [[[0, 1.0, 0], [0, 0.25, 0.75], [0, 0.5, 0.5]], [[0, 1.0, 0], [0, 0.25, 0.75], [0, 0.5, 0.5]]],
        ]
    ),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cls", [[1, 0], [8, -2]]),
        ("mean", [[2, 3], [6, -4]]),
        ("max", [[3, 7], [8, -2]]),
        # Text 1: heads average to rows (.5 .5 0), (.5 .5 0), (0 .5 .5): the tokens receive 1, 1.5, .5 of 3.
        # Text 2: padding's row is left out: .25 + .5 = .75 and .75 + .5 = 1.25 of 2.
        ("attention", [[(1 + 4.5 + 1) / 3, (3 + 3.5) / 3], [(3 + 10) / 2, (-4.5 - 2.5) / 2]]),
        ("unmasked_mean", [[2, 3], [34, 82 / 3]]),
    ],
)
def test_pooling_equals_the_hand_calculation(name, expected):
    """A pooling that looks at padding, or weighs by the wrong axis, gives other numbers than these."""
    pooled = pooling.POOLINGS[Pooling(name)](BATCH)
    np.testing.assert_allclose(pooled, np.array(expected, np.float32), rtol=1e-6)


def test_the_token_that_pads_is_not_cls_even_where_it_has_its_id(tmp_path):
    """A text would be represented by its padding, or one without [CLS] by its first token."""
    model = load_model(save_checkpoint(tmp_path / "m"), backend="transformers", device="cpu")
    cls, word = model.tokenizer.cls_token_id, model.tokenizer.convert_tokens_to_ids("cat")
    ids, mask = torch.tensor([[cls, word, cls], [word, word, cls]]), torch.tensor([[0, 1, 1], [1, 1, 0]])
    with torch.inference_mode():
        batch = model.token_vectors({"input_ids": ids, "attention_mask": mask})
    assert batch.is_cls.tolist() == [[False, False, True], [False, False, False]]


def test_pooling_that_a_batch_does_not_allow_is_named():
    """A static model has no attention, and a text without [CLS] no vector of it."""
    with pytest.raises(ValueError, match="has no attention to weight by"):
        pooling.attention_pooling(BATCH._replace(attention=None))
    with pytest.raises(ValueError, match=r"puts no \[CLS\] into a text"):
        pooling.cls_pooling(BATCH._replace(is_cls=torch.zeros(2, 3, dtype=torch.bool)))
