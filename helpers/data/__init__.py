"""Load queries, passages and relevance judgements into one plain structure.

:func:`load_dataset` finds out what a source is (``load``). A ``bundled`` collection, a file (``formats``), a folder or
a data set of the hub (``hub``) is read as tables; ``by_id`` makes queries, passages and judgements of them,
``trec`` reads judgements in TREC's formats, and ``dataset`` holds the result, a :class:`RetrievalDataset`.
"""

from helpers.data.bundled import upstream_example
from helpers.data.dataset import Qrels, RetrievalDataset, from_ids
from helpers.data.hub import OFFLINE_DEFAULT
from helpers.data.load import load_dataset

__all__ = [
    "OFFLINE_DEFAULT",
    "Qrels",
    "RetrievalDataset",
    "from_ids",
    "load_dataset",
    "upstream_example",
]
