"""The status line command: it gets the session as JSON; its first lines appear below the prompt.

The JSON has the fields that existing status line scripts read. A newer run ends an older one, a
run that hangs is killed, and its output can only change text, colors and links.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from agent.commands.command_context import CommandContext
from agent.conversation_facts import ConversationStatus
from agent.events import Usage
from agent.prompt.git import read_branch
from agent.prompt.git_remote import read_remote, read_worktree
from agent.status_line.ansi_text import Piece, pieces
from permissions.base.process.ask_command import CommandFailed, ask_command
from permissions.base.text.late_pattern import compile_late

TIMEOUT_S: Final = 5.0
MAX_LINES: Final = 3
_FAMILY: Final = compile_late(r"claude-([a-z]+)(?:-(\d{1,2}(?:-\d{1,2})?))?(?:-\d{8})?")
_LINE_ENDS: Final = compile_late(r"\r\n|\n")


class StatusText(Struct, frozen=True):
    """The result of one run."""

    lines: tuple[tuple[Piece, ...], ...] = ()
    problem: str = ""
    """Why there is nothing to show, for users; empty after a success."""


class StatusFacts(Struct, frozen=True, kw_only=True):
    """What the screen knows about the session and the conversation does not."""

    columns: int = 80
    rows: int = 24
    """Size of the terminal."""
    title: str = ""
    """The session's name; empty without one."""
    prompt_id: str = ""
    elapsed_s: float = 0.0
    """Since the conversation began or was resumed."""
    waited_s: float = 0.0
    """The part of it that was spent waiting for the model."""
    lines_added: int = 0
    lines_removed: int = 0
    vim_mode: str = ""
    """`NORMAL`, `INSERT` and so on; empty without Vim key bindings."""
    last: Usage | None = None
    """Usage of the latest response; None before the first."""


def status_input(context: CommandContext, facts: StatusFacts) -> dict[str, Any]:
    """Return the JSON object that the command receives on standard input.

    Values that are unknown or do not exist here are left out.
    """
    session, status = context.session, context.status
    root = context.settings().project_root
    workspace: dict[str, Any] = {
        "current_dir": str(session.cwd),
        "project_dir": str(root),
        "added_dirs": [str(path) for path in context.gate.context.additional_dirs],
    }
    worktree = read_worktree(root)
    if worktree is not None:
        workspace["git_worktree"] = worktree
    if remote := read_remote(root):
        workspace["repo"] = {"host": remote.host, "owner": remote.owner, "name": remote.name}
    status_json: dict[str, Any] = {
        "hook_event_name": "Status",
        "session_id": session.session_id,
        "session_name": facts.title,
        "prompt_id": facts.prompt_id,
        "transcript_path": str(session.transcript_path),
        "cwd": str(session.cwd),
        "version": context.version,
        "model": {"id": status.model, "display_name": display_name(status.model)},
        "workspace": workspace,
        "cost": {
            "total_cost_usd": status.cost_usd,
            "total_duration_ms": round(1000 * facts.elapsed_s),
            "total_api_duration_ms": round(1000 * facts.waited_s),
            "total_lines_added": facts.lines_added,
            "total_lines_removed": facts.lines_removed,
        },
        "context_window": _window(status, facts.last),
        "exceeds_200k_tokens": status.context_tokens > 200_000,
        "fast_mode": False,
        "thinking": {"enabled": status.thinks},
        "output_style": {"name": "default"},
        "permission_mode": str(status.mode),
        "columns": facts.columns,
        "rows": facts.rows,
    }
    if worktree is not None:
        status_json["worktree"] = {"name": worktree, "path": str(root)}
        if branch := read_branch(root):
            status_json["worktree"]["branch"] = branch
    if status.effort:
        status_json["effort"] = {"level": status.effort}
    if facts.vim_mode:
        status_json["vim"] = {"mode": facts.vim_mode}
    return {name: value for name, value in status_json.items() if value != ""}


def _window(status: ConversationStatus, last: Usage | None) -> dict[str, Any]:
    """Return how full the model's window is; percentages are integers, which scripts compare."""
    size = max(1, status.context_window)
    read = last.prompt_tokens if last is not None else status.context_tokens
    used_percent = min(100, round(100 * read / size))
    usage = last and {
        "input_tokens": last.input_tokens,
        "output_tokens": last.output_tokens,
        "cache_creation_input_tokens": last.cache_write_5m_tokens + last.cache_write_1h_tokens,
        "cache_read_input_tokens": last.cache_read_tokens,
    }
    return {
        "total_input_tokens": read,
        "total_output_tokens": last.output_tokens if last is not None else 0,
        "context_window_size": status.context_window,
        "used_percentage": used_percent,
        "remaining_percentage": 100 - used_percent,
        "current_usage": usage,
    }


def display_name(model: str) -> str:
    """Return a model's name for users: `Opus 5.5` for `claude-opus-5-5`; otherwise its id."""
    match = _FAMILY.fullmatch(model)
    if match is None:
        return model
    return " ".join(filter(None, (match[1].title(), (match[2] or "").replace("-", "."))))


async def run_status_command(
    command: str,
    status_json: Mapping[str, Any],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float = TIMEOUT_S,
) -> StatusText:
    """Run the command once. Raises nothing but cancellation, which ends the command as well."""
    workspace = status_json.get("workspace", {})
    own_env = {
        "COLUMNS": str(status_json.get("columns", 80)),
        "LINES": str(status_json.get("rows", 24)),
        "CLAUDE_PROJECT_DIR": str(workspace.get("project_dir", cwd)),
    }
    try:
        text = await ask_command(
            command, status_json, cwd=cwd, env={**env, **own_env}, timeout_s=timeout_s
        )
    except CommandFailed as error:
        return StatusText(problem=f"the status line command {error}")
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    lines = [pieces(" ".join(line.split("\t")).rstrip()) for line in _LINE_ENDS.split(text)]
    with_text = [line for line in lines if any(piece.text.strip() for piece in line)]
    return StatusText(tuple(with_text[:MAX_LINES]))
