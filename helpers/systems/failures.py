"""What kind of failure ended a system, so that a page can say in its reader's language what to do."""

KINDS = ("memory", "connection", "package", "file", "disk", "input", "other")
OUT_OF_MEMORY = ("out of memory", "can't allocate memory")  # in messages of torch and FAISS


def kind_of(error: Exception) -> str:
    """Return the kind of an error, one of ``KINDS``.

    ``memory``: there was too little. ``connection``: a server did not answer. ``package``: one is not installed.
    ``file``: one is not there. ``disk``: reading or writing failed. ``input``: the model, the data or a setting does
    not fit. ``other``: an error inside a library or a model.
    """
    if isinstance(error, MemoryError) or any(words in str(error).lower() for words in OUT_OF_MEMORY):
        return "memory"
    types: tuple[tuple[type[Exception], str], ...] = (
        (ConnectionError, "connection"),
        (TimeoutError, "connection"),
        (ModuleNotFoundError, "package"),
        (FileNotFoundError, "file"),
        (OSError, "disk"),
        (ValueError, "input"),
    )
    return next((kind for type_, kind in types if isinstance(error, type_)), "other")
