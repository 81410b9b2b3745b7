"""What terminals send for each key of the registry arrives as that key, in a real terminal."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from benchmarks.program import Program
from benchmarks.terminal import Emulator
from tests.journeys.program import environment
from tui.input.actions import ACTIONS
from tui.input.key_names import parse_chord

pytestmark = pytest.mark.pty

SCRIPT: Final = Path(__file__).with_name("key_log_app.py")
NAMED: Final = {
    "enter": "\r", "tab": "\t", "escape": "\x1b", "backspace": "\x7f", "delete": "\x1b[3~",
    "space": " ", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
    "home": "\x1b[H", "end": "\x1b[F", "pageup": "\x1b[5~", "pagedown": "\x1b[6~",
    "shift+tab": "\x1b[Z", "ctrl+_": "\x1f", "ctrl+j": "\n",
}  # fmt: skip
"""What every terminal sends."""
ARROWS: Final = {"up": "A", "down": "B", "right": "C", "left": "D", "end": "F", "home": "H"}
MODIFIERS: Final = {"shift": 1, "alt": 2, "ctrl": 4, "super": 8}


def sent(key: str) -> list[str]:
    """Return the ways in which terminals send a key: the old way, and kitty's."""
    if key in NAMED:
        ways = [NAMED[key]]
        return ways if key == "escape" else [*ways, *kitty(key)]
    *modifiers, last = key.split("+")
    bits = 1 + sum(MODIFIERS[name] for name in modifiers)
    if last in ARROWS:
        return [f"\x1b[1;{bits}{ARROWS[last]}"]
    if not modifiers:
        return [last, *kitty(key)]
    if modifiers == ["ctrl"] and last.isalpha():
        return [chr(ord(last) & 0x1F), *kitty(key)]
    if modifiers == ["alt"] and len(last) == 1:
        return [f"\x1b{last}", *kitty(key)]
    if modifiers == ["shift"] and len(last) == 1:
        return [last.upper(), *kitty(key)]
    return kitty(key)


def kitty(key: str) -> list[str]:
    """Return a key as the keyboard protocol of kitty, foot, WezTerm and others sends it."""
    *modifiers, last = key.split("+")
    codes = {"enter": 13, "tab": 9, "escape": 27, "backspace": 127, "space": 32}
    if len(last) > 1 and last not in codes:
        return []
    bits = 1 + sum(MODIFIERS[name] for name in modifiers)
    code = codes.get(last) or ord(last)
    typed = ""
    if modifiers in ([], ["shift"]) and len(last) == 1:
        # Terminals say which text a key types where it types one.
        typed = f";{ord(last.upper() if modifiers else last)}"
    return [f"\x1b[{code};{bits}{typed}u"]


def keys_of_the_registry() -> list[str]:
    chords = [parse_chord(key) for action in ACTIONS for key in action.keys]
    return list(dict.fromkeys(key for chord in chords for key in chord))


def test_each_key_arrives_as_it_is_named(tmp_path: Path) -> None:
    log = tmp_path / "keys"
    program = Program.spawn(
        [sys.executable, str(SCRIPT), str(log)],
        environment=environment(tmp_path),
        directory=tmp_path,
        columns=60,
        rows=10,
    )

    def lines() -> list[str]:
        return log.read_text().splitlines() if log.exists() else []

    def is_longer(count: int, _: Emulator) -> bool:
        return len(lines()) > count

    try:
        assert program.wait_until(lambda _: lines() == ["ready"])
        wrong: list[tuple[str, str, list[str]]] = []
        for key in keys_of_the_registry():
            for way in sent(key):
                known = len(lines())
                program.type(way.encode())
                program.wait_until(partial(is_longer, known), timeout_s=5.0)
                if lines()[known:] != [key]:
                    wrong.append((key, repr(way), lines()[known:]))
        assert wrong == []
    finally:
        program.close()
