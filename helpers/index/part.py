"""Some of the vectors of an index, searched as if it held no others, without a copy of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import faiss
import numpy as np


class PartialIndex:
    """The vectors of a FAISS index at chosen rows; number i is the i-th of these rows.

    It takes what :func:`helpers.index.search` takes of a FAISS index, and so little memory beside it that corpora of
    many sizes can be cut from one index.

    Args:
        index: a flat, IVF or HNSW index.
        rows: the rows to search, each once, in any order.

    Raises:
        ValueError: another kind of index, no rows, a row twice, or one that the index does not hold.
    """

    def __init__(self, index: faiss.Index, rows: Sequence[int] | np.ndarray) -> None:
        """Check the rows and tell FAISS to look at no others."""
        wanted = np.asarray(rows, dtype=np.int64)
        self._order = np.argsort(wanted, kind="stable")
        self._rows = wanted[self._order]
        if not len(wanted) or self._rows[0] < 0 or self._rows[-1] >= index.ntotal or not np.diff(self._rows).all():
            raise ValueError(f"rows: expected some of the rows 0 to {index.ntotal - 1}, each once.")
        self.d: int = index.d
        self.ntotal = len(wanted)
        self._index = index
        self._parameters = _parameters(index, faiss.IDSelectorBatch(self._rows))

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Search as a FAISS index does: scores and ids, both (q, k), -1 where too few were found."""
        scores, ids = self._index.search(queries, k, params=self._parameters)
        places = self._order[np.searchsorted(self._rows, ids).clip(max=self.ntotal - 1)]
        return scores, np.where(ids < 0, -1, places)


def _parameters(index: faiss.Index, selector: Any) -> Any:
    """Put a selection of rows into the form that a kind of index takes, the index's own settings beside it."""
    forms: Any = faiss  # whose type stubs do not know them
    if isinstance(index, faiss.IndexIVF):
        return forms.SearchParametersIVF(sel=selector, nprobe=index.nprobe)
    if isinstance(index, faiss.IndexHNSW):
        return forms.SearchParametersHNSW(sel=selector, efSearch=index.hnsw.efSearch)
    if isinstance(index, faiss.IndexFlat):
        return forms.SearchParameters(sel=selector)
    raise ValueError(f"{type(index).__name__} cannot be searched in part; use 'Flat', 'IVF64,Flat' or 'HNSW32'.")
