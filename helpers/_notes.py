"""Warnings that the report can translate."""


class Note(UserWarning):
    """A warning with a key and values beside its English text.

    Attributes:
        text: the warning in English.
        key: the entry in the report's catalogues; "" if there is none.
        values: the values of the placeholders in that entry.
    """

    def __init__(self, text: str, key: str = "", **values: object) -> None:
        super().__init__(text)
        self.text, self.key, self.values = text, key, values
