"""Starts, lists and stops sessions that run without a screen in their own processes.

A run is alive as long as its lock is held; the system releases it when the process ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from agent.errors import AgentError
from agent.session.background_input import MAX_TAIL_BYTES, BackgroundInput
from permissions.base.files.private_file import make_private_dir, make_private_file, write_private
from permissions.base.process.spawn import CannotStart, Launch, spawn
from permissions.base.text.failure_text import error_reason

RunState = Literal["working", "asks", "done", "failed", "stopped"]
"""`asks` is a running session that waits for the user's answer."""


class BackgroundRunError(AgentError):
    """A run that cannot be started, found or stopped; the text is for users."""


class BackgroundRun(Struct, frozen=True):
    """One session in its own process."""

    id: str
    session_id: str
    pid: int
    cwd: str
    prompt: str
    started_at: str
    name: str = ""
    stopped: bool = False


class BackgroundRuns:
    """The runs of one user, below the agent's home."""

    def __init__(self, agent_home: Path) -> None:
        """Create nothing before the first start."""
        self._root = agent_home / "background"

    def start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        prompt: str,
        session_id: str,
        *,
        takes_input: bool = False,
    ) -> BackgroundRun:
        """Start a run, which continues when this process ends. Raises BackgroundRunError.

        `takes_input`: its program reads users' messages and answers (`input_of`).
        """
        run_id = uuid.uuid4().hex[:8]
        directory = self._root / run_id
        try:
            make_private_dir(directory)
            for name in ("output.jsonl", "errors.txt", "lock"):
                make_private_file(directory / name)
            pid = _spawn(directory, argv, env, cwd, takes_input=takes_input)
        except (OSError, CannotStart) as error:
            raise BackgroundRunError(f"The run cannot be started: {error_reason(error)}") from error
        started_at = datetime.now(UTC).isoformat(timespec="seconds")
        run = BackgroundRun(run_id, session_id, pid, str(cwd), prompt, started_at)
        self._write(run)
        return run

    def all(self) -> tuple[BackgroundRun, ...]:
        """Return all known runs, the latest first."""
        runs = []
        with contextlib.suppress(OSError):
            for directory in self._root.iterdir():
                with contextlib.suppress(OSError, ValueError, TypeError):
                    runs.append(BackgroundRun(**json.loads((directory / "run.json").read_text())))
        return tuple(sorted(runs, key=lambda run: run.started_at, reverse=True))

    def find(self, run_id: str) -> BackgroundRun:
        """Return a run by the start of its id. Raises BackgroundRunError for none or several."""
        matches = [run for run in self.all() if run_id and run.id.startswith(run_id)]
        if len(matches) != 1:
            which = "No run has this id" if not matches else "Several runs have this id"
            raise BackgroundRunError(f"{which}: {run_id}. See agent-tui agents list --all.")
        return matches[0]

    def input_of(self, run: BackgroundRun) -> BackgroundInput:
        """Return the input of a run."""
        return BackgroundInput(self._root / run.id)

    def state(self, run: BackgroundRun) -> RunState:
        """Return the state of a run."""
        if self.is_alive(run):
            return "asks" if self.input_of(run).questions() else "working"
        if run.stopped:
            return "stopped"
        result = self.result(run)
        return "done" if result is not None and not result.get("is_error") else "failed"

    def is_alive(self, run: BackgroundRun) -> bool:
        """Return whether the process of a run is alive."""
        try:
            lock = os.open(self._root / run.id / "lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(lock)
        return False

    def result(self, run: BackgroundRun) -> Mapping[str, object] | None:
        """Return the last line of a run's output if it is a result, else None."""
        path = self._root / run.id / "output.jsonl"
        try:
            with path.open("rb") as file:
                file.seek(max(0, path.stat().st_size - MAX_TAIL_BYTES))
                lines = file.read().splitlines()
            last = json.loads(lines[-1]) if lines else None
        except (OSError, ValueError):
            return None
        return last if isinstance(last, dict) and last.get("type") == "result" else None

    def errors(self, run: BackgroundRun) -> str:
        """Return what a run wrote to standard error."""
        try:
            return (self._root / run.id / "errors.txt").read_text("utf-8", "replace")
        except OSError:
            return ""

    def stop(self, run: BackgroundRun) -> bool:
        """Ask a run to end, which keeps its work; return False if it has ended already."""
        if not self.is_alive(run):
            return False
        self._write(BackgroundRun(**{**asdict(run), "stopped": True}))
        with contextlib.suppress(ProcessLookupError):
            os.kill(run.pid, signal.SIGTERM)
        return True

    def _write(self, run: BackgroundRun) -> None:
        data = json.dumps(asdict(run)).encode()
        write_private(self._root / run.id / "run.json", data, sync=False)


def _spawn(
    directory: Path, argv: Sequence[str], env: Mapping[str, str], cwd: Path, *, takes_input: bool
) -> int:
    """Start the program of a run and return its process id. Raises OSError, CannotStart."""
    with contextlib.ExitStack() as stack:

        def register(descriptor: int) -> int:
            stack.callback(os.close, descriptor)
            return descriptor

        # The process inherits these: they are closed here, and stay open there.
        descriptors = [register(os.open(directory / "lock", os.O_RDWR))]
        fcntl.flock(descriptors[0], fcntl.LOCK_EX)
        if takes_input:
            way_in = BackgroundInput(directory)
            descriptors.append(register(way_in.make()))
            argv = way_in.reading(argv)
        output = stack.enter_context((directory / "output.jsonl").open("ab"))
        errors = stack.enter_context((directory / "errors.txt").open("ab"))
        launch = Launch(tuple(argv), env, cwd, pass_fds=tuple(descriptors))
        return spawn(launch, stdout=output.fileno(), stderr=errors.fileno()).pid
