"""The paths that settings and rules add to the policy of one program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from agent.sandbox.configuration.configured_paths import (
    ConfiguredPath,
    directories_of_edit_rules,
    present_paths,
)
from agent.sandbox.configuration.sandbox_settings import SandboxSettings
from permissions.confinement import Confinement
from permissions.context import PermissionContext


class PathLists(Struct, frozen=True):
    """Absolute paths; they need not exist."""

    allow_write: tuple[str, ...] = ()
    deny_write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    allow_read: tuple[str, ...] = ()


def path_lists(
    sandbox: SandboxSettings, context: PermissionContext, confinement: Confinement
) -> PathLists:
    """Return the path lists for one confinement.

    Additional writable paths apply only where the user works inside the sandbox: the other
    confinements promise that only the working directories are written.

    Raises:
        TooManyMatches: a pattern matches too many paths.
    """
    allow_write: tuple[str, ...] = ()
    if confinement is Confinement.PROJECT and context.sandbox.runs_inside:
        allow_write = present_paths((*sandbox.allow_write, *directories_of_edit_rules(context)))
    return PathLists(
        allow_write,
        present_paths(_where_written(sandbox.deny_write, context, allow_write)),
        present_paths(sandbox.deny_read),
        present_paths(sandbox.allow_read),
    )


def _where_written(
    entries: Iterable[ConfiguredPath], context: PermissionContext, allow_write: Iterable[str]
) -> Iterator[ConfiguredPath]:
    """Yield the entries; a pattern for every directory (`//**/.env`) only for writable ones.

    To look for it everywhere would read the whole file system before each command.
    """
    for entry in entries:
        if not entry.path.startswith("/**/"):
            yield entry
            continue
        for root in (context.launch_dir, *context.additional_dirs, *allow_write):
            yield replace(entry, path=f"{root}{entry.path}")
