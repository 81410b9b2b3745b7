"""Facts that persist between sessions: one small file each, of four kinds, and an index.

Users may edit the index, `MEMORY.md`: a line changed, added or removed there changes, adds or
removes a fact. Facts are only what is recorded nowhere else: code, history and other systems are
looked up directly. Source: memory-and-context, "Long-Term Memory". Next: `agent.memory.extractor`
(where facts come from).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Final, Literal, get_args

from msgspec import Struct

from agent.prompt import frontmatter
from permissions.base.files.plain_file import read_start
from permissions.base.files.private_file import write_private
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import sanitize

FactType = Literal["user", "feedback", "project", "reference"]
"""`user`: who the user is; `feedback`: what they corrected or confirmed; `project`: decisions and
deadlines; `reference`: where to look outside the project."""

MAX_TEXT: Final = 600
MAX_FACTS: Final = 500
MAX_INDEX_LINES: Final = 200
MAX_INDEX_BYTES: Final = 25_000
INDEX: Final = "MEMORY.md"
_INDEX_BASE: Final = ".MEMORY.md"
"""The index as last written by the program, to detect edits of users."""
NAME: Final = compile_late(r"[a-z0-9][a-z0-9-]{0,59}")
_LINE: Final = compile_late(
    r"-\s*\[(user|feedback|project|reference)\]\s*([a-z0-9][a-z0-9-]{0,59}):\s*(\S.*)"
)
_MORE: Final = "- ("
_TYPES: Final[tuple[FactType, ...]] = get_args(FactType)


class Fact(Struct, frozen=True):
    """One fact."""

    type: FactType
    name: str
    """Lower case, digits and dashes; another fact of the same name replaces it."""
    text: str


class FactStore:
    """The facts about the user, and those of one project. Methods block: call them in a thread."""

    def __init__(
        self, directory: Path, everywhere: Path, *, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        """`everywhere` is the directory for facts of type `user`; directories are created when
        needed."""
        self.directory = directory
        self.everywhere = everywhere
        self._redact = redact

    def all(self) -> tuple[Fact, ...]:
        """Return all facts, sorted by type and name. Never raises."""
        facts = [*_facts(self.everywhere), *_facts(self.directory)]
        return tuple(sorted(facts, key=lambda fact: (_TYPES.index(fact.type), fact.name)))

    def save(self, fact: Fact, today: date) -> bool:
        """Store a fact; return False if it is invalid or there are too many. Raises OSError."""
        text = self._redact(" ".join(sanitize(fact.text).split()))[:MAX_TEXT]
        if not NAME.fullmatch(fact.name) or not text or fact.type not in _TYPES:
            return False
        names = {each.name for each in self.all()}
        if len(names) >= MAX_FACTS and fact.name not in names:
            return False
        self.forget(fact.name)
        directory = self.everywhere if fact.type == "user" else self.directory
        content = fact_file(Fact(fact.type, fact.name, text), today)
        write_private(directory / f"{fact.name}.md", content.encode(), sync=False)
        return True

    def forget(self, name: str) -> bool:
        """Remove a fact; return False if there is none of that name. Raises OSError."""
        if not NAME.fullmatch(name):
            return False
        has_fact = False
        for directory in (self.directory, self.everywhere):
            path = directory / f"{name}.md"
            if os.path.isfile(path):
                path.unlink()
                has_fact = True
        return has_fact

    def write_index(self) -> None:
        """Update `MEMORY.md`, which users read and edit. Raises OSError."""
        data = index_of(self.all()).encode()
        write_private(self.directory / INDEX, data, sync=False)
        write_private(self.directory / _INDEX_BASE, data, sync=False)

    def write_notes(self, path: Path, text: str) -> None:
        """Store notes about a session. Raises OSError."""
        write_private(path, self._redact(text).encode(), sync=False)

    def index(self, today: date | None = None) -> str:
        """Apply the user's changes of `MEMORY.md`; return the index of the facts. Never
        raises."""
        with contextlib.suppress(OSError):
            self._take_edits(today or date.today())
        return index_of(self.all())

    def _take_edits(self, today: date) -> None:
        index_text = self._index_text(INDEX)
        if index_text is None:
            return
        base = self._index_text(_INDEX_BASE) or ""
        if index_text != base:
            old_facts, new_facts = _read_index(base), _read_index(index_text)
            for name in old_facts.keys() - new_facts.keys():
                self.forget(name)
            for name, fact in new_facts.items():
                if old_facts.get(name) != fact:
                    self.save(fact, today)
        if index_of(self.all()) != index_text:
            self.write_index()

    def _index_text(self, name: str) -> str | None:
        try:
            return read_start(self.directory / name, MAX_INDEX_BYTES * 4).decode("utf-8", "replace")
        except OSError:
            return None


def index_of(facts: Sequence[Fact]) -> str:
    """Return one line per fact; beyond the limits, a last line counts the omitted ones."""
    lines: list[str] = []
    size = 0
    for fact in facts:
        line = f"- [{fact.type}] {fact.name}: {fact.text}"
        size += len(line.encode()) + 1
        if len(lines) >= MAX_INDEX_LINES or size > MAX_INDEX_BYTES:
            rest_count = len(facts) - len(lines)
            lines.append(f"{_MORE}{rest_count} more facts are not shown: too many; remove some)")
            break
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _facts(directory: Path) -> Iterator[Fact]:
    try:
        paths = sorted(directory.glob("*.md"))[: MAX_FACTS * 2]
    except OSError:
        return
    for path in paths:
        if path.name == INDEX or not NAME.fullmatch(path.stem):
            continue
        try:
            text = read_start(path, MAX_TEXT * 4).decode("utf-8", errors="replace")
        except OSError:
            continue
        fact = read_fact(path.stem, text)
        if fact is not None:
            yield fact


def fact_file(fact: Fact, today: date | None = None) -> str:
    """Return the text of a fact's file."""
    date_line = f"updated: {today.isoformat()}\n" if today is not None else ""
    return f"---\ntype: {fact.type}\n{date_line}---\n{fact.text}\n"


def read_fact(name: str, text: str) -> Fact | None:
    """Return the fact in a file's text; None if it is not of the four kinds, or is empty."""
    head, body = frontmatter.split(text)
    kind = next((each for each in _TYPES if each == head.get("type")), None)
    fact_text = " ".join(sanitize(body).split())[:MAX_TEXT]
    return Fact(kind, name, fact_text) if kind is not None and fact_text else None


def _read_index(index: str) -> dict[str, Fact]:
    """Return the facts of an index by name; a line that a user added is of type `feedback`."""
    facts: dict[str, Fact] = {}
    for line in index.splitlines():
        text = line.strip()
        if not text or text.startswith(("#", _MORE)):
            continue
        match = _LINE.fullmatch(text)
        if match is not None:
            kind = next(each for each in _TYPES if each == match[1])
            facts[match[2]] = Fact(kind, match[2], match[3])
        else:
            plain = text.lstrip("-* ")
            name = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].strip("-")
            facts[name or "note"] = Fact("feedback", name or "note", plain)
    return facts
