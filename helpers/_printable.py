"""Show a name or text that somebody else chose, without the control characters it may hold."""

import contextlib
import re
from collections.abc import Iterator

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def printable(text: object) -> str:
    """Return a text with control characters and changes of direction written as escapes, ``\\x1b`` for one.

    They could otherwise clear the reader's terminal, or show another name than the one that is there.
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), str(text))


def one_line(error: object) -> str:
    """Return the message of an error of another library as one printable line."""
    return printable(" ".join(str(error).split()))


@contextlib.contextmanager
def printable_errors() -> Iterator[None]:
    """Make the messages of errors printable; names of files that somebody else chose stand in them."""
    try:
        yield
    except (ValueError, FileNotFoundError) as error:
        if type(error) in (ValueError, FileNotFoundError) and printable(error) != str(error):
            raise type(error)(printable(error)) from error
        raise
