"""Inside tmux the screen shows what Textual's own output would."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest
from pyte.screens import Char

pytestmark = [
    pytest.mark.tmux,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]

APP = Path(__file__).with_name("pty_app.py")
ROOT = Path(__file__).parents[3]


class Tmux:
    """A tmux server of its own with one window."""

    def __init__(self, directory: Path, renderer: str) -> None:
        self._base = ["tmux", "-S", str(directory / f"{renderer}.sock"), "-f", "/dev/null"]
        program = shlex.join([sys.executable, str(APP)])
        settings = f"PYTHONPATH={ROOT} AGENT_TUI_RENDERER={renderer}"
        command = f"cd {shlex.quote(str(directory))} && exec env {settings} {program}"
        self._run("new-session", "-d", "-x", "100", "-y", "30", command)

    def send(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def picture(self) -> list[list[Char]]:
        """The screen with its colors; what cannot be seen on a space is left out."""
        screen = pyte.Screen(100, 30)
        pyte.Stream(screen).feed(self._run("capture-pane", "-p", "-e").replace("\n", "\r\n"))
        return [
            [
                cell._replace(fg="default") if cell.data == " " and not cell.reverse else cell
                for cell in map(screen.buffer[y].__getitem__, range(screen.columns))
            ]
            for y in range(screen.lines)
        ]

    def wait_for(self, is_reached: Callable[[str], bool]) -> str:
        until = time.monotonic() + 100
        while not is_reached(picture := self._run("capture-pane", "-p")):
            assert time.monotonic() < until, picture
            time.sleep(0.05)
        return picture

    def close(self) -> None:
        subprocess.run([*self._base, "kill-server"], check=False, capture_output=True)

    def _run(self, *arguments: str) -> str:
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        environment.pop("TMUX", None)
        done = subprocess.run(
            [*self._base, *arguments], check=True, capture_output=True, text=True, env=environment
        )
        return done.stdout


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[list[Tmux]]:
    opened = [Tmux(tmp_path, renderer) for renderer in ("cells", "textual")]
    yield opened
    for session in opened:
        session.close()


def test_scrolling_typing_and_resizing_look_the_same(sessions: list[Tmux]) -> None:
    pictures: list[list[list[Char]]] = []
    for session in sessions:
        session.wait_for(lambda text: "ready" in text)
        session.send("F4")
        session.wait_for(lambda text: "line 59" in text)
        session.send(*["Up"] * 9, *["Down"] * 2, "F5")
        session.wait_for(lambda text: "at 27" in text)
        session.send("h", "é", "好")
        session.wait_for(lambda text: "<hé好> 100" in text)
        session.resize(70, 20)
        # A key and a resize reach the program by two ways: the key could overtake.
        session.wait_for(_is_framed_at(70))
        session.send("x")
        session.wait_for(lambda text: "<hé好x> 70" in text)
        session.send("F5")
        session.wait_for(lambda text: "at 27" in text)
        pictures.append(_settled(session))
    assert pictures[0] == pictures[1]


def _is_framed_at(width: int) -> Callable[[str], bool]:
    """Whether the field's frame is closed at this width; tmux alone only cuts the rows off."""
    return lambda text: any(len(row) == width and row.endswith("▔▎") for row in text.splitlines())


def _settled(session: Tmux) -> list[list[Char]]:
    """The picture once three looks in a row agree."""
    looks = [session.picture() for _ in range(3)]
    while not looks[0] == looks[1] == looks[2]:
        looks = [*looks[1:], session.picture()]
    return looks[-1]
