"""Load queries, passages and relevance judgements as a :class:`~helpers.data.RetrievalDataset`.

:func:`load_dataset` determines the type of a source (``load``). A ``bundled`` collection, a file (``formats``), a
folder or a data set of the hub (``hub``) is read as three tables, of which ``build`` makes the collection; ``trec``
reads judgements in TREC's formats, and ``dataset`` defines the result.
"""

from helpers.data.bundled import upstream_example
from helpers.data.dataset import Qrels, RetrievalDataset, from_ids
from helpers.data.hub import OFFLINE_DATA
from helpers.data.load import Rules, load_dataset, load_files

__all__ = [
    "OFFLINE_DATA", "Qrels", "RetrievalDataset", "Rules", "from_ids", "load_dataset", "load_files", "upstream_example",
]  # fmt: skip
