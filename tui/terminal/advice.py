"""What a terminal supports, and how to configure what it does not support yet. Pure.

The terminal is identified by the environment only, so that this also works without the screen.
Sources: the terminals' manuals, on the kitty keyboard protocol, OSC 52, focus reports and 24-bit
color.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from tui.terminal.title import knows_progress


class TerminalAdvice(Struct, frozen=True):
    """The advice about one capability."""

    name: str
    state: Literal["ok", "note", "problem"]
    text: str
    fix: str = ""
    """What to configure, as lines to copy; "" if nothing needs to be done."""


class TerminalProgram(Struct, frozen=True):
    """A terminal program."""

    name: str
    sends_shift_enter: bool
    """Whether it sends Shift+Enter by default."""
    fix: str = ""
    """How to configure Shift+Enter."""
    has_true_color: bool = True


_VSCODE: Final = (
    "In keybindings.json of the editor: "
    '{"key": "shift+enter", "command": "workbench.action.terminal.sendSequence", '
    '"args": {"text": "\\u001b[13;2u"}, "when": "terminalFocus"}'
)
_BY_PROGRAM: Final[Mapping[str, TerminalProgram]] = {
    "ghostty": TerminalProgram("Ghostty", True),
    "WezTerm": TerminalProgram(
        "WezTerm", False, "In ~/.wezterm.lua: config.enable_kitty_keyboard = true"
    ),
    "iTerm.app": TerminalProgram(
        "iTerm2", False, 'Settings, Profiles, Keys: switch on "Report keys using CSI u"'
    ),
    "Apple_Terminal": TerminalProgram(
        "Terminal.app",
        False,
        'It does not send shift+enter. Settings, Profiles, Keyboard: "Use Option as Meta key", '
        "then option+enter is a line break",
        has_true_color=False,
    ),
    "vscode": TerminalProgram("the terminal of VS Code", False, _VSCODE),
    "rio": TerminalProgram("Rio", True),
    "WarpTerminal": TerminalProgram("Warp", False, "Warp does not send shift+enter; use ctrl+j"),
    "Hyper": TerminalProgram("Hyper", False, "Hyper does not send shift+enter; use ctrl+j"),
}


def terminal_of(env: Mapping[str, str]) -> TerminalProgram | None:
    """Return the terminal that the environment identifies; None if it is unknown."""
    terminal = _BY_PROGRAM.get(env.get("TERM_PROGRAM", ""))
    if terminal is not None:
        return terminal
    term = env.get("TERM", "")
    if env.get("KITTY_WINDOW_ID") or term == "xterm-kitty":
        return TerminalProgram("kitty", True)
    if env.get("ALACRITTY_WINDOW_ID") or term == "alacritty":
        return TerminalProgram("Alacritty", True)
    if term.startswith("foot"):
        return TerminalProgram("foot", True)
    if env.get("WT_SESSION"):
        return TerminalProgram(
            "Windows Terminal",
            False,
            'In its settings.json, actions: {"keys": "shift+enter", "command": '
            '{"action": "sendInput", "input": "\\u001b[13;2u"}}',
        )
    if env.get("VTE_VERSION"):
        return TerminalProgram(
            "a VTE terminal (GNOME and similar)", False, "It does not send shift+enter; use ctrl+j"
        )
    if env.get("KONSOLE_VERSION"):
        return TerminalProgram(
            "Konsole",
            False,
            r"Settings, Edit Profile, Keyboard: give Return+Shift the output \E[13;2u",
        )
    return None


def advise(env: Mapping[str, str]) -> Iterator[TerminalAdvice]:
    """Yield the advice about the terminal, the most important first."""
    term = env.get("TERM", "")
    if term in {"", "dumb"}:
        yield TerminalAdvice(
            "terminal",
            "problem",
            f"TERM is {term or 'not set'}: the screen cannot be drawn",
            "Set TERM, for example to xterm-256color, or use lines: agent-tui --screen-reader",
        )
        return
    terminal = terminal_of(env)
    name = terminal.name if terminal is not None else f"TERM={term}"
    yield TerminalAdvice("terminal", "ok", name)
    yield _color(env, terminal)
    yield _new_line(terminal)
    yield from _multiplexer(env)
    if "utf" not in _locale(env).lower():
        yield TerminalAdvice(
            "characters",
            "note",
            f"the locale is {_locale(env) or 'not set'}, which is not UTF-8",
            "export LANG=C.UTF-8",
        )
    if knows_progress(env):
        yield TerminalAdvice("progress", "ok", "shown by the terminal while the model works")
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        yield TerminalAdvice(
            "ssh",
            "note",
            "the clipboard is reached through the terminal (OSC 52); images cannot be pasted",
        )


def _color(env: Mapping[str, str], terminal: TerminalProgram | None) -> TerminalAdvice:
    if env.get("NO_COLOR"):
        return TerminalAdvice("color", "note", "turned off by NO_COLOR")
    if env.get("COLORTERM", "") in {"truecolor", "24bit"}:
        return TerminalAdvice("color", "ok", "24-bit")
    if terminal is not None and not terminal.has_true_color:
        return TerminalAdvice(
            "color", "note", "256 colors, all that this terminal has", "/theme ansi16"
        )
    return TerminalAdvice(
        "color",
        "note",
        "24-bit color is not reported",
        "If your terminal has it: export COLORTERM=truecolor. If not: /theme ansi16",
    )


def _new_line(terminal: TerminalProgram | None) -> TerminalAdvice:
    always = r"ctrl+j, or \ before enter, inserts a line break everywhere"
    if terminal is None:
        return TerminalAdvice("line break", "note", f"shift+enter may not work; {always}")
    if terminal.sends_shift_enter:
        return TerminalAdvice("line break", "ok", "shift+enter")
    return TerminalAdvice("line break", "note", always, terminal.fix)


def _multiplexer(env: Mapping[str, str]) -> Iterator[TerminalAdvice]:
    if env.get("TMUX"):
        yield TerminalAdvice(
            "tmux",
            "note",
            "it can pass on keys, focus, colors, clipboard and notifications",
            "In ~/.tmux.conf:\n"
            "set -s extended-keys on\n"
            "set -as terminal-features 'xterm*:extkeys:RGB'\n"
            "set -g focus-events on\n"
            "set -g set-clipboard on\n"
            "set -g allow-passthrough on",
        )
    elif env.get("STY"):
        yield TerminalAdvice(
            "screen",
            "note",
            "GNU screen passes on neither shift+enter nor 24-bit color, and uses ctrl+a",
            "For ctrl+a inside: press ctrl+a then a. Use /theme ansi16.",
        )
    elif env.get("ZELLIJ"):
        yield TerminalAdvice(
            "zellij",
            "note",
            "it uses ctrl+g, ctrl+o, ctrl+p, ctrl+s and ctrl+t itself",
            "Lock it (ctrl+g) to use these keys here, or rebind its modes.",
        )


def _locale(env: Mapping[str, str]) -> str:
    return env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
