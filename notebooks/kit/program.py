"""The program of a code cell: its syntax tree without what a translator may write in the other language."""

import ast
import tokenize
from collections.abc import Iterator
from io import StringIO


def comments(source: str) -> Iterator[str]:
    """Yield the words of each comment and docstring of Python code."""
    before = tokenize.ENCODING
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string[1:].strip()
        elif token.type == tokenize.STRING and before == tokenize.INDENT:
            yield token.string[3:-3]
        before = token.type


def program(source: str, *, strings: bool = True, values: bool = True) -> str:
    """Return the syntax tree of code as text, without comments and docstrings.

    strings False leaves out the texts of strings too, values False all that is assigned. Code that is no Python is
    returned as it is.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            del node.body[0]
        elif isinstance(node, ast.Assign) and not values:
            node.value = ast.Constant(None)
        elif isinstance(node, ast.JoinedStr) and not strings:
            node.values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not strings:
            node.value = ""
    return ast.dump(tree)
