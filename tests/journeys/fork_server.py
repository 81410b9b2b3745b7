"""A process with the program already imported that starts runs of it by forking.

A new interpreter takes longer to import the program than most runs take. `python -m
tests.journeys.fork_server SOCKET KIND` greets each that connects and reads its orders, one JSON
object with the three standard streams and a pipe as descriptors: `{"arguments", "cwd", "env",
"code"}`. It answers each with the run's process number; into the pipe goes the exit status
(negative for a signal) once the run has ended. With code a run is that code, as with `python -c`,
in place of the program.

By its kind it has the screen imported as well, or what talks to MCP servers and the library. A
terminal of a run becomes the run's controlling terminal.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import gc
import json
import os
import selectors
import signal
import socket
import sys
import termios
import threading
from enum import StrEnum
from types import FrameType
from typing import Any, Final

LARGEST_ORDER: Final = 1 << 20
GREETING: Final = b"ready"
_PRELOADED: Final = (
    "agent.assembly.assemble",
    "agent.headless.run",
    "agent.model.anthropic",
    "agent.orchestration.run_report",
    "anyio._backends._asyncio",
    "click",
    "h11",
    "httpcore2",
    "httpx2",
    "importlib.readers",
    "permissions.base.process.own_environment",
    "permissions.base.process.worker_threads",
    "sqlite3",
    "tui.cli",
    "tui.command_line.command_line",
    "tui.command_line.standard_streams",
    "tui.input.early_prompt",
    "tui.screen.output_stream",
    "tui.screen_reader.preference",
    "tui.startup.early_prompt_policy",
    "tui.startup.headless_run",
    "tui.startup.start",
)
_OF_THE_SCREEN: Final = (
    "agent.assembly.agents.agents_setup",
    "agent.assembly.command_setup",
    "agent.assembly.conversation_setup",
    "agent.assembly.session_opening",
    "agent.model.local_servers",
    "agent.session.archive.recent_sessions",
    "agent.session.prompt_log",
    "markdown_it.tree",
    "permissions.base.files.inotify",
    "textual.drivers.headless_driver",
    "textual.layouts.factory",
    "textual.pilot",
    "textual.scrollbar",
    "tui.app.claude_settings_notice",
    "tui.app.keybindings_watch",
    "tui.conversation.model_choice",
    "tui.dialogs.onboarding",
    "tui.dialogs.idle_timeout",
    "tui.dialogs.permission",
    "tui.dialogs.plan",
    "tui.dialogs.ports",
    "tui.dialogs.question",
    "tui.dialogs.sandbox.network",
    "tui.dialogs.sandbox.refusal",
    "tui.dialogs.sandbox.work_inside",
    "tui.dialogs.trust_dialog",
    "tui.startup.run",
    "tui.startup.screen_run",
    "tui.transcript.committed_messages",
)
"""What a run with a screen imports by and by."""
_OF_SERVERS: Final = (
    "agent.assembly.servers.mcp_parts",
    "agent.commands.sources.server_prompts",
    "agent.library.api",
    "agent.mcp.live.live_servers",
    "agent.mcp.protocol.open_session",
    "agent.mcp.transport.stdio_channel",
)
"""What a run with MCP servers, or of the library, imports by and by: the SDK above all."""


class Kind(StrEnum):
    """What a server has imported beside what every run imports."""

    PLAIN = "plain"
    START = "start"
    """As plain, on a terminal."""
    SCREEN = "screen"
    SERVERS = "servers"


class ForkServer:
    """Forks one child for each order, until all that were connected are gone."""

    def __init__(self, listener: socket.socket) -> None:
        """Read orders from sockets that keep the boundaries of messages."""
        self._listener = listener
        self._connected = 0
        self._results: dict[int, int] = {}
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)

    def serve(self) -> tuple[dict[str, Any], list[int]] | None:
        """Return None at the end, and in a forked child its order and its descriptors."""
        signal.signal(signal.SIGCHLD, _do_nothing)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    source = key.fileobj
                    if source is self._listener:
                        orders, _ = self._listener.accept()
                        orders.send(GREETING)
                        selector.register(orders, selectors.EVENT_READ)
                        self._connected += 1
                    elif isinstance(source, socket.socket):
                        data, streams, _, _ = socket.recv_fds(source, LARGEST_ORDER, 4)
                        if data and self._fork(source, streams):
                            return json.loads(data), streams
                        if not data:
                            selector.unregister(source)
                            source.close()
                            self._connected -= 1
                    else:
                        os.read(self._woken, 4096)
                        self._reap()
                if not self._connected:
                    return None

    def _fork(self, orders: socket.socket, streams: list[int]) -> bool:
        """Whether this is the child."""
        process = os.fork()
        if process == 0:
            return True
        *ours, self._results[process] = streams
        for descriptor in ours:
            os.close(descriptor)
        orders.send(str(process).encode())
        return False

    def _reap(self) -> None:
        while self._results:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            result = self._results.pop(process)
            with open(result, "wb", closefd=True) as pipe:
                pipe.write(str(os.waitstatus_to_exitcode(status)).encode())


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    """Let the signal wake the selector."""


def _become(order: dict[str, Any], streams: list[int]) -> list[str]:
    """Make this process what a new interpreter would be, and return its arguments."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    paths = order["env"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [path for path in paths if path and path not in sys.path]
    for target, source in enumerate(streams[:3]):
        os.dup2(source, target)
    os.closerange(3, max(256, *streams) + 1)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        # A background job of a shell ignores some of them and hands that on to what it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
    arguments: list[str] = order["arguments"]
    return arguments


def _run(code: str) -> int:
    """Run the program, or what is in its place, and return its exit status."""
    try:
        if code:
            exec(code, {"__name__": "__main__"})
            return 0
        from tui.cli import main as run_program

        return run_program()
    except SystemExit as end:
        if end.code is None:
            return 0
        if not isinstance(end.code, int):
            raise
        return end.code


def _end(status: int) -> int:
    """End as an interpreter does, and leave the modules: to empty them takes half of a short run.

    Returns the status where its streams cannot be flushed, of which the interpreter tells.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return status
    os._exit(status)


def _prepare(kind: Kind) -> None:
    """Import, compile and read what most runs would with their first use."""
    more = {Kind.SCREEN: _OF_THE_SCREEN, Kind.SERVERS: _OF_SERVERS}
    for name in _PRELOADED + more.get(kind, ()):
        __import__(name)
    from agent.assembly import sandbox_setup
    from agent.tools.registry import builtin_tools
    from permissions.base.text.late_pattern import _LatePattern

    for one in gc.get_objects():
        if type(one) is _LatePattern:
            one.match  # noqa: B018 - compiles it
    builtin_tools()
    # What a machine can enforce stays the same.
    module: Any = sandbox_setup
    module.probe = functools.cache(module.probe)
    module.probe(None)


def main() -> int:
    """Serve, left alone by who started it; in a child run the program."""
    if os.fork():
        return 0
    _prepare(Kind(sys.argv[2]))
    gc.freeze()
    order = ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
    if order is None:
        return 0
    sys.argv[1:] = _become(*order)
    return _end(_run(order[0]["code"]))


if __name__ == "__main__":
    sys.exit(main())
