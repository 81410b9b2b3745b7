"""Payloads of what surrounds the agent: settings, instructions, folders, files, worktrees, MCP."""

from __future__ import annotations

from typing import ClassVar

from hooks.events.base import HookEventPayload
from permissions.base.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsLoaded(HookEventPayload):
    """An instruction file was loaded; `load_reason` says when, such as `session_start`."""

    event_name: ClassVar[str] = "InstructionsLoaded"
    file_path: str
    memory_type: str
    load_reason: str
    globs: list[str] | None = None
    trigger_file_path: str | None = None
    parent_file_path: str | None = None


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChange(HookEventPayload):
    """A settings or skill file changed; `source` is such as `project_settings`."""

    event_name: ClassVar[str] = "ConfigChange"
    source: str
    file_path: str | None = None


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class CwdChanged(HookEventPayload):
    """The shell's current directory moved."""

    event_name: ClassVar[str] = "CwdChanged"
    old_cwd: str
    new_cwd: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryAdded(HookEventPayload):
    """A working directory was added while the session runs."""

    event_name: ClassVar[str] = "DirectoryAdded"
    directory: str
    source: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class FileChanged(HookEventPayload):
    """A watched file changed; `event` is `change`, `add` or `unlink`."""

    event_name: ClassVar[str] = "FileChanged"
    file_path: str
    event: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeCreate(HookEventPayload):
    """A worktree is wanted; the hook replaces what git would do."""

    event_name: ClassVar[str] = "WorktreeCreate"
    name: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeRemove(HookEventPayload):
    """A worktree is removed."""

    event_name: ClassVar[str] = "WorktreeRemove"
    worktree_path: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class Elicitation(HookEventPayload):
    """An MCP server asks the person something."""

    event_name: ClassVar[str] = "Elicitation"
    mcp_server_name: str
    message: str
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: dict[str, object] | None = None


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class ElicitationResult(HookEventPayload):
    """The person answered; the answer has not gone back to the server yet."""

    event_name: ClassVar[str] = "ElicitationResult"
    mcp_server_name: str
    action: str
    mode: str | None = None
    elicitation_id: str | None = None
    content: dict[str, object] | None = None
