"""Load queries, passages and relevance judgements as a :class:`~helpers.data.RetrievalDataset`.

:func:`load_dataset` determines the type of a source (``load``). A ``bundled`` collection, a file (``formats``), a
folder or a data set of the hub (``hub``) is read as tables; ``by_id`` converts them to queries, passages and
judgements, ``trec`` reads judgements in TREC's formats, and ``dataset`` defines the result.
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
