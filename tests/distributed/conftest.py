"""The model of the tests of a cluster."""

import pytest

from helpers.models import load_model
from tests.checkpoints import save_checkpoint


@pytest.fixture(scope="package")
def model(tmp_path_factory):
    """Give a tiny model."""
    return load_model(save_checkpoint(tmp_path_factory.mktemp("models") / "tiny"), backend="transformers", device="cpu")
