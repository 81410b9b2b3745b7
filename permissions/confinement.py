"""What the operating system must enforce for the reason of an allow to be true.

`agent.sandbox` enforces it; decisions only name it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Confinement(StrEnum):
    """What an allowed call can do while it runs."""

    READ_ONLY = "read_only"
    """Writes only the session's temporary directory; no network, no Unix sockets; denied and
    secret files are masked."""
    PROJECT = "project"
    """The same, and the working directories are writable except for protected names."""
    PROJECT_FILES = "project_files"
    """Writes the working directories except for protected names, the session's temporary directory
    and package caches; the host's network; only files of deny rules are masked."""
    NONE = "none"
    """Everything that the user can do: the user approved this exact text."""


class SandboxLevel(StrEnum):
    """How much of a confinement this machine can enforce."""

    FULL = "full"
    """Everything (bubblewrap, Seatbelt)."""
    FILES = "files"
    """The writes of `project_files` and no network (Landlock and seccomp)."""
    NONE = "none"


_WIDTH: Final = {
    Confinement.READ_ONLY: 0,
    Confinement.PROJECT: 1,
    Confinement.PROJECT_FILES: 2,
    Confinement.NONE: 3,
}


def widest(confinements: Iterable[Confinement]) -> Confinement:
    """Return the confinement that permits most; `READ_ONLY` if there are none."""
    return max(confinements, key=_WIDTH.__getitem__, default=Confinement.READ_ONLY)


def joint_confinement(confinements: Iterable[Confinement]) -> Confinement:
    """Return the confinement of a command from those of its parts: the widest of them.

    A user's approval of the text of one part does not extend to a part that a rule, a mode, a hook
    or a classifier allowed: then the whole command stays confined.
    """
    present = frozenset(confinements)
    widest_one = widest(present)
    if widest_one is Confinement.NONE and not present.isdisjoint(_RELIED_ON):
        return Confinement.PROJECT_FILES
    return widest_one


_RELIED_ON: Final = (Confinement.PROJECT, Confinement.PROJECT_FILES)
"""Confinements of allows for commands that do more than read."""


def can_hold(level: SandboxLevel, confinement: Confinement) -> bool:
    """Return whether a machine of that level enforces the confinement."""
    if confinement is Confinement.NONE or level is SandboxLevel.FULL:
        return True
    return level is SandboxLevel.FILES and confinement is Confinement.PROJECT_FILES
