"""What a result was made with: the record behind every lesson and report."""

import datetime
import importlib.metadata
import platform
from types import SimpleNamespace

import pytest

from helpers import provenance as module
from helpers.provenance import provenance
from tests.systems.samples import collection


def test_the_record_holds_what_was_given():
    """A number could not be traced to the data or the versions it came from."""
    bare, data = provenance(), collection()
    assert set(bare) == {"date", "python", "packages"}
    assert (bare["date"], bare["python"]) == (datetime.date.today().isoformat(), platform.python_version())
    assert bare["packages"]["numpy"] == importlib.metadata.version("numpy")
    full = provenance(data=data)
    assert full["data"] == {"name": "tiny", "sha256": data.sha256, "queries": 6, "passages": 12}
    info = SimpleNamespace(name="m", sha256="ab", dim=None)
    model = provenance(SimpleNamespace(info=info, device="cpu"))
    assert (model["model"], model["device"]) == ({"name": "m", "sha256": "ab"}, "cpu")
    assert "data" not in model


def test_packages_that_are_absent_are_left_out(monkeypatch):
    """A reader without an extra would get an error instead of a record."""
    monkeypatch.setattr(module, "PACKAGES", ("numpy", "not-installed-anywhere"))
    assert list(provenance()["packages"]) == ["numpy"]


def test_the_build_of_a_package_is_not_its_version(monkeypatch: pytest.MonkeyPatch):
    """A lesson recorded with one wheel of PyTorch would differ when another wheel of the same version runs it."""
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2.13.0+cpu")
    assert provenance()["packages"]["torch"] == "2.13.0"
