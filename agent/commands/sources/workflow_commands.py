"""Saved workflows as commands: `/audit ["users", "orders"]` has the model run one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from agent.commands.spec import CommandSource, Metadata, PromptCommand, Template
from agent.orchestration.saved_workflow import NAME
from agent.orchestration.script.script_meta import ScriptError
from agent.orchestration.workflow_files import saved_workflows, workflow_file
from permissions.base.text.sanitize import sanitize

_Signature: TypeAlias = tuple[int, int]


class WorkflowCommands:
    """One command for each workflow file; a file is read again after it changed."""

    def __init__(self, directories: Callable[[], Sequence[Path]]) -> None:
        """`directories` returns where to search, in order of priority."""
        self._directories = directories
        self._cache: dict[Path, tuple[_Signature, PromptCommand | None]] = {}

    def __call__(self) -> Sequence[PromptCommand]:
        """Return the commands; files that are not workflows are left out."""
        commands = [
            self._command(name, path)
            for name, path in saved_workflows(self._directories()).items()
            if NAME.fullmatch(name) is not None
        ]
        return [command for command in commands if command is not None]

    def _command(self, name: str, path: Path) -> PromptCommand | None:
        try:
            status = path.stat()
        except OSError:
            return None
        signature = status.st_mtime_ns, status.st_size
        cached_command = self._cache.get(path)
        if cached_command is None or cached_command[0] != signature:
            cached_command = signature, _read(name, path)
            self._cache[path] = cached_command
        return cached_command[1]


def _read(name: str, path: Path) -> PromptCommand | None:
    try:
        meta = workflow_file(path).meta
    except ScriptError:
        return None
    return PromptCommand(
        Metadata(
            name=name,
            description=sanitize(" ".join(meta.description.split())),
            argument_hint="[args]",
            source=CommandSource.WORKFLOW,
            when_to_use=meta.when_to_use,
            path=str(path),
        ),
        lambda: Template(""),
        render=_renderer(name),
    )


def _renderer(name: str) -> Callable[[str], Awaitable[str]]:
    async def render(arguments: str) -> str:
        text = f"Run the saved workflow {name} with the Workflow tool: name {name!r}"
        argument = arguments.strip()
        # Passed on as typed: if it is JSON, the script gets the value in `args`.
        return f"{text}, args: {argument}" if argument else f"{text}."

    return render
