"""Facts that outlive a session: one small file each, of four kinds, and an index of them.

Only what has no other home: what code, history or another system has is looked up there. Source:
memory-and-context, "Long-Term Memory". Next: `agent.memory.extraction` (where facts come from).
"""

from __future__ import annotations

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
from permissions.base.text.sanitize import sanitize

FactType = Literal["user", "feedback", "project", "reference"]
"""`user`: who the user is; `feedback`: what they corrected or confirmed; `project`: decisions and
deadlines; `reference`: where to look outside of the project."""

MAX_TEXT: Final = 600
MAX_FACTS: Final = 500
MAX_INDEX_LINES: Final = 200
MAX_INDEX_BYTES: Final = 25_000
INDEX: Final = "MEMORY.md"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_TYPES: Final[tuple[FactType, ...]] = get_args(FactType)


class Fact(Struct, frozen=True):
    """One thing to remember."""

    type: FactType
    name: str
    """Lower case, digits and dashes; another fact of the same name replaces it."""
    text: str


class FactStore:
    """The facts about the user, and those of one project. Synchronous: for a thread."""

    def __init__(
        self, directory: Path, everywhere: Path, *, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        """`everywhere` takes facts of type `user`; nothing is made before the first one."""
        self.directory = directory
        self.everywhere = everywhere
        self._redact = redact

    def all(self) -> tuple[Fact, ...]:
        """Return all facts, by type and name. Raises nothing."""
        found = [*_facts(self.everywhere), *_facts(self.directory)]
        return tuple(sorted(found, key=lambda fact: (_TYPES.index(fact.type), fact.name)))

    def save(self, fact: Fact, today: date) -> bool:
        """Store a fact; False for one that is none, or where there are too many. Raises OSError."""
        text = self._redact(" ".join(sanitize(fact.text).split()))[:MAX_TEXT]
        if not _NAME.fullmatch(fact.name) or not text or fact.type not in _TYPES:
            return False
        known = {each.name for each in self.all()}
        if len(known) >= MAX_FACTS and fact.name not in known:
            return False
        self.forget(fact.name)
        directory = self.everywhere if fact.type == "user" else self.directory
        head = f"---\ntype: {fact.type}\nupdated: {today.isoformat()}\n---\n"
        write_private(directory / f"{fact.name}.md", f"{head}{text}\n".encode(), sync=False)
        return True

    def forget(self, name: str) -> bool:
        """Remove a fact; False where there is none of that name. Raises OSError."""
        if not _NAME.fullmatch(name):
            return False
        found = False
        for directory in (self.directory, self.everywhere):
            path = directory / f"{name}.md"
            if os.path.isfile(path):
                path.unlink()
                found = True
        return found

    def write_index(self) -> None:
        """Bring the index file up to date, for users who look. Raises OSError."""
        write_private(self.directory / INDEX, index_of(self.all()).encode(), sync=False)

    def index(self) -> str:
        """Return the index of the facts there are; empty without any. Raises nothing."""
        return index_of(self.all())


def index_of(facts: Sequence[Fact]) -> str:
    """Return one line per fact; beyond the limits a last line counts the missing ones."""
    lines: list[str] = []
    size = 0
    for fact in facts:
        line = f"- [{fact.type}] {fact.name}: {fact.text}"
        size += len(line.encode()) + 1
        if len(lines) >= MAX_INDEX_LINES or size > MAX_INDEX_BYTES:
            left = len(facts) - len(lines)
            lines.append(f"- ({left} more facts are not shown: there are too many; remove some)")
            break
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _facts(directory: Path) -> Iterator[Fact]:
    try:
        paths = sorted(directory.glob("*.md"))[: MAX_FACTS * 2]
    except OSError:
        return
    for path in paths:
        if path.name == INDEX or not _NAME.fullmatch(path.stem):
            continue
        try:
            text = read_start(path, MAX_TEXT * 4).decode("utf-8", errors="replace")
        except OSError:
            continue
        head, body = frontmatter.split(text)
        kind = next((each for each in _TYPES if each == head.get("type")), None)
        fact_text = " ".join(sanitize(body).split())[:MAX_TEXT]
        if kind is not None and fact_text:
            yield Fact(kind, path.stem, fact_text)
