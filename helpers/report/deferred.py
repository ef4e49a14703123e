"""Models that are loaded when they first compute, where an earlier report noted what is known of them.

Most of a report whose vectors are all in the cache is the import of PyTorch and the loading of models that have nothing
to do. What a report says of a model, and what names its vectors in the cache, follows from its files, the options, the
libraries and the code that loads it; the notes are kept under a digest of all four.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from helpers import models
from helpers._atomic import whole_file
from helpers.data import RetrievalDataset
from helpers.embeddings import count_truncated, default_cache
from helpers.models import Model, ModelInfo, load_model
from helpers.models.files import sha256_of
from helpers.models.find import find_checkpoint
from helpers.systems.cost import stage

LIBRARIES = ("torch", "transformers", "tokenizers")
CODE = Path(models.__file__).parent  # which reads lengths, poolings and prompts out of the files
GPU = Path("/dev/nvidiactl")  # whether there is one decides the device, and so the name of a vector


@dataclass
class DeferredModel:
    """A model with the facts that an earlier report noted; every other attribute loads it.

    Attributes:
        info, device, dtype, parameter_count: as of a loaded model.
        truncated: passages longer than it reads, by the digest of a data set.
        file: where the notes are.
        load: loads the model.
    """

    info: ModelInfo
    device: str
    dtype: str
    parameter_count: int
    truncated: dict[str, int]
    file: Path
    load: Callable[[], Model] = field(repr=False)

    @cached_property
    def loaded(self) -> Model:
        """The model itself; the time is that of loading, whichever stage asked for it."""
        with stage("load"):
            return self.load()

    def __getattr__(self, name: str) -> object:
        """Ask the model itself for what was not noted."""
        return getattr(self.loaded, name)


def load_deferred(name_or_path: str, options: Mapping[str, Any]) -> Model:
    """Return a model that is loaded when it computes; loaded at once where no earlier report noted its facts.

    Raises:
        What :func:`helpers.models.load_model` raises.
    """
    checkpoint = find_checkpoint(name_or_path)
    versions = [version(library) for library in LIBRARIES] + [sha256_of(file) for file in sorted(CODE.glob("*.py"))]
    device = [GPU.exists(), os.environ.get("CUDA_VISIBLE_DEVICES")]
    key = json.dumps([checkpoint.name, checkpoint.sha256, dict(options), versions, device], sort_keys=True)
    file = default_cache() / "models" / "facts" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def load() -> Model:
        return load_model(name_or_path, **options)

    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):  # no notes, or none that can be read
        facts = json.loads(file.read_bytes())
        return cast(Model, DeferredModel(ModelInfo(**facts.pop("info")), **facts, file=file, load=load))
    model = load()
    deferred = DeferredModel(model.info, model.device, model.dtype, model.parameter_count or 0, {}, file, load)
    deferred.__dict__["loaded"] = model
    _note(deferred)
    return cast(Model, deferred)


def truncated(model: Model, data: RetrievalDataset) -> int | None:
    """Count the passages that a model truncates, once for each data set where its facts are noted."""
    if not isinstance(model, DeferredModel):
        return count_truncated(model, data.corpus)
    if data.sha256 not in model.truncated:
        count = count_truncated(model.loaded, data.corpus)
        model.truncated[data.sha256] = count or 0
        _note(model)
    return model.truncated[data.sha256]


def _note(model: DeferredModel) -> None:
    facts = {name: getattr(model, name) for name in ("device", "dtype", "parameter_count", "truncated")}
    with contextlib.suppress(OSError):  # a cache that cannot be written costs time, not the report
        model.file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(model.file) as part:
            part.write_text(json.dumps({"info": asdict(model.info), **facts}), encoding="utf-8")
