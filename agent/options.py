"""What the command line asked for, as one frozen value; nothing here reads a file or a variable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

OutputFormat = Literal["text", "json", "stream-json"]
InputFormat = Literal["text", "stream-json"]
SetupTrigger = Literal["init", "maintenance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """One start of the program."""

    prompt: str | None = None
    headless: bool = False
    continue_latest: bool = False
    resume: str | None = None
    """A session id, or an empty string to pick from a list."""
    fork_session: bool = False
    model: str | None = None
    effort: str | None = None
    permission_mode: str | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    add_dirs: tuple[Path, ...] = ()
    settings_file: Path | None = None
    plugin_dirs: tuple[Path, ...] = ()
    """Plugins whose hooks count in this run."""
    mcp_config: Path | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    output_format: OutputFormat = "text"
    input_format: InputFormat = "text"
    include_partial_messages: bool = False
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    allow_bypass: bool = False
    trust: bool = False
    demo: bool = False
    debug: bool = False
    after_clear: bool = False
    """Whether the conversation before this one was cleared away."""
    setup: SetupTrigger | None = None
    """Fire Setup hooks first."""
    setup_only: bool = False
    """End when the hooks of the start have run."""
    screen_reader: bool = False
    """Labelled lines in place of a drawn screen."""
