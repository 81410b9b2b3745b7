"""Which parts of a project's settings the user has accepted, and what is new since then.

Trust is bound to the repository root (links resolved) and to a digest of each listed item: changed
items are new items. A nested repository has its own root, so it needs its own trust.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from permissions.base.files.plain_file import read_plain
from permissions.base.files.private_file import exclusive, write_private

ItemKind = Literal[
    "allow rule",
    "hook",
    "MCP server",
    "environment variable",
    "status line",
    "command",
    "skill",
    "agent",
    "setting",
]

STORE_VERSION: Final = 1
MAX_STORE_BYTES: Final = 50_000_000


class TrustItem(Struct, frozen=True):
    """One part of a project that has no effect before the user accepts it."""

    kind: ItemKind
    label: str
    """What it is, as the trust dialog shows it: the rule, the command line, `NAME=value`."""
    digest: str
    file: Path | None = None
    line: int | None = None


def item(
    kind: ItemKind,
    label: str,
    content: object,
    *,
    file: Path | None = None,
    line: int | None = None,
) -> TrustItem:
    """Return an item; its digest covers kind and content, not its file and line."""
    text = json.dumps([kind, content], sort_keys=True, ensure_ascii=True, default=str)
    return TrustItem(kind, label, hashlib.sha256(text.encode()).hexdigest(), file, line)


def allow_rule_item(rule: str, *, file: Path | None = None, line: int | None = None) -> TrustItem:
    """Return the item of one allow rule."""
    return item("allow rule", rule, rule, file=file, line=line)


class TrustState(Struct, frozen=True):
    """The items of a project, and which of them are in force."""

    root: Path
    """Canonical root of the repository, or the launch directory without one."""
    is_trusted: bool
    """The user accepted this directory, now or at an earlier start."""
    items: tuple[TrustItem, ...] = ()
    accepted_digests: frozenset[str] = frozenset()
    by_flag: bool = False
    """`--trust`: what the start found is trusted in this run, and nothing is stored."""

    @property
    def new(self) -> tuple[TrustItem, ...]:
        """Items that wait for an answer, in the order they were found.

        In a trusted directory, the user is asked about MCP servers separately, so they are omitted.
        """
        elsewhere = "MCP server" if self.is_trusted and not self.by_flag else None
        return tuple(
            item for item in self.items if item.kind != elsewhere and not self.in_force(item)
        )

    @property
    def must_ask(self) -> bool:
        """Whether the trust dialog has something to ask."""
        return not self.by_flag and (not self.is_trusted or bool(self.new))

    @property
    def is_settled(self) -> bool:
        """Whether the project needs no decision: the user accepted it, or it has no items."""
        return self.is_trusted or not self.new

    def in_force(self, item: TrustItem) -> bool:
        """Whether an item applies."""
        return item.digest in self.accepted_digests


class TrustStore:
    """The user's answers, one file in the agent's home (0600)."""

    def __init__(self, path: Path) -> None:
        """`path` need not exist."""
        self._path = path

    @property
    def path(self) -> Path:
        """Where the answers are stored."""
        return self._path

    def state(
        self, root: Path, items: Iterable[TrustItem], *, flag: TrustState | bool = False
    ) -> TrustState:
        """Compare the items of a project with those accepted; a damaged store trusts nothing.

        `flag` is `--trust`: True accepts all items for this run; a state, that of the run's start,
        accepts the items that it accepted.
        """
        current_items = tuple(items)
        is_trusted, digests = self._directories().get(str(root), (False, frozenset[str]()))
        if isinstance(flag, TrustState):
            digests |= flag.accepted_digests
            by_flag = flag.by_flag
        else:
            digests |= {each.digest for each in current_items} if flag else frozenset()
            by_flag = flag
        return TrustState(root, is_trusted or by_flag, current_items, digests, by_flag)

    def accept(self, state: TrustState) -> None:
        """Store that the user accepts the directory and all listed items. Raises OSError."""
        self._write(state.root, is_trusted=True, digests={item.digest for item in state.items})

    def note_own_rules(self, root: Path, allow_rules: Iterable[str]) -> None:
        """Accept allow rules that the user's own answers have just stored. Raises OSError.

        This does not make the directory itself trusted.
        """
        with exclusive(self._path):
            is_trusted, digests = self._directories().get(str(root), (False, frozenset()))
            own = {allow_rule_item(rule).digest for rule in allow_rules}
            self._write_locked(root, is_trusted=is_trusted, digests=digests | own)

    def forget(self, root: Path) -> None:
        """Withdraw the answer for a directory. Raises OSError."""
        with exclusive(self._path):
            directories = self._directories()
            directories.pop(str(root), None)
            self._save(directories)

    def directories(self) -> tuple[Path, ...]:
        """Return the directories that are trusted."""
        return tuple(
            Path(name) for name, (is_trusted, _) in self._directories().items() if is_trusted
        )

    def _write(self, root: Path, *, is_trusted: bool, digests: set[str]) -> None:
        with exclusive(self._path):
            self._write_locked(root, is_trusted=is_trusted, digests=frozenset(digests))

    def _write_locked(self, root: Path, *, is_trusted: bool, digests: frozenset[str]) -> None:
        directories = self._directories()
        directories[str(root)] = (is_trusted, digests)
        self._save(directories)

    def _save(self, directories: dict[str, tuple[bool, frozenset[str]]]) -> None:
        data = {
            "v": STORE_VERSION,
            "folders": {
                name: {"trusted": is_trusted, "accepted": sorted(digests)}
                for name, (is_trusted, digests) in directories.items()
            },
        }
        write_private(self._path, json.dumps(data, indent=2).encode())

    def _directories(self) -> dict[str, tuple[bool, frozenset[str]]]:
        try:
            data = json.loads(read_plain(self._path, MAX_STORE_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        directories = data.get("folders") if isinstance(data, dict) else None
        if not isinstance(directories, dict):
            return {}
        answers: dict[str, tuple[bool, frozenset[str]]] = {}
        for name, entry in directories.items():
            if isinstance(entry, dict) and isinstance(entry.get("accepted"), list):
                digests = frozenset(d for d in entry["accepted"] if isinstance(d, str))
                answers[name] = (entry.get("trusted") is True, digests)
        return answers
