"""The permissions of one confined program as a value, with every path resolved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agent.sandbox.protected.protected_names import Found
from permissions.confinement import Confinement
from permissions.paths.resolve import is_below

OVERLAID: Final = ("/tmp", "/run")
"""Directories that the session's own replace inside the sandbox."""
PROTECTED: Final = "a protected path"
OUTSIDE: Final = "outside the working directories"
NOT_RUN: Final = "a protected path that git would change, so that nothing was run"
GIT_STOPPED: Final = "git would change it but cannot, so git was not run"
GIT_UNKNOWN: Final = "what git would change there is not known, so git was not run"
CLOSED: Final = "beside a protected path, where nothing can be made or removed at level files"
READING: Final = "reading only"
NO_NETWORK: Final = "no network"
"""Why a write is refused; shown to the model and to users."""


class Network(Enum):
    """Which network a confined program reaches."""

    OFF = "off"
    """An empty namespace of its own."""
    SESSION = "session"
    """The namespace of the session, whose only way out is the proxy."""
    HOST = "host"
    NO_SOCKETS = "no sockets"
    """No socket can be created, except for Unix sockets where the policy permits them."""


class SandboxPolicy(Struct, frozen=True, kw_only=True):
    """One confinement, resolved for one working directory. All paths are canonical and exist,
    except `missing_directories`."""

    confinement: Confinement
    cwd: str
    temp_dir: str
    """The session's temporary directory, also seen as `/tmp`."""
    write_roots: tuple[str, ...] = ()
    """Working directories that may be written."""
    caches: tuple[str, ...] = ()
    """Package caches that may be written."""
    session_directories: Mapping[str, str] = field(default_factory=dict)
    """Directories in whose place one of the session is mounted, each with that one; what is
    `read_only` in them is mounted into it."""
    pinned_directories: tuple[str, ...] = ()
    """Writable directories that cannot be renamed or removed."""
    read_only: tuple[str, ...] = ()
    """Files and directories inside writable ones that may not be changed."""
    repositories: tuple[str, ...] = ()
    """Git directories, writable for git; at level `files` they are read-only as a whole."""
    closed_directories: tuple[str, ...] = ()
    """Directories in which files can be changed but not created or removed."""
    missing_directories: tuple[str, ...] = ()
    """Protected directories that do not exist and may not be created."""
    watched_names: tuple[str, ...] = ()
    """Protected names that do not exist and cannot be blocked: checked after the run."""
    watched_links: tuple[str, ...] = ()
    """Names at which only a plain file may be after the run, because programs of the user write
    there: a link would have them write somewhere else."""
    found_names: Mapping[str, Found] = field(default_factory=dict)
    """By writable directory, the protected names before the run, to find those that it adds."""
    links: tuple[tuple[str, str], ...] = ()
    """Protected names that are links, each with its target: checked after the run."""
    contents: tuple[tuple[str, bytes | None], ...] = ()
    """Files that may be removed but not changed, each with its content or None: checked as well."""
    secret: tuple[str, ...] = ()
    """Credentials and the agent's own directories: masked, except for what is `visible`."""
    denied_paths: tuple[str, ...] = ()
    """Paths that deny rules forbid to read: always masked."""
    visible: tuple[str, ...] = ()
    """Paths that stay readable below a masked directory, `/tmp` or `/run`."""
    network: Network = Network.OFF
    unix_sockets: bool = False
    hides_abstract_sockets: bool = False
    """Whether Unix sockets without a path are out of reach; a network of its own has none of the
    host's."""
    daemons: tuple[str, ...] = ()
    """Unix sockets that are always masked, because their daemons run any program."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables of the program."""

    def only(self, names: frozenset[str]) -> SandboxPolicy:
        """Return the policy with only some of its paths left to check after the run."""
        return replace(
            self,
            watched_names=tuple([path for path in self.watched_names if path in names]),
            contents=tuple([(path, was) for path, was in self.contents if path in names]),
            links=(),
            watched_links=(),
        )

    def write_refusal(self, path: str) -> str | None:
        """Return the rule that forbids a write to a canonical path, or None when it is allowed."""
        if _is_below_one(path, self.denied_paths):
            return "a deny rule"
        if is_below(path, self.temp_dir):
            return None
        replaced_depth = deepest(path, self.session_directories)
        if replaced_depth > 0 and deepest(path, self.read_only) <= replaced_depth:
            return None
        protected_paths = (
            *self.read_only,
            *self.missing_directories,
            *self.watched_names,
            *(path for path, _ in self.contents),
        )
        if path in self.pinned_directories or _is_below_one(path, protected_paths):
            return PROTECTED
        if os.path.dirname(path) in self.closed_directories:
            return CLOSED
        if _is_below_one(path, (*self.write_roots, *self.caches)):
            return None
        if _is_below_one(path, ("/tmp", "/dev")) and not _is_below_one(path, self.visible):
            return None
        return OUTSIDE if self.write_roots else READING

    def read_refusal(self, path: str) -> str | None:
        """Return the rule that forbids reading a canonical path, or None when it is allowed."""
        if _is_below_one(path, self.denied_paths):
            return "a deny rule"
        # As with mounts, the deeper path takes precedence.
        visible_depth = deepest(path, (self.temp_dir, *self.visible))
        return "a secret" if deepest(path, self.secret) > visible_depth else None


def deepest(path: str, directories: Iterable[str]) -> int:
    """Return the length of the longest of the directories around a path, or 0 if none is."""
    return max((len(one) for one in directories if is_below(path, one)), default=0)


def _is_below_one(path: str, directories: Iterable[str]) -> bool:
    return any(is_below(path, one) for one in directories)
