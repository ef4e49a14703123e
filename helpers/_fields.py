"""The named fields of a file, which remember those that were looked up, so that none is ignored in silence."""

from typing import Any


class Fields(dict[str, Any]):
    """The columns of a table, or the keys of a JSON object, by name.

    A reader looks up what it knows; what is left in :attr:`unread` is told: ``RetrievalDataset.unused`` for data, the
    attribute ``unused`` of :class:`~helpers.models.ModelInfo` for models.
    """

    def __init__(self, fields: object = ()) -> None:
        super().__init__(fields)  # type: ignore[call-overload]
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        """Return a field, which then counts as read."""
        self._read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, which then counts as read, or the default."""
        self._read.add(name)
        return super().get(name, default)

    @property
    def unread(self) -> list[str]:
        """The names, in the order of the file, of the fields that nobody looked up and that say something."""
        empty: tuple[object, ...] = (None, "", [], {})
        cells = {name: value if isinstance(value, list) else [value] for name, value in self.items()}
        unread = [name for name in self if name.strip() and name not in self._read]
        return [name for name in unread if any(cell is not False and cell not in empty for cell in cells[name])]
