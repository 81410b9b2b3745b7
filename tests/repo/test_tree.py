"""The tree contains only files of the product, in the expected places, and no machine names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repo.checkout import PACKAGES, ROOT, tracked_files, tracked_texts
from tests.repo.structure import read_tree

TOP_LEVEL = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "agent_tui.py",
    "benchmarks",
    "docs",
    "pyproject.toml",
    "requirements-dev.lock",
    "requirements.lock",
    "tests",
    *PACKAGES,
}
VAGUE_NAMES = {"common", "helpers", "misc", "types", "utils"}
# Written so that this file does not match itself.
PACKAGE_HOSTS = re.compile(r"pythonhosted[.]org|pypi[.]org/simple|registry[.]npmjs[.]org/\w")
STARTS_PROCESS = re.compile(
    r"create_subprocess_|subprocess[.](run|Popen|call|check_)|posix_spawn[(]"
)
MARKDOWN_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def _product_files() -> list[Path]:
    return [path for path in tracked_files() if path.parts[0] in PACKAGES]


def _python_directories() -> set[Path]:
    return {path.parent for path in _product_files() if path.suffix == ".py"}


def test_nothing_new_at_the_top_level() -> None:
    assert {path.parts[0] for path in tracked_files()} - TOP_LEVEL == set()


def test_no_text_names_this_machine() -> None:
    here = [str(ROOT)]
    home = Path.home()
    if home.parent != Path("/"):
        here.append(str(home))
    leaks = [path for path, text in tracked_texts().items() for name in here if name in text]
    assert leaks == []


def test_no_text_names_a_package_host() -> None:
    assert [path for path, text in tracked_texts().items() if PACKAGE_HOSTS.search(text)] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [p for p in _product_files() if VAGUE_NAMES & {p.stem, *p.parent.parts}]
    assert vague == []


def test_child_processes_are_started_in_one_place() -> None:
    runner = Path("permissions/base/process")
    # Part of the test tools; its child ends with the connection to its parent.
    own = {Path("agent/model/scripted/process.py")}
    starting = {
        path
        for path in _product_files()
        if path.suffix == ".py" and STARTS_PROCESS.search((ROOT / path).read_text("utf-8"))
    }
    assert {path for path in starting if path.parent != runner} == own


def _never_gives_back(text: str) -> bool:
    """Whether a regular expression has a possessive quantifier or an atomic group."""
    if not re.search(r"[\\(\[]", text):
        return False  # "g++" is a program
    bare = re.sub(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", "x", re.sub(r"\\.", "x", text, flags=re.DOTALL))
    return re.search(r"[*+?}]\+|\(\?>", bare) is not None


@pytest.mark.parametrize(
    ("text", "does"),
    [
        (r"(?:a|b)++", True), (r"[ab]*+c", True), (r"\s?+x", True), (r"\d{2,}+", True),
        (r"(?>a|b)", True), (r"\++", False), (r"[*+]+", False), (r"[^]+?]+", False),
        (r"gcc g++", False), (r"(a+)+", False),
    ],
)  # fmt: skip
def test_what_never_gives_back(text: str, does: bool) -> None:
    assert _never_gives_back(text) is does


def test_no_expression_needs_a_newer_python() -> None:
    # Python before 3.11.5 drops alternatives inside possessive quantifiers and finds no match, so
    # a rule missed its command. Parts of f-strings are separate constants.
    shell = {"  for ((i = 1; i < COMP_CWORD; i++)); do"}
    assert [
        str(one)
        for one in read_tree(ROOT).texts
        if one.text not in shell and _never_gives_back(one.text)
    ] == []


def test_every_directory_of_modules_is_a_package() -> None:
    """A directory without `__init__.py` would be missing in the wheel."""
    sample = {p for p in _python_directories() if any("sample" in part for part in p.parts)}
    plain = [p for p in _python_directories() - sample if not (ROOT / p / "__init__.py").is_file()]
    assert plain == []


@pytest.mark.parametrize("package", PACKAGES)
def test_package_is_marked_as_typed(package: str) -> None:
    assert Path(package, "py.typed") in tracked_files()


@pytest.mark.parametrize("package", PACKAGES)
def test_package_has_tests(package: str) -> None:
    directory = ("tests", package)
    assert any(p.parts[:2] == directory and p.name.startswith("test_") for p in tracked_files())


def test_links_between_documents_lead_somewhere() -> None:
    dead = [
        (str(path), target)
        for path, text in tracked_texts().items()
        if path.suffix == ".md" and path.parts[0] not in PACKAGES
        for target in MARKDOWN_LINK.findall(text)
        if "://" not in target
        and not target.startswith(("#", "mailto:"))
        and not (ROOT / path.parent / target.split("#")[0]).exists()
    ]
    assert dead == []
