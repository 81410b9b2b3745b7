"""Shell files that hooks write for later commands (`CLAUDE_ENV_FILE`), one per kind of event."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from hooks.events.capabilities import EFFECTS
from permissions.base.files.private_file import make_real_directory

_OTHERS: Final = "others"


def is_of_others(path: Path) -> bool:
    """Return whether it is a file for hooks that are not the user's own."""
    return path.parent.name == _OTHERS


class EnvFiles:
    """Provides the files of an event, one for the user's own hooks and one for those of others."""

    def __init__(self, directory: Path) -> None:
        """`directory` is private to the session and made when the first file is needed.

        Files of an earlier run are not used: the session may come from another machine, and
        commands of the user read them.
        """
        self._directory = directory
        self._own_files: set[Path] = set()

    def prepare(self, event: str, *, of_others: bool = False) -> Path | None:
        """Create the event's file and remove outdated ones; None for events without one, or on
        failure."""
        stale_events = EFFECTS[event].env_file_replaces
        if stale_events is None:
            return None
        try:
            path = self._path(event, of_others=of_others)
            make_real_directory(path.parent)
            stale_files = {self._path(stale, of_others=of_others) for stale in stale_events}
            for stale in stale_files | ({path} - self._own_files):
                stale.unlink(missing_ok=True)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
            self._own_files.add(path)
        except OSError:
            return None
        return path

    def written_files(self) -> tuple[Path, ...]:
        """Return the files that contain something, in the order commands should read them."""
        return tuple(
            path
            for event, effects in EFFECTS.items()
            if effects.env_file_replaces is not None
            # The user's own hooks come last and take precedence.
            for of_others in (True, False)
            if (path := self._path(event, of_others=of_others)) in self._own_files
            and _has_text(path)
        )

    def used_file(self, path: Path | None) -> Path | None:
        """Return the file when a hook wrote to it; an empty one is removed."""
        if path is None or _has_text(path):
            return path
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def _path(self, event: str, *, of_others: bool) -> Path:
        directory = self._directory / _OTHERS if of_others else self._directory
        return directory / f"env-{event}.sh"


def _has_text(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False
