"""The current working directories: what a file tool may open and a command may enter."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent.tools.services import WorkingScope
from permissions.context import PermissionContext


class WorkingDirectories:
    """Checks paths against the current permission context, links resolved, by component."""

    def __init__(self, context: Callable[[], PermissionContext]) -> None:
        """`context` returns the current context, since directories can be added."""
        self._context = context

    def is_inside(self, path: Path) -> bool:
        """Whether the path is inside the working directories, read-only ones included."""
        context = self._context()
        return _is_below(path, (*self._writable(context), *context.readable_dirs))

    def may_write(self, path: Path, also: Sequence[str] = ()) -> bool:
        """Whether the path is writable: in scope, or in a directory (`also`) opened for this
        call."""
        return _is_below(path, (*self._writable(self._context()), *map(Path, also)))

    @staticmethod
    def _writable(context: PermissionContext) -> tuple[Path, ...]:
        scratch = (context.scratch_dir,) if context.scratch_dir is not None else ()
        return (context.launch_dir, *context.additional_dirs, *scratch)


def _is_below(path: Path, directories: tuple[Path, ...]) -> bool:
    try:
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(os.path.realpath(directory)) for directory in directories)
    except OSError:  # a link in the path changed while it was followed
        return False


if TYPE_CHECKING:

    def _check_protocol(directories: WorkingDirectories) -> WorkingScope:
        return directories
