"""The type of each query: from a file, or from the bundled collection."""

from pathlib import Path

from helpers.data import RetrievalDataset, bundled


def read_types(path: Path, data: RetrievalDataset) -> dict[str, str]:
    """Read lines of query id, tab, type.

    Raises:
        ValueError: a line of another form, text that is not UTF-8, no id that the data have.
    """
    types: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path.name}: not UTF-8; convert it with iconv -t UTF-8.") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            query, tab, kind = line.partition("\t")
            if not tab or not kind.strip():
                raise ValueError(f"{path.name}:{number}: expected query id, tab, type.")
            types[query.strip()] = kind.split("\t")[0].strip()
    if not set(types) & set(data.query_ids):
        shown = f"{next(iter(types), 'nothing')!r} against {data.query_ids[0]!r}"
        raise ValueError(f"{path.name}: none of its query ids is one of the data ({shown}).")
    return types


def bundled_types(data: RetrievalDataset) -> dict[str, str]:
    """Return the types of a bundled collection's queries; none for other data."""
    for card in bundled.cards():
        path = card.folder / "query_types.tsv"
        if data.name.split("-")[0] == card.name and path.is_file():
            return read_types(path, data) if _covers(path, data) else {}
    return {}


def _covers(path: Path, data: RetrievalDataset) -> bool:
    named = {line.partition("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()}
    return set(data.query_ids) <= named
