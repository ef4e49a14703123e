"""Read the cells of a notebook: tags, hashes, outputs and the texts that they print."""

import hashlib
import json
import re

from nbformat import NotebookNode

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
TEMPORARY = re.compile(
    r"(?:(?:/private)?/var/folders/[\w+-]+/[\w+-]+/T|/(?:var/)?tmp|[A-Za-z]:\\Users\\[^\\\s]+\\AppData\\Local\\Temp)"
    r"[/\\]+[\w.+-]+"
)
HOME = re.compile(r'(?<="git\+)https://[^"]+')  # where a lesson on its own is installed from, see `home`
WORK, SCRATCH = "lesson", "scratch"


def cell_hash(cell_id: str, source: str) -> str:
    """Return the first 16 hex digits of SHA-256 over id, newline and source: a hash fits one cell only."""
    return hashlib.sha256(f"{cell_id}\n{source}".encode()).hexdigest()[:16]


def tags(cell: NotebookNode) -> list[str]:
    """Return the tags of a cell."""
    return list(cell.get("metadata", {}).get("tags", []))


def is_volatile(cell: NotebookNode) -> bool:
    """Tell whether the outputs of a cell may vary from run to run."""
    return bool({"volatile", "provenance"} & set(tags(cell)))


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def code_hashes(notebook: NotebookNode) -> dict[str, str]:
    """Return the hash of each code cell's source, to which the recorded outputs belong; without HOME."""
    return {cell.id: cell_hash(cell.id, HOME.sub("", cell.source)) for cell in code_cells(notebook)}


def output_hashes(notebook: NotebookNode) -> dict[str, str]:
    """Return the hash of each code cell's outputs: it changes if somebody edits a record."""
    texts = {cell.id: json.dumps(cell.outputs, ensure_ascii=False, sort_keys=True) for cell in code_cells(notebook)}
    return {cell_id: cell_hash(cell_id, text) for cell_id, text in texts.items()}


def by_id(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """Return the cells by their id, in order."""
    return {cell.id: cell for cell in notebook.cells}


def alt_text(cell: NotebookNode) -> str:
    """Return the alternative text of a code cell's figures, or an empty string."""
    return str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "") or "").strip()


def output_texts(cell: NotebookNode) -> list[str]:
    """Return every textual output of a code cell: streams, then each text of each display, in order."""
    shown = [{"text/": output.text} if "text" in output else output.get("data", {}) for output in cell.outputs]
    return [text for data in shown for kind, text in data.items() if kind.startswith("text/") or "svg" in kind]


def leaves(value: object, path: str = "") -> dict[str, str]:
    """Return the text of each single value inside a JSON value, by the keys that lead to it joined with slashes."""
    if not isinstance(value, (dict, list)):
        return {path: str(value)}
    items = enumerate(value) if isinstance(value, list) else value.items()
    below = (leaves(item, f"{path}/{key}".lstrip("/")) for key, item in items)
    return {name: text for leaves in below for name, text in leaves.items()}


def plain(text: str, folder: str = "") -> str:
    """Return text with memory addresses as `0x0` and temporary folders (their random name too) as `TMP`.

    folder is the temporary folder of this run, if known: it holds WORK, where the lesson runs, and SCRATCH,
    where its own temporary files go.
    """
    if folder:
        text = re.sub(re.escape(folder) + rf"(?:[/\\]{WORK}|[/\\]{SCRATCH}(?:[/\\][\w.+-]+)?)?", "TMP", text)
    return ADDRESS.sub("0x0", TEMPORARY.sub("TMP", text))
