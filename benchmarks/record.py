"""Record the demo: run it in a pseudo-terminal like a user would, and draw the screen."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agent.model.scripted.demo import SUGGESTED_PROMPT
from benchmarks.cast import as_cast
from benchmarks.program import Program
from benchmarks.svg import PAPER, Shot, as_svg, shoot
from themes.registry import available_themes, load_theme

COLUMNS: Final = 100
ROWS: Final = 30
THEME_COLUMNS: Final = 84
THEME_ROWS: Final = 24
_TITLE: Final = "agent-tui: the demo, on its scripted model"
_DIALOG_FOOTER: Final = "esc reject"
_LAST_WORDS: Final = "I was the demo model"
_EDIT_QUESTION: Final = "Make this edit"
_SHOT_EVERY_S: Final = 1.2
_LIMIT_S: Final = 120.0
_DIALOG_S: Final = 3.5


class DemoStuckError(Exception):
    """The demo did not reach its end; the text includes the last screen."""

    def __init__(self, screen: str) -> None:
        super().__init__(f"the demo did not come to its end; its screen:\n{screen}")


def record(program: Program) -> list[Shot]:
    """Send the suggested prompt, approve every ask, and return the screens.

    Raises:
        DemoStuckError: there was no prompt, or no end within two minutes.
    """
    shots: list[Shot] = []
    _type_prompt(program, shots)
    limit_s = time.monotonic() + _LIMIT_S
    while time.monotonic() < limit_s and program.exit_status is None:
        program.listen(_SHOT_EVERY_S)
        program.review()
        text = program.emulator.text()
        if _DIALOG_FOOTER in text:
            # New dialogs ignore keys for a moment; readers need time for this picture.
            _add(shots, shoot(program.emulator, seconds=_DIALOG_S))
            program.type(b"\r")
            program.wait_until(lambda screen: _DIALOG_FOOTER not in screen.text(), timeout_s=5)
        elif _LAST_WORDS in text.replace("\n", " "):
            program.wait_for_quiet(1.0)
            _add(shots, shoot(program.emulator, seconds=6.0))
            return shots
        else:
            _add(shots, shoot(program.emulator, seconds=_SHOT_EVERY_S))
    raise DemoStuckError(program.emulator.text())


def main(directory: Path) -> int:
    """Write `demo.svg` (animated), `screen.svg` (a still of the edit to approve), the recording
    `demo.cast`, and a picture of each theme."""
    directory.mkdir(parents=True, exist_ok=True)
    try:
        with _demo(COLUMNS, ROWS) as program:
            shots = record(program)
            cast = as_cast(
                program.events,
                columns=COLUMNS,
                rows=ROWS,
                title=_TITLE,
                start_s=program.started_s,
            )
        edits = [shot for shot in shots if _EDIT_QUESTION in shot.text()]
        still = shots.index(edits[0]) if edits else len(shots) - 1
        _write(directory / "demo.svg", as_svg(shots, title=_TITLE, still=still))
        _write(directory / "screen.svg", as_svg([shots[still]], title=_TITLE))
        _write(directory / "demo.cast", cast)
        for name in available_themes():
            theme, _ = load_theme(name)
            look = None if theme.dark else PAPER
            title = f"agent-tui: {theme.label}"
            _write(
                directory / f"theme-{name}.svg", as_svg([_edit_in(name)], title=title, look=look)
            )
    except DemoStuckError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    print(path)


@contextmanager
def _demo(columns: int, rows: int, theme: str = "dark") -> Iterator[Program]:
    """Run the demo in a temporary home."""
    with tempfile.TemporaryDirectory(prefix="demo-") as home:
        settings = Path(home) / ".agent" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"theme": theme}), encoding="utf-8")
        program = Program.spawn(
            [str(Path(sys.executable).parent / "agent-tui"), "--demo"],
            environment={
                "PATH": os.environ["PATH"],
                "HOME": home,
                "LANG": "C.UTF-8",
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
            },
            directory=Path(home),
            columns=columns,
            rows=rows,
        )
        try:
            yield program
        finally:
            program.close()


def _edit_in(theme: str) -> Shot:
    """Return a picture of the edit to approve. Raises DemoStuckError."""
    with _demo(THEME_COLUMNS, THEME_ROWS, theme) as program:
        _type_prompt(program, [])
        limit_s = time.monotonic() + _LIMIT_S
        while time.monotonic() < limit_s and program.exit_status is None:
            if not program.wait_until(lambda screen: _DIALOG_FOOTER in screen.text(), timeout_s=30):
                break
            program.wait_for_quiet(0.6)
            if _EDIT_QUESTION in program.emulator.text():
                return shoot(program.emulator)
            program.type(b"\r")
            program.wait_until(lambda screen: _DIALOG_FOOTER not in screen.text(), timeout_s=5)
        raise DemoStuckError(program.emulator.text())


def _type_prompt(program: Program, shots: list[Shot]) -> None:
    """Wait until the prompt accepts keys, then type the question at a user's pace."""
    first_word, _, rest = SUGGESTED_PROMPT.partition(" ")
    program.wait_for_quiet(1.0)
    program.type(first_word.encode())
    if not program.wait_until(lambda screen: first_word in screen.text(), timeout_s=10):
        raise DemoStuckError(program.emulator.text())
    _add(shots, shoot(program.emulator, seconds=1.0))
    for character in " " + rest:
        program.type(character.encode())
        program.listen(0.02)
    program.review()
    _add(shots, shoot(program.emulator, seconds=1.5))
    program.type(b"\r")


def _add(shots: list[Shot], shot: Shot) -> None:
    """Append a shot unless it equals the last one."""
    if not shots or shots[-1].rows != shot.rows:
        shots.append(shot)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
