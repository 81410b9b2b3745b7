"""Decides whether the early prompt may be shown: only if the screen is certain to follow."""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent.settings.user_values import agent_home_path
from permissions.base.files.plain_file import read_text
from tui.input.early_prompt import MIN_COLUMNS, MIN_ROWS, EarlyPrompt
from tui.screen.output_stream import screen_fileno

if TYPE_CHECKING:
    from agent.options import RunOptions


@contextmanager
def early_prompt(
    env: Mapping[str, str], options: RunOptions | None = None
) -> Iterator[EarlyPrompt | None]:
    """Yield the early prompt, or None if the screen may not follow; then restore the terminal.

    `options` are those of the command line; None means a prompt or `--continue` at most.
    """
    early = _open(env) if options is None or _begins_with_prompt(options) else None
    try:
        yield early
    finally:
        if early is not None:
            early.restore_terminal()


def _open(env: Mapping[str, str]) -> EarlyPrompt | None:
    """Show the prompt and return it, or return None.

    It is not shown at the very first start, which begins with questions; nor if the user may want
    the screen reader or the inline mode; nor for a background process, which a change of the
    terminal's settings would stop (SIGTTOU).
    """
    if env.get("TERM", "") in {"", "dumb"} or _may_need_other_screen(env) or _is_first_start(env):
        return None
    try:
        for stream in (sys.__stdin__, sys.__stdout__):
            if stream is None or not stream.isatty():
                return None
        assert sys.__stdin__ is not None
        input_fileno, output_fileno = sys.__stdin__.fileno(), screen_fileno()
        size = os.get_terminal_size(output_fileno)
        if size.columns < MIN_COLUMNS or size.lines < MIN_ROWS:
            return None
        if os.tcgetpgrp(input_fileno) != os.getpgrp():
            return None
        return EarlyPrompt(input_fileno, output_fileno)
    except (OSError, ValueError, termios.error):
        return None


def _begins_with_prompt(options: RunOptions) -> bool:
    """Return whether a run with these options shows the prompt before anything else."""
    return not (
        options.headless
        or options.setup_only
        or options.demo
        or options.is_inline
        or options.screen_reader
        or options.worktree is not None  # its hooks and its branch are reported first
        or options.resume == ""  # a list to choose from
    )


def _may_need_other_screen(env: Mapping[str, str]) -> bool:
    """Return whether environment or settings may ask for another kind of screen.

    The settings are searched as text: to parse them here would take too long.
    """
    if any(name.endswith("_SCREEN_READER") for name in env):
        return True
    try:
        text = read_text(os.path.join(_agent_home(env), "settings.json"))
    except (OSError, ValueError):
        # A file that cannot be read here has no effect later, either.
        return False
    return text is not None and ("axScreenReader" in text or '"inline"' in text)


def _is_first_start(env: Mapping[str, str]) -> bool:
    """Return whether questions may precede the prompt because no model is configured."""
    is_named = any(name.startswith("ANTHROPIC_") for name in env)
    return not is_named and not os.path.isdir(_agent_home(env))


def _agent_home(env: Mapping[str, str]) -> str:
    return agent_home_path(env, env.get("HOME") or "/")
