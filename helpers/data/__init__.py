"""Load queries, passages and relevance judgements into one plain structure.

The way of a collection: :func:`load_dataset` finds out what a source is (``load``); a ``bundled`` collection, a table
(``formats``, ``columns``), a folder or a data set of the hub (``hub``) is read, after ``safety`` and ``settings`` have
seen to it that nothing but its own files and texts is; ``layouts`` makes judgements of it, those in files through
``trec``; and ``dataset`` holds the result, a :class:`RetrievalDataset`.
"""

from helpers.data.build import from_ids
from helpers.data.bundled import upstream_example
from helpers.data.dataset import Qrels, RetrievalDataset
from helpers.data.load import OFFLINE_DEFAULT, load_dataset

__all__ = [
    "OFFLINE_DEFAULT",
    "Qrels",
    "RetrievalDataset",
    "from_ids",
    "load_dataset",
    "upstream_example",
]
