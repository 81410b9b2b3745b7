"""Payloads about the workspace: settings, instructions, directories, files, worktrees, MCP."""

from __future__ import annotations

from hooks.events.payload import HookEventPayload


class InstructionsLoaded(HookEventPayload, frozen=True, kw_only=True):
    """An instruction file was loaded; `load_reason` is why, such as `session_start`."""

    file_path: str
    memory_type: str
    load_reason: str
    globs: list[str] | None = None
    trigger_file_path: str | None = None
    parent_file_path: str | None = None


class ConfigChange(HookEventPayload, frozen=True, kw_only=True):
    """A settings or skill file changed; `source` is such as `project_settings`."""

    source: str
    file_path: str | None = None


class CwdChanged(HookEventPayload, frozen=True, kw_only=True):
    """The shell's current directory moved."""

    old_cwd: str
    new_cwd: str


class DirectoryAdded(HookEventPayload, frozen=True, kw_only=True):
    """A working directory was added while the session runs."""

    directory: str
    source: str


class FileChanged(HookEventPayload, frozen=True, kw_only=True):
    """A watched file changed; `event` is `change`, `add` or `unlink`."""

    file_path: str
    event: str


class WorktreeCreate(HookEventPayload, frozen=True, kw_only=True):
    """A worktree is requested; the hook replaces what git would do."""

    name: str


class WorktreeRemove(HookEventPayload, frozen=True, kw_only=True):
    """A worktree is removed."""

    worktree_path: str


class Elicitation(HookEventPayload, frozen=True, kw_only=True):
    """An MCP server asks the user something."""

    mcp_server_name: str
    message: str
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: dict[str, object] | None = None


class ElicitationResult(HookEventPayload, frozen=True, kw_only=True):
    """The user answered; the answer has not been returned to the server yet."""

    mcp_server_name: str
    action: str
    mode: str | None = None
    elicitation_id: str | None = None
    content: dict[str, object] | None = None
