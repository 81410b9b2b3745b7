"""Every directory and module that docs/architecture.md names exists, and the product uses it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import PurePosixPath

from tests.repo.checkout import PACKAGES, ROOT, tracked_texts
from tests.repo.structure import REGISTRIES, read_tree

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
NAMED = re.compile(rf"`((?:{'|'.join(PACKAGES)})/[\w/]*(?:\.py)?)`")
CLASS_NAME = re.compile(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`")
DOTTED = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.\w+){{2,}})`")
PATH = re.compile(rf"(?<![\w/.-])((?:{'|'.join(PACKAGES)})/(?:\w+/)*\w+\.py)\b")
TERMS = 60


@cache
def _sources() -> dict[str, str]:
    """Return the product's modules by path."""
    return {
        path.as_posix(): text
        for path, text in tracked_texts().items()
        if path.suffix == ".py" and path.parts[0] in PACKAGES
    }


@cache
def _imported() -> frozenset[str]:
    """Return the dotted names that product modules import, and the entry module."""
    entry = ast.parse((ROOT / "agent_tui.py").read_text(encoding="utf-8"))
    names = set(read_tree(ROOT).imported)
    for node in ast.walk(entry):
        if isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    return frozenset(names)


def _directories() -> set[str]:
    """Return the directories directly below a package, in the notation of the page."""
    parts = (path.split("/") for path in _sources())
    return {f"{path[0]}/{path[1]}/" for path in parts if len(path) > 2}


def test_every_module_named_is_one_that_the_product_imports() -> None:
    named = {path for path in NAMED.findall(PAGE) if path.endswith(".py")}
    lost = [
        path
        for path in sorted(named)
        if path not in _sources()
        or (
            path.removesuffix(".py").replace("/", ".") not in _imported()
            and PurePosixPath(path).parent.name not in REGISTRIES
        )
    ]
    assert len(named) > 60
    assert lost == []


def test_every_directory_named_holds_modules() -> None:
    named = {path for path in NAMED.findall(PAGE) if path.endswith("/")}
    assert [path for path in named if f"{path}__init__.py" not in _sources()] == []


def test_every_directory_is_named() -> None:
    assert _directories() - set(NAMED.findall(PAGE)) == set()


def test_every_class_named_exists() -> None:
    whole = "\n".join(_sources().values())
    known = {"PostToolUse", "PreToolUse"}
    names = set(CLASS_NAME.findall(PAGE)) - known
    assert [name for name in sorted(names) if f"class {name}(" not in whole] == []


def test_every_module_named_anywhere_exists() -> None:
    """Docstrings and documents name modules; a rename must update them."""
    modules = {path.removesuffix(".py").removesuffix("/__init__") for path in _sources()}
    lost = [
        (str(path), name)
        for path, text in tracked_texts().items()
        if path.suffix in (".md", ".py", ".toml") and path.parts[0] != "tests"
        if not (path.parts[:2] == ("docs", "decisions") and "**Status**: replaced" in text)
        for name in (*DOTTED.findall(text), *PATH.findall(text))
        if not _leads_somewhere(name.removesuffix(".py").replace(".", "/"), modules)
    ]
    assert lost == []


def _leads_somewhere(name: str, modules: set[str]) -> bool:
    """Whether a dotted name is a module, or a name that a module defines."""
    if name in modules:
        return True
    parent, _, rest = name.rpartition("/")
    source = _sources().get(f"{parent}.py") or _sources().get(f"{parent}/__init__.py") or ""
    return re.search(rf"\b{rest}\b", source) is not None


def test_the_glossary_is_short_and_says_each_term_once() -> None:
    terms = re.findall(r"^\| ((?!term|---)[^|]+) \|", GLOSSARY, re.MULTILINE)
    assert len(terms) == len(set(terms)) <= TERMS
