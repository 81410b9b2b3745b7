"""The user's answers about a project's servers, bound to the digest of each definition."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.stored_file import read_stored
from permissions.base.files.private_file import exclusive, write_private

ConsentAnswer = Literal["approved", "rejected"]
_MAX_BYTES: Final = 10_000_000


class ServerConsent(Struct, frozen=True):
    """An answer about one definition."""

    digest: str
    answer: ConsentAnswer
    written: dict[str, object]
    """The entry that was shown, for comparison with a changed one."""


class ProjectConsents(Struct, frozen=True):
    """The answers for one project."""

    servers: dict[str, ServerConsent] = field(default_factory=dict)
    disabled: list[str] = field(default_factory=list)
    """Names of servers of any scope that the user turned off in this project."""
    sampling: dict[str, str] = field(default_factory=dict)
    """Names of servers that may use sampling to the digests of their definitions."""


class _Stored(Struct, frozen=True):
    projects: dict[str, ProjectConsents] = field(default_factory=dict)
    v: int = 1


class ConsentStore:
    """The answers for all projects, one file in the agent's home (0600)."""

    def __init__(self, agent_home: Path) -> None:
        """The file need not exist; an unreadable one counts as empty."""
        self._path = agent_home / "mcp" / "projects.json"

    def of(self, root: Path) -> ProjectConsents:
        """Return the answers for a project."""
        return self._read().projects.get(str(root), ProjectConsents())

    def answer(self, root: Path, definition: ServerDefinition, answer: ConsentAnswer) -> None:
        """Store an answer about this definition. Raises OSError."""
        consent = ServerConsent(definition.digest, answer, dict(definition.entry))

        def change(old: ProjectConsents) -> ProjectConsents:
            return replace(old, servers={**old.servers, definition.name: consent})

        self._change(root, change)

    def forget(self, root: Path) -> None:
        """Remove all answers about a project's servers. Raises OSError."""
        self._change(root, lambda old: replace(old, servers={}, sampling={}))

    def set_disabled(self, root: Path, name: str, is_disabled: bool) -> None:
        """Turn a server off or on in a project. Raises OSError."""

        def change(old: ProjectConsents) -> ProjectConsents:
            others = [one for one in old.disabled if one != name]
            return replace(old, disabled=[*others, name] if is_disabled else others)

        self._change(root, change)

    def allow_sampling(self, root: Path, definition: ServerDefinition) -> None:
        """Allow this definition to use sampling. Raises OSError."""

        def change(old: ProjectConsents) -> ProjectConsents:
            return replace(old, sampling={**old.sampling, definition.name: definition.digest})

        self._change(root, change)

    def _change(self, root: Path, change: Callable[[ProjectConsents], ProjectConsents]) -> None:
        with exclusive(self._path):
            file = self._read()
            old = file.projects.get(str(root), ProjectConsents())
            projects = {**file.projects, str(root): change(old)}
            data = msgspec.to_builtins(_Stored(projects))
            write_private(self._path, json.dumps(data, indent=2).encode())

    def _read(self) -> _Stored:
        return read_stored(self._path, _Stored, _MAX_BYTES)


def is_approved(consents: ProjectConsents, definition: ServerDefinition) -> bool | None:
    """Return whether exactly this definition is approved; None if there is no answer."""
    consent = consents.servers.get(definition.name)
    if consent is None or consent.digest != definition.digest:
        return None
    return consent.answer == "approved"


def earlier_entry(
    consents: ProjectConsents, definition: ServerDefinition
) -> Mapping[str, object] | None:
    """Return the approved entry that this one replaced, or None if there was none."""
    consent = consents.servers.get(definition.name)
    if consent is None or consent.digest == definition.digest or consent.answer != "approved":
        return None
    return consent.written
