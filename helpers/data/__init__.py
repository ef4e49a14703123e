"""Load queries, passages and relevance judgements into one plain structure.

The way of a collection: :func:`load_dataset` finds out what a source is (``load``); a ``bundled`` collection, a file
(``formats``), a folder or a data set of the hub (``hub``) is read as tables (``columns``); ``by_id`` and ``rows`` make
queries, passages and judgements of them, ``trec`` reads judgements in TREC's formats, ``gaps`` counts what is left out;
and ``dataset`` holds the result, a :class:`RetrievalDataset`.
"""

from helpers.data.bundled import upstream_example
from helpers.data.dataset import Qrels, RetrievalDataset, from_ids
from helpers.data.load import OFFLINE_DEFAULT, load_dataset

__all__ = [
    "OFFLINE_DEFAULT",
    "Qrels",
    "RetrievalDataset",
    "from_ids",
    "load_dataset",
    "upstream_example",
]
