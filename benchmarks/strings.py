"""List every text of the program that a user may read, from the source, by module.

`make docs` writes it to `docs/strings.md`, so that the language can be reviewed in one place.
Directories with texts for the model are excluded; texts that cannot be distinguished are included.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PAGE: Final = "strings.md"
_HEAD: Final = """# Texts of the program

Every text that a user may read, by module, as `make docs` finds them in the source: strings of
several words that are neither documentation nor for the model. `…` in braces stands for a value.
Before you change a text, look here for others that use its words.
"""
_PACKAGES: Final = ("agent_tui.py", "tui", "permissions", "hooks", "agent")
_FOR_THE_MODEL: Final = (
    "agent/prompt/",
    "agent/memory/",
    "agent/model/scripted/",
    "agent/tools/builtin/",
    "agent/headless/demo",
    "agent/conversation/automatic_title.py",
    "agent/conversation/side_question.py",
    "agent/subagents/builtin",
    "permissions/shell/programs/",
    "tui/command_line/shell_completion.py",
)
_WORDS: Final = {"tui": 2}
"""Minimum number of words of a text, by package; on the screen a label may have two."""
_WORD: Final = re.compile(r"[A-Za-z][a-z’']*[a-z]|\bI\b|\ba\b")
_NO_TEXT: Final = re.compile(
    r"\\[dwsbS]|\(\?|[{}\[\]]:|^\s*[.#:>-]?[\w-]+ ?\{|\x1b|[=;]\s*$|^--"
    r"|SELECT |PRAGMA |INSERT |CREATE "
)
_LOGGED: Final = frozenset({"debug", "info", "log", "exception", "compile", "execute", "getLogger"})


def strings(root: Path) -> str:
    """Return the page as Markdown."""
    parts = [_HEAD]
    for package in _PACKAGES:
        place = root / package
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if name.startswith(_FOR_THE_MODEL):
                continue
            texts = list(_texts(ast.parse(path.read_text("utf-8")), _WORDS.get(package, 3)))
            if texts:
                lines = "\n".join(f"- {text}" for text in dict.fromkeys(texts))
                parts.append(f"## {name.removesuffix('__init__.py')}\n\n{lines}\n")
    return "\n".join(parts)


def _texts(tree: ast.Module, words: int) -> Iterator[str]:
    hidden = _hidden(tree)
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        text = _text_of(node)
        if text is None or _NO_TEXT.search(text):
            continue
        line = " ".join(text.split())
        if " " in line and len(_WORD.findall(line)) >= words:
            yield line


def _text_of(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=str() as value):
            return value
        case ast.JoinedStr(values=values):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in values
            )
        case _:
            return None


def _hidden(tree: ast.Module) -> set[int]:
    """Return the nodes that are not texts: docstrings, parts of f-strings, annotations, logs."""
    hidden: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as docstring):
                hidden.add(id(docstring))
            case ast.JoinedStr(values=values):
                hidden.update(map(id, values))
            case ast.Call(func=ast.Attribute(attr=name)) if name in _LOGGED:
                hidden.update(map(id, ast.walk(node)))
            case ast.Call(func=ast.Name(id="Literal" | "TypeVar" | "cast" | "compile_late")):
                hidden.update(map(id, ast.walk(node)))
            case ast.Assert():
                hidden.update(map(id, ast.walk(node)))
            case _:
                pass
    return hidden
