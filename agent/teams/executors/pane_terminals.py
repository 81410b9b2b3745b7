"""The terminals, and how each opens a pane beside the program's.

A pane has the worker's color: as its border, if the terminal supports that (tmux), and always as
the bar that the worker shows at the top.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from agent.teams.executors.executor import SpawnConfig
from agent.teams.team_file import ExecutorName

Argv = tuple[str, ...]
Split = Callable[[SpawnConfig, Sequence[str], Mapping[str, str], str], Argv]
"""Takes a worker, its command, the environment, and the last worker's pane or "". New panes open
below that one, as each pane beside the leader would halve the leader's."""
_COLOR: Final = "@agent_color"


class PaneTerminal(Struct, frozen=True):
    """One terminal."""

    name: ExecutorName
    is_here: Callable[[Mapping[str, str]], bool]
    """Whether this program runs inside the terminal, by its environment."""
    split: Split
    """Returns the command that opens a pane, runs a command in it and prints the pane's id."""
    mark: Callable[[str, SpawnConfig], tuple[Argv, ...]] = lambda _pane, _config: ()
    """Returns the commands that give a pane its color and title."""


def _tmux_split(
    config: SpawnConfig, command: Sequence[str], env: Mapping[str, str], above: str
) -> Argv:
    target = ("-t", env["TMUX_PANE"]) if env.get("TMUX_PANE") else ()
    # tmux expands formats in it, among them `#(command)`.
    cwd = str(config.cwd).replace("#", "##")
    return (
        "tmux", "split-window", *target, "-d", "-h", "-c", cwd,
        "-P", "-F", "#{pane_id}", shlex.join(command),
    )  # fmt: skip


def _tmux_mark(pane: str, config: SpawnConfig) -> tuple[Argv, ...]:
    # A window has one style for all borders, which reads a user option of each pane.
    style = f"fg=#{{?{_COLOR},#{{{_COLOR}}},default}}"
    window = ("tmux", "set-option", "-w", "-t", pane)
    return (
        ("tmux", "select-pane", "-t", pane, "-T", config.agent_id),
        ("tmux", "set-option", "-p", "-t", pane, _COLOR, config.color),
        (*window, "pane-border-style", style),
        (*window, "pane-active-border-style", style),
        (*window, "pane-border-format", f"#{{?{_COLOR}, #{{pane_title}} ,}}"),
        (*window, "pane-border-status", "top"),
        ("tmux", "select-layout", "-t", pane, "main-vertical"),
    )


def _is_kitty(env: Mapping[str, str]) -> bool:
    # Without a socket, kitty is controlled through the terminal, whose input the screen reads.
    return bool(env.get("KITTY_WINDOW_ID") and env.get("KITTY_LISTEN_ON"))


def _kitty_split(
    config: SpawnConfig, command: Sequence[str], env: Mapping[str, str], above: str
) -> Argv:
    return (
        "kitty", "@", "launch", "--self", "--type=window", "--location=vsplit", "--keep-focus",
        f"--title={config.agent_id}", f"--cwd={config.cwd}", *command,
    )  # fmt: skip


def _kitty_mark(pane: str, config: SpawnConfig) -> tuple[Argv, ...]:
    # The first window is as wide as all others together.
    return (("kitty", "@", "goto-layout", f"--match=window_id:{pane}", "tall"),)


def _wezterm_split(
    config: SpawnConfig, command: Sequence[str], env: Mapping[str, str], above: str
) -> Argv:
    target = above or env.get("WEZTERM_PANE")
    pane = ("--pane-id", target) if target else ()
    side = "--bottom" if above else "--right"
    return ("wezterm", "cli", "split-pane", *pane, side, "--cwd", str(config.cwd), "--",
            *command)  # fmt: skip


def _iterm2_split(
    config: SpawnConfig, command: Sequence[str], env: Mapping[str, str], above: str
) -> Argv:
    line = f"cd {shlex.quote(str(config.cwd))} && exec {shlex.join(command)}"
    command_text = f"/bin/sh -c {shlex.quote(line)}".replace("\\", "\\\\").replace('"', '\\"')
    session = "last session of current tab" if above else "current session"
    way = "horizontally" if above else "vertically"
    script = (
        f'tell application "iTerm2" to tell {session} of current window to '
        f'return unique ID of (split {way} with default profile command "{command_text}")'
    )
    return ("osascript", "-e", script)


TERMINALS: Final = (
    PaneTerminal("kitty", _is_kitty, _kitty_split, _kitty_mark),
    PaneTerminal("wezterm", lambda env: bool(env.get("WEZTERM_PANE")), _wezterm_split),
    PaneTerminal("iterm2", lambda env: env.get("TERM_PROGRAM") == "iTerm.app", _iterm2_split),
    PaneTerminal("tmux", lambda env: bool(env.get("TMUX")), _tmux_split, _tmux_mark),
)
"""Terminals in order of precedence, the multiplexer last."""


def terminal_here(env: Mapping[str, str]) -> PaneTerminal | None:
    """Return the terminal that can show panes here; None if there is none.

    Inside tmux only its panes are visible: variables of a terminal are then those of the terminal
    in which tmux was started.
    """
    order = TERMINALS[-1:] if env.get("TMUX") else TERMINALS
    return next((one for one in order if one.is_here(env)), None)
