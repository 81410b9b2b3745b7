"""Docstrings and comments are in plain technical English: none of the idioms in the list."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo.checkout import PACKAGES, tracked_files, tracked_texts

IDIOMS = re.compile(
    r"\bnobody\b|\bwhoever\b|\bgo(?:es)? on\b|\b(?:is|are|was|were) told\b"
    r"|(?<!there )\b(?-i:is|are) no\b(?! longer| more)",
    re.IGNORECASE,
)


def remarks(source: str) -> Iterator[tuple[int, str]]:
    """Yield each docstring and comment with its line; strings of other kinds are texts."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def idioms_in(source: str) -> list[str]:
    """Return each idiom with the line on which its docstring or comment begins."""
    if IDIOMS.search(source) is None:
        return []
    return [
        f"{line}: {match[0]}" for line, text in remarks(source) for match in IDIOMS.finditer(text)
    ]


def _found(paths: Iterator[Path]) -> list[str]:
    texts = tracked_texts()
    return [f"{path}:{one}" for path in paths for one in idioms_in(texts[path])]


def _product() -> list[Path]:
    return [one for one in tracked_files() if one.suffix == ".py" and one.parts[0] in PACKAGES]


def test_the_product_has_none() -> None:
    assert _found(iter(_product())) == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""Nobody waits."""', 1),
        ("x = 1  # whoever asked goes on", 2),
        ('"""The text is no rule; there is no rule; there are no more."""', 1),
        ('"""It is no longer there. There is no file."""', 0),
        ('print("nobody goes on")', 0),
        ("def f():\n    '''It is told.\n\n    Go on.'''", 2),
    ],
)
def test_what_counts(source: str, count: int) -> None:
    assert len(idioms_in(source)) == count
