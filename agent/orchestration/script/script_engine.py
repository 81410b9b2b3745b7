"""Runs a workflow script in its own process, and answers its calls."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec import Struct

from agent.orchestration.script.script_meta import ScriptError, WorkflowScript
from permissions.base.process.python_worker import python_worker
from permissions.base.process.spawn import CannotStart, Confine
from permissions.base.text.sanitize import sanitize
from permissions.base.text.strict_json import load_json

if TYPE_CHECKING:
    from agent.mcp.transport.stdio_channel import StdioChannel

WORKER: Final = Path(__file__).with_name("engine_worker.py")
PRELUDE: Final = Path(__file__).with_name("prelude.js")
MAX_SOURCE_BYTES: Final = 1_000_000
MAX_CALLS: Final = 100_000
MEMORY_BYTES: Final = 64 * 1024 * 1024
CPU_S: Final = 5.0
MESSAGE_BYTES: Final = 4_000_000
"""Largest batch of a script's calls, as JSON."""
SENT_BYTES: Final = 100_000_000
"""Largest total of its calls, which stay in memory during the run."""
LINE_CHARS: Final = 2_000
"""Longest line that it logs, or title of a phase."""

Json: TypeAlias = object
Log: TypeAlias = Callable[[str, str], None]
"""Called with `log` or `phase`, and a text."""


class ScriptCall(Struct, frozen=True):
    """A call of a script; `kind` is `agent`, `verify` or `workflow`."""

    kind: str
    payload: Mapping[str, Json]


class Spent(Struct, frozen=True):
    """Usage of the run so far, for the script."""

    usd: float = 0.0
    tokens: int = 0


class Allowed(Struct, frozen=True):
    """Limits of the run; None: no limit."""

    usd: float | None = None
    tokens: int | None = None


class CallRejected(Exception):
    """A call fails in the script with this text."""


class ScriptPorts(Struct, frozen=True):
    """What a running script needs."""

    answer: Callable[[ScriptCall], Awaitable[Json]]
    """May raise `CallRejected`; any other error ends the run."""
    log: Log
    spent: Callable[[], Spent]
    confine: Confine
    total: Allowed = Allowed()
    cpu_s: float = CPU_S
    """Processor time of the script itself; its agents do not count."""


@cache
def has_engine() -> bool:
    """Return whether scripts can run here; fan-outs of subtasks always can."""
    return find_spec("quickjs") is not None


async def run_script(script: WorkflowScript, args: Json, ports: ScriptPorts) -> Json:
    """Run a script and return its value.

    Raises:
        ScriptError: it failed, exceeded a limit, or cannot run here.
    """
    # Imported late, as few sessions run a script.
    from agent.mcp.transport.message_channel import ChannelClosed
    from agent.mcp.transport.stdio_channel import StdioChannel

    if not has_engine():
        raise ScriptError("scripts need the package quickjs-ng, which has no build for this system")
    if len(script.text.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
        raise ScriptError(f"the script is longer than {MAX_SOURCE_BYTES:,} bytes")
    with tempfile.TemporaryDirectory(prefix="agent-tui-script-") as directory:
        launch = python_worker(WORKER, Path(directory))
        try:
            program = await asyncio.to_thread(ports.confine, launch)
            channel = await StdioChannel.start(program)
        except CannotStart as error:
            raise ScriptError(f"the script cannot be started: {error}") from error
        run = _ScriptRun(channel, ports)
        try:
            return await run.to_the_end(script, args)
        except ChannelClosed as error:
            detail = channel.error_text.rpartition("\n")[2]
            raise ScriptError(f"the script's process ended: {detail or error}") from error
        finally:
            await run.aclose()


class _ScriptRun:
    def __init__(self, channel: StdioChannel, ports: ScriptPorts) -> None:
        self._channel = channel
        self._ports = ports
        self._calls: set[asyncio.Task[None]] = set()
        self._call_count = self._sent_count = 0
        self._failure: asyncio.Future[Json] = asyncio.get_running_loop().create_future()

    async def to_the_end(self, script: WorkflowScript, args: Json) -> Json:
        await self._channel.send(
            {
                "source": '(async () => { "use strict"; ' + script.body + "\n})",
                "prelude": PRELUDE.read_text("utf-8"),
                "args": json.dumps(args),
                "budget": json.dumps([self._ports.total.usd, self._ports.total.tokens]),
                "memory_bytes": MEMORY_BYTES,
                "message_bytes": MESSAGE_BYTES,
                "cpu_s": self._ports.cpu_s,
            }
        )
        reading = asyncio.ensure_future(self._read())
        try:
            await asyncio.wait({reading, self._failure}, return_when=asyncio.FIRST_COMPLETED)
            return await (self._failure if self._failure.done() else reading)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self) -> Json:
        while True:
            line = await self._channel.receive()
            self._sent_count += len(line)
            if self._sent_count > SENT_BYTES:
                raise ScriptError(f"the script sends more than {SENT_BYTES:,} bytes")
            message = self._message(line)
            if "error" in message:
                raise ScriptError(sanitize(str(message["error"])[:4_000]))
            if "value" in message:
                return _decode_json(str(message["value"]))
            calls = message.get("calls")
            for call in calls if isinstance(calls, list) else ():
                self._handle_call(_decode_json(str(call)))

    def _handle_call(self, call: object) -> None:
        self._call_count += 1
        if self._call_count > MAX_CALLS:
            raise ScriptError(f"the script makes more than {MAX_CALLS:,} calls")
        if not isinstance(call, dict) or not isinstance(call.get("payload"), dict):
            raise ScriptError("the script's process wrote something that is not a call")
        kind, payload = call.get("kind"), call["payload"]
        if kind in ("log", "phase"):
            text = str(payload.get("title" if kind == "phase" else "text", ""))
            self._ports.log(kind, sanitize(text[:LINE_CHARS]))
            return
        if kind not in ("agent", "verify", "workflow") or not isinstance(call.get("id"), int):
            raise ScriptError(f"the script's process wrote an unknown call: {str(kind)[:40]!r}")
        task = asyncio.ensure_future(self._answer(call["id"], ScriptCall(kind, payload)))
        self._calls.add(task)
        task.add_done_callback(self._handle_end)

    async def _answer(self, number: int, call: ScriptCall) -> None:
        try:
            value, is_answer = json.dumps(await self._ports.answer(call)), True
        except CallRejected as error:
            value, is_answer = str(error), False
        spent = self._ports.spent()
        answers = [[number, is_answer, value, spent.usd, spent.tokens]]
        await self._channel.send({"answers": answers})

    def _handle_end(self, task: asyncio.Task[None]) -> None:
        self._calls.discard(task)
        if task.cancelled():
            return
        from agent.mcp.transport.message_channel import ChannelClosed  # loaded by now

        # Retrieved even if another call failed first, as asyncio logs unretrieved exceptions.
        error = task.exception()
        if error is not None and not self._failure.done() and not isinstance(error, ChannelClosed):
            self._failure.set_exception(error)

    async def aclose(self) -> None:
        """End the process, and cancel the remaining calls."""
        for task in self._calls:
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        if self._failure.done() and not self._failure.cancelled():
            self._failure.exception()
        await self._channel.aclose()

    def _message(self, line: bytes) -> dict[str, Json]:
        try:
            return msgspec.json.decode(line, type=dict[str, object])
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise ScriptError(f"the script's process did not write JSON: {error}") from error


def _decode_json(text: str) -> Json:
    try:
        value: Json = load_json(text)
    except ValueError as error:
        raise ScriptError(f"what the script returns or asks for cannot be read: {error}") from error
    return value
