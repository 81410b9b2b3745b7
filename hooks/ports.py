"""What the runner needs from above: the session it serves, ports to models, servers, time."""

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
    """One question to the small model, straight: no hooks, no tools, no history."""

    async def __call__(self, prompt: str, *, system: str, model: str | None) -> str:
        """Return the text of the answer; raise for any failure."""
        ...


class RunHookAgent(Protocol):
    """A sub-agent with read tools that ends by `StructuredOutput` and may start no agent."""

    async def __call__(
        self, prompt: str, *, system: str, model: str | None, max_turns: int
    ) -> Mapping[str, object] | None:
        """Return what it passed to `StructuredOutput`, or None when its turns ran out."""
        ...


class CallMcpTool(Protocol):
    """A tool of a connected MCP server."""

    async def __call__(self, server: str, tool: str, tool_input: Mapping[str, object]) -> str:
        """Return its text; raise for any failure, a server that is not connected included."""
        ...


def system_resolve(host: str) -> Sequence[str]:
    """Return the addresses the system's resolver gives, in its order. Blocks; raises OSError."""
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class HookOrigin(Struct, frozen=True):
    """What decides about the confinement of a hook."""

    source: str
    """A `HookSource`."""
    readable: tuple[Path, ...] = ()
    """Where its own files are."""
    writable: tuple[Path, ...] = ()
    """Files and directories that it is given to write."""


ConfineHook = Callable[[HookOrigin], Confine]


def unconfined_hook(_origin: HookOrigin) -> Confine:
    """Confine nothing: the programs of a user are theirs."""
    return lambda program: program


class HookPorts(Struct, frozen=True):
    """Ways out of this package. A port that is None makes handlers that need it fail visibly."""

    env: Mapping[str, str] = field(default_factory=dict)
    """The environment that programs inherit."""
    ask_small_model: AskSmallModel | None = None
    run_hook_agent: RunHookAgent | None = None
    call_mcp_tool: CallMcpTool | None = None
    resolve: Resolve = system_resolve
    clock: Callable[[], float] = time.monotonic
    """Seconds, from any origin."""
    grace_s: float = 2.0
    """What a program has between TERM and KILL."""
    confine: ConfineHook = unconfined_hook
    """What holds the program of a hook."""


class HookSession(Struct):
    """The common fields of every payload of a session; its owner updates what changes."""

    session_id: str
    transcript_path: Path
    project_dir: Path
    """The root of the project whose settings apply; never moves."""
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
    """What fired: any of `hooks.events`, or a payload that was given as JSON."""

    @property
    def event_name(self) -> str:
        """The event's name, one of `hooks.events.EVENTS`."""
        ...

    def to_json(self) -> dict[str, object]:
        """Return the event's fields as hooks read them; a fresh object each time."""
        ...
