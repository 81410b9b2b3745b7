"""The data that sections are computed from; they read nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct

from agent.prompt.instruction_files import InstructionFile


class GitState(Struct, frozen=True):
    """The state of a repository at one moment."""

    branch: str | None
    """None with a detached head."""
    head: str = ""
    """Short id and subject of the last commit; empty in a repository without one."""
    status_lines: tuple[str, ...] = ()
    """Lines of the short status, at most `MAX_STATUS_LINES` of them."""
    changed_count: int = 0
    recent: tuple[str, ...] = ()
    """Subjects of the last commits, newest first."""


class PromptContext(Struct, frozen=True):
    """The facts about a conversation that its prompt describes."""

    launch_dir: Path
    cwd: Path
    platform: str
    """Such as `Linux 6.1 (x86_64)`."""
    shell: str
    today: date
    model: str
    mode: str
    is_repository: bool = False
    git: GitState | None = None
    """None before the directory is trusted, because no git command may run there."""
    additional_dirs: Sequence[Path] = ()
    scratch_dir: Path | None = None
    instructions: Sequence[InstructionFile] = ()
    facts: str = ""
    """One line per fact stored by earlier sessions."""
    headless: bool = False
    language: str | None = None
