"""What the runner needs from its caller: the session, and ports to models, servers and time."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from permissions.base.process.spawn import Confine

Resolve = Callable[[str], Sequence[str]]
"""Addresses of a host name, as text. Raises OSError when there are none."""


class AskSmallModel(Protocol):
    """Asks the small model one question, without hooks, tools or history."""

    async def __call__(self, prompt: str, *, system: str, model: str | None) -> str:
        """Return the text of the answer; raise for any failure."""
        ...


class RunHookAgent(Protocol):
    """Runs a sub-agent with read tools that ends by `StructuredOutput` and may start no agent."""

    async def __call__(
        self, prompt: str, *, system: str, model: str | None, max_turns: int
    ) -> Mapping[str, object] | None:
        """Return what it passed to `StructuredOutput`, or None when its turns ran out."""
        ...


class CallMcpTool(Protocol):
    """Calls a tool of a connected MCP server."""

    async def __call__(self, server: str, tool: str, tool_input: Mapping[str, object]) -> str:
        """Return its text; raise for any failure, a server that is not connected included."""
        ...


def system_resolve(host: str) -> Sequence[str]:
    """Return the addresses the system's resolver gives, in its order. Blocks; raises OSError."""
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class HookOrigin(Struct, frozen=True):
    """The facts that determine the confinement of a hook."""

    source: str
    """A `HookSource`."""
    readable: tuple[Path, ...] = ()
    """Directories of the hook's own files."""
    writable: tuple[Path, ...] = ()
    """Files and directories that it may write."""


ConfineHook = Callable[[HookOrigin], Confine]


def unconfined_hook(_origin: HookOrigin) -> Confine:
    """Return a function that leaves the program unconfined."""
    return lambda program: program


class HookPorts(Struct, frozen=True):
    """The package's access to the outside. Handlers that need a port that is None report a
    failure."""

    env: Mapping[str, str] = field(default_factory=dict)
    """The environment that programs inherit."""
    env_of_others: Mapping[str, str] | None = None
    """The same for hooks that are not the user's own: with the variables that a project sets. None
    for `env`."""
    ask_small_model: AskSmallModel | None = None
    run_hook_agent: RunHookAgent | None = None
    call_mcp_tool: CallMcpTool | None = None
    resolve: Resolve = system_resolve
    clock: Callable[[], float] = time.monotonic
    """Seconds, from any origin."""
    grace_s: float = 2.0
    """Seconds between SIGTERM and SIGKILL."""
    confine: ConfineHook = unconfined_hook
    """Returns the function that confines the program of a hook."""


class HookSession(Struct):
    """The common fields of every payload of a session; its owner updates what changes."""

    session_id: str
    transcript_path: Path
    project_dir: Path
    """The root of the project whose settings apply; never changes."""
    home: Path
    state_dir: Path
    """Private to the session: environment files and texts that were too long. Made when needed."""
    cwd: Path
    permission_mode: str | None = None
    prompt_id: str | None = None
    effort: str | None = None
    scratch_dir: Path | None = None
    pid: int | None = None
    is_remote: bool = False


class Payload(Protocol):
    """The payload of a fired event: one of `hooks.events`, or given as JSON."""

    @property
    def event_name(self) -> str:
        """The event's name, one of `hooks.events.EVENTS`."""
        ...

    def to_json(self) -> dict[str, object]:
        """Return the event's fields as hooks read them; a fresh object each time."""
        ...
