"""Starts this program's own git and ripgrep to read a directory that may be untrusted.

They are never taken from that directory, use a neutral git configuration, and run confined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from permissions.base.process.child_environment import is_secret
from permissions.base.process.neutral_git import NEUTRAL_VALUES, filters_off, with_git_values
from permissions.base.process.program_path import path_outside
from permissions.base.process.spawn import Confine, Launch

_GIT_ENVIRONMENT: Final[Mapping[str, str]] = {
    # Whatever the configuration says: no object is fetched, so no transport starts.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SEARCH_VARIABLES: Final = ("HOME", "LANG", "LC_ALL")


def launch_unconfined(program: Launch) -> Launch:
    """Return a launch unchanged: for programs that read only their input, or without a sandbox."""
    return program


class ReadingPrograms(Struct, frozen=True):
    """Starts git and ripgrep for reading one directory."""

    env: Mapping[str, str]
    """The environment of commands; only what they need is passed on."""
    root: Path
    """Programs inside it are not used."""
    confine: Confine

    @property
    def path(self) -> str:
        """The search path for programs."""
        return path_outside(self.env.get("PATH"), self.root)

    def git(
        self,
        directory: Path,
        *arguments: str,
        without_filters: Iterable[str] = (),
        stdin: bytes = b"",
    ) -> Launch:
        """Return the launch of a git command that only reads.

        `without_filters` are filters that it does not run. Raises `CannotStart` if it cannot be
        confined.
        """
        env = {
            name: value
            for name, value in self.env.items()
            if not (name.startswith("GIT_") or is_secret(name))
        }
        env |= {**_GIT_ENVIRONMENT, "PATH": self.path}
        # Options, which every version of git understands; a filter's name may contain a `=`,
        # which only the environment can express.
        options = [f"{key}={value}" for key, value in NEUTRAL_VALUES.items()]
        neutral = [word for option in options for word in ("-c", option)]
        return self.confine(
            Launch(
                ("git", *neutral, "-c", "core.quotePath=false", "--no-pager", *arguments),
                with_git_values(env, filters_off(without_filters)),
                directory,
                stdin,
            )
        )

    def search(
        self,
        argv: Sequence[str],
        directory: Path | None = None,
        *,
        stdin: bytes = b"",
        memory_bytes: int | None = None,
    ) -> Launch:
        """Return the launch of a search program. Raises `CannotStart` as `git` does."""
        env = {name: self.env[name] for name in _SEARCH_VARIABLES if name in self.env}
        env["PATH"] = self.path
        return self.confine(Launch(tuple(argv), env, directory, stdin, memory_bytes))
