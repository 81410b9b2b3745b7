"""The whole program inside a real terminal multiplexer: wide text, resizing, marking, copying."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Pace, Scenario, Text, Turn
from tests.journeys.program import environment
from tests.terminal.conftest import ThreadedServer

pytestmark = [
    pytest.mark.pty,
    pytest.mark.tmux,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]

QUIET_S = 1.0
POLL_S = 0.05
LIMIT_S = 100.0
"""A program that fails shows what it shows; one on a busy machine has the time."""
LONG = "This paragraph is long enough to be wrapped at the width of the window, 漢字 in it, twice."
ANSWER = f"""Wide text, each with a bar behind:

```
cjk 漢字かな한글|
family~ 👩‍👩‍👧‍👦|
tone~ 👩🏽‍💻|
flag 🇫🇷|
marks e\u0301a\u0308o\u0302|
heart~ ❤\ufe0f|
```

{LONG}

| 名前 | value |
|---|---|
| 漢字 | 1 |

That is all."""


class TmuxProgram:
    """The program in a tmux server of its own; text is what the terminal shows."""

    def __init__(self, directory: Path, project: Path, env: dict[str, str], *options: str) -> None:
        self._base = ["tmux", "-S", str(directory / "tmux.sock"), "-f", "/dev/null"]
        self._env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        self._env.pop("TMUX", None)
        # TMUX and TERM are tmux's to set.
        given = {name: value for name, value in env.items() if name != "TERM"}
        words = ["env", *(f"{name}={value}" for name, value in given.items())]
        command = shlex.join([*words, sys.executable, "-m", "tui.cli", *options])
        self.run("new-session", "-d", "-x", "70", "-y", "40", "-c", str(project), f"exec {command}")

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._base, *arguments], check=True, capture_output=True, text=True, env=self._env
        )
        return done.stdout

    def type(self, text: str) -> None:
        self.run("send-keys", "-l", text)

    def screen(self) -> str:
        return self.run("capture-pane", "-p")

    def wait_for(self, is_reached: Callable[[str], bool]) -> str:
        until = time.monotonic() + LIMIT_S
        while not is_reached(picture := self.screen()):
            assert time.monotonic() < until, picture
            time.sleep(POLL_S)
        return picture

    def settled(self) -> str:
        """The picture that has stayed the same for a while.

        tmux moves the rows of a resized window itself before the program draws them again.
        """
        picture, since = self.screen(), time.monotonic()
        while time.monotonic() - since < QUIET_S:
            time.sleep(POLL_S)
            if (look := self.screen()) != picture:
                picture, since = look, time.monotonic()
        return picture

    def close(self) -> None:
        subprocess.run([*self._base, "kill-server"], check=False, capture_output=True)


Start = Callable[..., TmuxProgram]


@pytest.fixture
def start(
    tmp_path: Path,
    project: Path,
    fresh_home: Path,
    serve: Callable[[Scenario], ThreadedServer],
) -> Iterator[Start]:
    programs: list[TmuxProgram] = []
    # A turn of a second or more has a line that says how long it took: here always.
    turn = Turn((Text(ANSWER),), times=0, pace=Pace(first_token_s=1.0))
    server = serve(Scenario(turns=(turn,)))

    def run(**env: str) -> TmuxProgram:
        directory = tmp_path / f"tmux-{len(programs)}"
        directory.mkdir()
        program = TmuxProgram(directory, project, environment(fresh_home, server.base_url, **env))
        programs.append(program)
        program.wait_for(lambda text: "What should I do?" in text)
        program.type("go\r")
        program.wait_for(lambda text: "That is all." in text and "interrupt" not in text)
        return program

    yield run
    for program in programs:
        program.close()


def test_wide_text_stands_as_with_textuals_own_output(start: Start) -> None:
    pictures: list[list[str]] = []
    for renderer in ("cells", "textual"):
        program = start(AGENT_TUI_RENDERER=renderer)
        seen = [program.settled()]
        program.run("resize-window", "-x", "41", "-y", "30")
        program.wait_for(lambda text: "─" * 41 in text and "─" * 42 not in text)
        seen.append(program.settled())
        program.run("resize-window", "-x", "90", "-y", "40")
        program.wait_for(lambda text: "─" * 90 in text)
        program.type("好éx")
        program.wait_for(lambda text: "❯ 好éx" in text)
        assert program.run("display-message", "-p", "#{cursor_x}").strip() == "7"
        seen.append(program.settled())
        # What tmux itself counts otherwise stays in its columns with us, and moves its neighbors
        # with Textual: those rows are not alike.
        # The second conversation reads the first one from the cache, so that it costs less.
        pictures.append(
            [
                re.sub(r"✓ [\d.]+ s.*", "✓", row)
                for text in seen
                for row in text.split("\n")
                if "~" not in row and "⏸" not in row
            ]
        )
    assert pictures[0] == pictures[1]
    assert "    cjk 漢字かな한글|" in pictures[0]


def test_marking_with_the_mouse_copies_logical_lines(start: Start) -> None:
    program = start()
    rows = program.settled().split("\n")
    first = next(y for y, row in enumerate(rows) if "This paragraph" in row)
    last = next(y for y, row in enumerate(rows) if "twice." in row)
    assert last > first
    program.type(f"\x1b[<0;4;{first + 1}M")
    program.type(f"\x1b[<32;20;{last + 1}M")
    program.type(f"\x1b[<32;60;{last + 1}M")
    program.type(f"\x1b[<0;60;{last + 1}m")
    program.wait_for(lambda text: "copied" in text)
    assert _buffer(program) == LONG


def test_a_key_copies_the_code_and_the_command_the_answer(start: Start) -> None:
    program = start()
    program.run("send-keys", "C-x", "c")
    program.wait_for(lambda text: "code copied" in text)
    code = re.search(r"```\n(.*?)\n```", ANSWER, re.DOTALL)
    assert code is not None
    assert _buffer(program) == code[1]
    program.type("/copy\r")
    program.wait_for(lambda text: "The whole answer" in text)
    program.run("send-keys", "Home", "Enter")
    program.wait_for(lambda text: f"copied {len(ANSWER):,} characters" in text)
    assert _buffer(program, until=ANSWER) == ANSWER


def _buffer(program: TmuxProgram, until: str | None = None) -> str:
    """Return what tmux has to paste, once there is something (or this)."""
    limit_s = time.monotonic() + 20
    text = ""
    while time.monotonic() < limit_s:
        if program.run("list-buffers"):
            text = program.run("show-buffer")
            if until is None or text == until:
                break
    return text


def test_inline_the_conversation_is_in_tmuxs_own_history(
    tmp_path: Path, project: Path, fresh_home: Path, serve: Callable[[Scenario], ThreadedServer]
) -> None:
    words = "\n\n".join(f"Paragraph {number} is here." for number in range(50))
    server = serve(Scenario(turns=(Turn((Text(words),)),)))
    env = environment(fresh_home, server.base_url)
    program = TmuxProgram(tmp_path, project, env, "--inline")
    try:
        program.wait_for(lambda picture: "What should I do?" in picture)
        program.type("tell me")
        program.wait_for(lambda picture: "❯ tell me" in picture)
        program.run("send-keys", "Enter")
        program.wait_for(lambda picture: "Paragraph 49" in picture and "esc to" not in picture)
        # tmux wraps what does not fit and joins it again; the program draws what is live.
        for width, height in ((50, 40), (90, 30), (60, 36)):
            # A frame on its way would be written for a size that tmux has left already.
            program.settled()
            program.run("resize-window", "-x", str(width), "-y", str(height))
            program.wait_for(_has_rules(width))
        program.settled()
        history = program.run("capture-pane", "-p", "-S", "-")
        assert [history.count(f"Paragraph {number} is here.") for number in range(50)] == [1] * 50
        assert history.count("What should I do?") == 1
        assert program.screen().rstrip().splitlines()[-3].startswith(" ❯ What should I do?")
        program.type("\x0f")
        program.wait_for(lambda picture: "/ search" in picture)
        program.type("q")
        program.wait_for(lambda picture: "What should I do?" in picture)
        program.settled()
        assert program.run("capture-pane", "-p", "-S", "-") == history
    finally:
        program.close()


def _has_rules(width: int) -> Callable[[str], bool]:
    return lambda picture: picture.splitlines().count("─" * width) == 2


def test_inline_another_width_leaves_no_copy_in_tmuxs_history(
    tmp_path: Path, project: Path, fresh_home: Path, serve: Callable[[Scenario], ThreadedServer]
) -> None:
    env = environment(fresh_home, serve(Scenario(turns=())).base_url)
    program = TmuxProgram(tmp_path, project, env, "--inline")
    try:
        program.wait_for(lambda picture: "What should I do?" in picture)
        for columns in (60, 90):
            # A frame on its way would be written for a size that tmux has left already.
            program.settled()
            program.run("resize-window", "-x", str(columns))
            program.wait_for(_has_rules(columns))
        whole = program.run("capture-pane", "-p", "-S", "-")
        assert whole.count("What should I do?") == 1
    finally:
        program.close()
