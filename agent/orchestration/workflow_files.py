"""Saved workflows: `.js` files of the project and of the user, found by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from agent.orchestration.script.script_engine import MAX_SOURCE_BYTES
from agent.orchestration.script.script_meta import ScriptError, WorkflowScript, read_script
from permissions.base.files.plain_file import read_plain


class WorkflowPlaces(Struct, frozen=True):
    """The directories of workflow files."""

    home: Path
    agent_home: Path
    project: Path
    cwd: Path
    is_trusted: bool = True
    """Whether the project is trusted; if not, its directories are ignored."""

    def directories(self) -> Iterator[Path]:
        """Yield the directories in order of precedence."""
        if self.is_trusted:
            yield from self._project_directories()
        yield self.agent_home / "workflows"
        yield self.home / ".claude" / "workflows"

    def _project_directories(self) -> Iterator[Path]:
        inside = self.cwd == self.project or self.project in self.cwd.parents
        innermost = self.cwd if inside else self.project
        between = [innermost, *(p for p in innermost.parents if self.project in (p, *p.parents))]
        for directory in between:
            yield directory / ".agent" / "workflows"
            yield directory / ".claude" / "workflows"


def workflow_file(path: Path) -> WorkflowScript:
    """Read a file. Raises ScriptError."""
    try:
        text = read_plain(path, MAX_SOURCE_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ScriptError(f"{path}: {reason}") from error
    try:
        return read_script(text)
    except ScriptError as error:
        raise ScriptError(f"{path.name}: {error}") from error


def saved_workflows(directories: Iterable[Path]) -> dict[str, Path]:
    """Return the files by name; earlier directories take precedence."""
    paths: dict[str, Path] = {}
    for directory in directories:
        for path in sorted(directory.glob("*.js")):
            paths.setdefault(path.stem, path)
    return paths


def find_workflow(name: str, places: WorkflowPlaces) -> Path:
    """Return the file of a name. Raises ScriptError, which lists the known names."""
    paths = saved_workflows(places.directories())
    if name not in paths:
        names = ", ".join(sorted(paths)) or "none"
        raise ScriptError(f"there is no workflow {name!r}; saved: {names}")
    return paths[name]
