"""One bash command in its own process session: its start, output, end and leftover processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from agent.errors import AgentError
from agent.tools.shell.shell_output import ShellOutput
from permissions.base.files.plain_file import read_plain
from permissions.base.process.child_process import ChildProcess
from permissions.base.process.process_tree import session_members
from permissions.base.process.spawn import CannotConfine, CannotStart, ConfinedRun, Launch

GRACE_S: Final = 2.0
"""How long a command may clean up after TERM before it gets KILL."""
_READ_BYTES: Final = 32_768
# A pipe holds two of these; only a program that prints without end fills more.
_MAX_READS: Final = 8
_DRAIN_S: Final = 0.25
_MAX_PATH_BYTES: Final = 8192

# Variables that would change what a command does, unseen by the user who approved it: start-up
# files, shell options, functions from the environment, and where `cd` or a glob leads.
_REMOVED: Final = frozenset(
    {
        "BASH_ENV",
        "BASHOPTS",
        "CDPATH",
        "ENV",
        "GLOBIGNORE",
        "OLDPWD",
        "POSIXLY_CORRECT",
        "PS4",
        "SHELLOPTS",
    }
)
# No user can use a pager, an editor or a password prompt here.
_QUIET: Final = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "AGENT_TUI": "1",
}


ConfineCommand = Callable[[Launch], Awaitable[Launch]]
"""Returns the confined launch of a command; raises `CannotStart`."""


class ShellError(AgentError):
    """A command could not be started; the text is for the model."""


def command_environment(env: Mapping[str, str], *, cwd: Path, scratch_dir: Path) -> dict[str, str]:
    """Return the environment of a command: `env` without what would change what it does."""
    variables = {
        name: value
        for name, value in env.items()
        if name not in _REMOVED and not name.startswith("BASH_FUNC_")
    }
    return {**variables, **_QUIET, "PWD": str(cwd), "TMPDIR": str(scratch_dir)}


class ShellProcess:
    """A running or finished command. Make it with `start`; always await `wait` or `stop`."""

    def __init__(self, shell_id: str, command: str, output: ShellOutput) -> None:
        """Only `start` calls this."""
        self.id = shell_id
        self.command = command
        self.output = output
        self.started_at = time.monotonic()
        self.ended_at: float | None = None
        self.exit_code: int | None = None
        """Exit status of the shell; negative for the signal that ended it; None while it runs."""
        self.was_stopped = False
        """Whether `stop` ended it."""
        self.final_cwd: Path | None = None
        """The shell's directory when it ended; None if unknown."""
        self.problem = ""
        """A problem with the setup of the command, for the model; usually empty."""
        self.leftovers = False
        """Whether the shell has ended but processes that it started are running."""
        self.confined_run: ConfinedRun | None = None
        """The confinement of this run; None if the command is not confined."""
        self.is_for_agent = False
        """Whether an agent waits for it, not the conversation."""
        self.to_background = asyncio.Event()
        """Set when the user sends the command to the background."""
        self._live: Callable[[str], None] | None = None
        self._directory: Path | None = None
        self._cwd_file: Path | None = None
        self._pipe: int | None = None
        self._end_of_output = asyncio.Event()
        self._end_event = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._child: ChildProcess | None = None

    @classmethod
    async def start(
        cls,
        shell_id: str,
        command: str,
        *,
        cwd: Path,
        env: Mapping[str, str],
        output: ShellOutput,
        private_dir: Path,
        env_files: Sequence[Path] = (),
        live: Callable[[str], None] | None = None,
        scratch_dir: Path | None = None,
        confine: ConfineCommand | None = None,
    ) -> ShellProcess:
        """Start bash with exactly this text as its command, in a session without a terminal.

        Args:
            env_files: Files that are sourced first.
            private_dir: Holds the shell's prologue; a confined command cannot write there.
            scratch_dir: Holds the file with the shell's last directory; None uses `private_dir`.
            confine: Confines the shell and all that it starts.

        Raises:
            ShellError: bash is missing, the system refuses to start it, or the confinement cannot
                be enforced.
        """
        self = cls(shell_id, command, output)
        self._live = live
        bash = find_bash(env)
        prologue = self._prepare(private_dir, scratch_dir or private_dir, env_files)
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        self._pipe = reading
        program = Launch((bash, "--noprofile", "--norc", "-c", command), {**env, **prologue}, cwd)
        try:
            if confine is not None:
                program = await confine(program)
            self.confined_run = program.confined_run
            # Only a shared pipe preserves the order of both streams.
            self._child = await ChildProcess.start(program, stdout=writing, stderr=writing)
        except BaseException as error:
            os.close(reading)
            self._remove_directory()
            if isinstance(error, CannotStart):
                raise ShellError(_start_failure(error, command, cwd)) from error
            raise
        finally:
            os.close(writing)
        asyncio.get_running_loop().add_reader(reading, self._on_readable)
        self._task = asyncio.ensure_future(self._follow(self._child))
        return self

    @property
    def child(self) -> ChildProcess:
        """The shell; its process id is also its session and process group."""
        assert self._child is not None
        return self._child

    @property
    def is_running(self) -> bool:
        """Whether the shell, or a process that it left behind, is still running."""
        return self.ended_at is None

    @property
    def elapsed_s(self) -> float:
        """Seconds from start to end, or until now."""
        return (self.ended_at or time.monotonic()) - self.started_at

    async def wait(self) -> None:
        """Return when the shell has ended and its output is read; cancelling only ends the wait."""
        assert self._task is not None
        await asyncio.shield(self._task)

    async def wait_ended(self) -> None:
        """Return when the shell and everything it left behind have ended.

        The end of leftover processes is only noticed while `follow_leftovers` or `stop` runs.
        """
        await self._end_event.wait()

    def read_available(self) -> None:
        """Read what was printed until now, without waiting for the event loop."""
        for _ in range(_MAX_READS):
            if self._pipe is None or not self._on_readable():
                return

    def detach(self) -> None:
        """Stop live output, because no call waits for this command any more."""
        self._live = None

    async def stop(self) -> None:
        """End the command and everything it started: TERM, then KILL. Safe to call twice."""
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._stop())
        await asyncio.shield(self._stopping)

    def kill_now(self) -> None:
        """Send KILL without waiting; for use when the program is about to exit."""
        if self.is_running:
            self.child.family().kill()

    async def follow_leftovers(self) -> None:
        """Return when the processes that outlived the shell have ended too."""
        if self._pipe is not None:
            await self._end_of_output.wait()
        # Processes that redirected their output can only be noticed by polling.
        pause_s = 0.05
        while self.ended_at is None and session_members(self.child.pid):
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, 10.0)
        self._finish()

    def _prepare(
        self, private_dir: Path, scratch_dir: Path, env_files: Sequence[Path]
    ) -> dict[str, str]:
        """Write the prologue for bash; return the variable that makes bash read it."""
        try:
            self._directory = Path(tempfile.mkdtemp(prefix="shell-", dir=private_dir))
            self._cwd_file = scratch_dir / f"{self._directory.name}.cwd"
            prologue = self._directory / "prologue"
            prologue.write_text(_prologue(env_files, scratch_dir, self._cwd_file))
        except OSError as error:
            # On a full disk commands must still run, because the user needs them to free space.
            self._remove_directory()
            self.problem = (
                f"{private_dir} cannot be written ({error.strerror}): the current directory and "
                "the environment that hooks set do not carry over."
            )
            return {}
        return {"BASH_ENV": str(prologue)}

    async def _stop(self) -> None:
        if not self.is_running:
            return
        self.was_stopped = True
        assert self._task is not None
        # Processes that left the session (`setsid`, daemons) also belong to this command.
        await self.child.end(GRACE_S)
        await asyncio.wait({self._task})
        self._finish()

    async def _follow(self, child: ChildProcess) -> None:
        await child.exit_event.wait()
        self.exit_code = child.reap()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._end_of_output.wait(), _DRAIN_S)
        self.final_cwd = self._read_cwd()
        self.leftovers = bool(session_members(child.pid))
        if not self.leftovers:
            self._finish()

    def _finish(self) -> None:
        if self.ended_at is not None:
            return
        self.ended_at = time.monotonic()
        self.read_available()
        self._close_pipe()
        self.output.close()
        self._remove_directory()
        self.child.release()
        self._end_event.set()

    def _on_readable(self) -> bool:
        """Take the next piece of output; return whether there was one."""
        assert self._pipe is not None
        try:
            data = os.read(self._pipe, _READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._close_pipe()
            return False
        text = self.output.feed(data)
        if self._live is not None and text:
            self._live(text.replace("\r\n", "\n").replace("\r", "\n"))
        return True

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None
        self._end_of_output.set()

    def _read_cwd(self) -> Path | None:
        if self._cwd_file is None:
            return None
        try:
            # The command may have written anything to this file.
            content = read_plain(self._cwd_file, _MAX_PATH_BYTES)
        except OSError:
            return None
        cwd = Path(os.fsdecode(content.removesuffix(b"\n")))
        return cwd if cwd.is_absolute() and os.path.isdir(cwd) else None

    def _remove_directory(self) -> None:
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None
        if self._cwd_file is not None:
            with contextlib.suppress(OSError):
                self._cwd_file.unlink()


def sweep_private(private_dir: Path) -> None:
    """Remove the files of a killed program's commands; call it before any command starts."""
    for directory in private_dir.glob("shell-*"):
        with contextlib.suppress(OSError):
            # Commands may have made directories with such names.
            if set(os.listdir(directory)) <= {"prologue", "cwd"}:
                shutil.rmtree(directory)


def find_bash(env: Mapping[str, str]) -> str:
    """Return the bash to use: the system's, else the first in PATH. Raises ShellError."""
    if os.access("/bin/bash", os.X_OK):
        return "/bin/bash"
    path = shutil.which("bash", path=env.get("PATH"))
    if path is None:
        raise ShellError("bash is not installed, so commands cannot run. Install bash.")
    return path


def _prologue(env_files: Sequence[Path], scratch_dir: Path, cwd_file: Path) -> str:
    """Return what bash reads before the command, so that the command is run as approved."""
    lines = ["unset BASH_ENV"]
    lines += [f". {shlex.quote(str(file))} >/dev/null" for file in env_files]
    # Decisions about `$TMPDIR/x` are only valid for this value.
    lines.append(f"export TMPDIR={shlex.quote(str(scratch_dir))}")
    # Written at exit, unless the command replaces this trap or the shell.
    write = f"builtin pwd -P >|{shlex.quote(str(cwd_file))} 2>/dev/null"
    lines.append(f"trap {shlex.quote(write)} EXIT")
    return "\n".join(lines) + "\n"


def _start_failure(failure: CannotStart, command: str, cwd: Path) -> str:
    if isinstance(failure, CannotConfine):
        return f"The command was not run: {failure}."
    error = failure.__cause__
    if not isinstance(error, OSError):
        return "The command contains a NUL character."
    if isinstance(error, FileNotFoundError) and not os.path.isdir(cwd):
        return f"The current directory {cwd} no longer exists."
    if len(command) > 100_000:
        return (
            f"The command is too long ({len(command):,} characters). "
            "Write it to a file and run that file."
        )
    return f"The command could not be started: {error.strerror}."
