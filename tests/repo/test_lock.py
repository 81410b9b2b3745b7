"""The lock files can be installed anywhere: they have names, versions and hashes, but no URLs."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.repo.checkout import ROOT, project_file

RUNTIME = "requirements.lock"
DEVELOPMENT = "requirements-dev.lock"
PINNED = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]*)==(?P<version>[^\s;]+)(?: ; (?P<marker>.+))?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def _entries(lock: str) -> list[tuple[Requirement, frozenset[str]]]:
    """Parse a lock file into (pinned requirement, hashes), in the order of its entries."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    entries = []
    for line in filter(None, map(str.strip, text.splitlines())):
        requirement, *hashes = re.split(r"\s+(?=--hash=)", line)
        entries.append((Requirement(requirement.strip()), frozenset(map(str.strip, hashes))))
    return entries


def _requirements(*groups: str) -> list[Requirement]:
    project = project_file()
    texts = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for group in groups:
        texts.extend(project["dependency-groups"][group])
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("lock", [RUNTIME, DEVELOPMENT])
def test_each_entry_is_a_pin_with_hashes_and_nothing_else(lock: str) -> None:
    for requirement, hashes in _entries(lock):
        assert PINNED.fullmatch(str(requirement).replace("; ", " ; ").replace("  ", " "))
        assert hashes
        assert all(HASH.fullmatch(text) for text in hashes)


@pytest.mark.parametrize("lock", [RUNTIME, DEVELOPMENT])
def test_lock_holds_no_address_and_no_option(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|^-|^#|@", text, re.MULTILINE)


@pytest.mark.parametrize(("lock", "groups"), [(RUNTIME, ("build",)), (DEVELOPMENT, ("dev",))])
def test_lock_satisfies_the_project_file(lock: str, groups: tuple[str, ...]) -> None:
    versions: dict[str, list[str]] = {}
    for pin, _ in _entries(lock):
        versions.setdefault(canonicalize_name(pin.name), []).append(
            next(iter(pin.specifier)).version
        )
    for wanted in _requirements(*groups):
        locked = versions.get(canonicalize_name(wanted.name), [])
        assert locked, f"{wanted.name} is not in {lock}; run: make lock"
        assert all(wanted.specifier.contains(version) for version in locked), wanted


def test_development_lock_contains_the_runtime_lock() -> None:
    """Installing the development lock changes no version of the runtime lock."""
    runtime = {(str(pin), hashes) for pin, hashes in _entries(RUNTIME)}
    development = {(str(pin), hashes) for pin, hashes in _entries(DEVELOPMENT)}
    assert runtime - development == set()


def test_every_dependency_is_explained() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    missing = [wanted.name for wanted in _requirements("dev") if f"`{wanted.name}`" not in text]
    assert missing == []
