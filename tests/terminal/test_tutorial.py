"""The tutorial, followed step by step as it is written: a user, a terminal, nothing prepared."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from benchmarks.program import Program
from benchmarks.terminal import Emulator
from tests.repo.checkout import ROOT
from tests.terminal.conftest import shows

pytestmark = pytest.mark.pty

TUTORIAL: Final = ROOT / "docs" / "tutorial.md"
BLOCK: Final = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KEY: Final = re.compile(r"<([^>]+)>")
KEYS: Final = {"enter": b"\r", "ctrl+d": b"\x04", "ctrl+x": b"\x18", "escape": b"\x1b"}
PORT: Final = "8765"
STEP_S: Final = 60.0


@dataclass
class Reader:
    """Somebody who does what the tutorial says."""

    home: Path
    directory: Path
    env: dict[str, str]
    port: str
    program: Program | None = None
    background: list[subprocess.Popen[str]] = field(default_factory=list)

    def follow(self, kind: str, info: str, text: str) -> None:
        """Do one block; what it promises must come true."""
        if info.startswith("file="):
            path = Path(info.removeprefix("file=").replace("~", str(self.home), 1))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        match kind, info:
            case "sh", "background":
                self.start_behind(text)
            case "sh", "terminal":
                self.start_program(text)
            case "sh", _:
                self.run(text)
            case "keys", _:
                self.type(text.rstrip("\n"))
            case "screen", _:
                for line in text.splitlines():
                    self.expect(shows(line), line)
            case "color", _:
                color = text.split()[1].lstrip("#")
                self.expect(lambda screen: screen.buffer[1][1].bg == color, text)
            case _:
                raise AssertionError(f"what is a {kind} {info} block?")

    def run(self, text: str) -> None:
        script = f"set -e\n{self.ported(text)}\npwd\nenv -0"
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.directory, env=self.env, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (text, done.stderr)
        before, _, after = done.stdout.partition("\n")
        self.directory = Path(before)
        pairs = (pair.partition("=") for pair in after.split("\0") if "=" in pair)
        self.env = {name: value for name, _, value in pairs}

    def start_behind(self, text: str) -> None:
        words = [os.path.expandvars(word) for word in shlex.split(self.ported(text))]
        words = [word.replace("$HOME", str(self.home)) for word in words]
        process = subprocess.Popen(
            [sys.executable, *words[1:]], cwd=self.directory, env=self.env,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.background.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://")

    def start_program(self, text: str) -> None:
        assert text.split()[0] == "agent-tui"
        command = [sys.executable, "-m", "tui.cli", *text.split()[1:]]
        self.program = Program.spawn(
            command, environment=self.env, directory=self.directory, columns=110, rows=40
        )
        self.expect(lambda screen: "What should I do?" in screen.text(), "the prompt")

    def type(self, text: str) -> None:
        assert self.program is not None
        for position, part in enumerate(KEY.split(text)):
            # A question takes no keys in its first moment: they may be left over from before.
            self.program.wait_for_quiet(0.4)
            if keys := KEYS[part] if position % 2 else part.encode():
                self.program.type(keys)

    def expect(self, condition: Callable[[Emulator], bool], what: str) -> None:
        assert self.program is not None
        found = self.program.wait_until(condition, timeout_s=STEP_S)
        assert found, f"expected {what!r} on:\n{self.program.emulator.text()}"

    def ported(self, text: str) -> str:
        return text.replace(PORT, self.port)

    def close(self) -> None:
        if self.program is not None and self.program.exit_status is None:
            self.program.close()
        for process in self.background:
            process.terminate()
            process.communicate()


@pytest.fixture
def reader(tmp_path: Path, fresh_home: Path) -> Iterator[Reader]:
    env = {
        "HOME": str(fresh_home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "AGENT_TUI_REPOSITORY": str(ROOT),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    someone = Reader(fresh_home, tmp_path, env, port)
    try:
        yield someone
    finally:
        someone.close()


@pytest.mark.timeout(300)
def test_every_step_of_the_tutorial_works(reader: Reader) -> None:
    blocks = BLOCK.findall(TUTORIAL.read_text("utf-8"))
    assert {kind for kind, _, _ in blocks} >= {"sh", "keys", "screen", "toml", "json", "markdown"}
    for kind, info, text in blocks:
        reader.follow(kind, info, text)
    assert reader.program is not None
    assert reader.program.wait_until(lambda _: reader.program.exit_status is not None)  # type: ignore[union-attr]
    assert reader.program.exit_status == 0
