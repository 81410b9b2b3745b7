"""The program in a terminal, forked from a process that has it imported."""

from __future__ import annotations

import os
import pty
import select
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.program import Program
from benchmarks.terminal import Emulator
from tests.journeys.forked_program import exit_status, fork_in_terminal


@dataclass(slots=True)
class ForkedScreen(Program):
    """It is not a child of this process: a pipe reports its end."""

    result: int = -1

    @classmethod
    def spawn(
        cls,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: Path,
        columns: int = 120,
        rows: int = 40,
    ) -> ForkedScreen:
        """Start the program with these arguments and this environment."""
        started_s = time.monotonic()
        controller, terminal = pty.openpty()
        termios.tcsetwinsize(terminal, (rows, columns))
        attributes = termios.tcgetattr(terminal)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSANOW, attributes)
        os.set_blocking(controller, False)
        pid, result = fork_in_terminal(command, directory, environment, terminal)
        return cls(pid, controller, Emulator(columns, rows), started_s, result=result)

    def _reap(self, options: int) -> None:
        if self.exit_status is not None:
            return
        if options & os.WNOHANG and not select.select([self.result], [], [], 0)[0]:
            return
        self.exit_status = exit_status(self.result)
