"""Warnings that a page can put into its own words."""


class Note(UserWarning):
    """A warning with a key and values beside its English text.

    Attributes:
        text: the warning in English.
        key: the entry of the report's catalogues; "" where there is none.
        values: what that entry's sentence is filled with.
    """

    def __init__(self, text: str, key: str = "", **values: object) -> None:
        super().__init__(text)
        self.text, self.key, self.values = text, key, values
