"""While the screen is suspended, what ends programs there does not end this one."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tui.prompt.edit_externally import Editing


class Screen:
    """Counts how often it released the terminal and drew itself again."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.steps.append("suspended")
        yield
        self.steps.append("back")

    def invalidate_screen(self) -> None:
        self.steps.append("drawn")

    def notice(self, text: str, level: str = "info") -> None: ...
    def hint(self, text: str) -> None: ...


class Interrupted:
    """Standard input where Ctrl+C is pressed instead of Enter."""

    def readline(self) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "\n"


@pytest.mark.parametrize("stdin", [io.StringIO("\n"), Interrupted(), io.StringIO()])
def test_enter_ctrl_c_and_the_end_of_input_go_back(
    stdin: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen, in_force = Screen(), signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(sys, "stdin", stdin)
    Editing(screen, screen, str, None, None).to_terminal("all\x1b[2J of it")
    assert screen.steps == ["suspended", "back", "drawn"]
    assert capsys.readouterr().out.startswith("all of it\n")
    assert signal.getsignal(signal.SIGINT) is in_force
