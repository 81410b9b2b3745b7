"""The engine of `agent-tui hooks run`: fire events for real and print their outcome.

Standard input is one payload, or JSON lines `{event?, payload}` that are the steps of one session.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

from msgspec import Struct
from msgspec.structs import replace

from hooks.answers.outcome import EventOutcome
from hooks.cli.payload_from_json import JsonPayload, PayloadError, payload_from_json
from hooks.config.config import HookConfig, HookLayer, build_config
from hooks.config.sources import SourceError, read_plugin, read_plugin_file, read_settings_file
from hooks.config.spec import HookSource
from hooks.execution.background_handlers import BackgroundDelivery
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner
from permissions.base.text.late_pattern import compile_late

BACKGROUND_WAIT_S: Final = 5.0
MAX_AGE_S: Final = 24 * 3600.0
QUOTED: Final = compile_late(r'"(?:\\.|[^"\\])*"')
NAMEABLE: Final = ("policy", "project", "local", "user", "plugin", "skill", "agent")


class HookOptions(Struct, frozen=True):
    """The sources of hooks that the command line names."""

    settings: tuple[str, ...] = ()
    """`[SOURCE=]FILE`, in order; any replaces discovery."""
    plugins: tuple[Path, ...] = ()
    trust: bool = False


class HookWorld(Struct, frozen=True):
    """The surroundings of a command: directories, ports and settings."""

    cwd: Path
    home: Path
    agent_home: Path
    ports: HookPorts
    discover: Callable[[bool], Sequence[HookLayer]]
    """Finds the settings of this project and user; the argument is `--trust`."""
    pid: int | None = None
    project_dir: Path | None = None
    """The project's root; None: `cwd`."""


class Step(Struct, frozen=True):
    """One event of the session, as given."""

    event: str | None
    payload: object


def load_config(options: HookOptions, world: HookWorld) -> HookConfig:
    """Return the configuration that the options describe. Raises SourceError."""
    layers: list[HookLayer] = []
    for text in options.settings:
        source, path = _named_source(text)
        if source is HookSource.PLUGIN:
            layers.extend(read_plugin_file(world.cwd / path, data_home=_plugin_data(world)))
        else:
            layers.append(read_settings_file(world.cwd / path, source))
    if not options.settings:
        layers.extend(world.discover(options.trust))
    for root in options.plugins:
        if not (world.cwd / root).is_dir():
            raise SourceError(f"{root}: no such folder")
        layers.extend(read_plugin(world.cwd / root, data_home=_plugin_data(world)))
    return build_config(layers)


async def run_hooks(
    event: str | None,
    options: HookOptions,
    world: HookWorld,
    *,
    stdin: TextIO,
    stdout: TextIO,
    stderr: TextIO,
) -> int:
    """Fire the events on standard input; print one JSON line after each step.

    On cancellation all hooks are ended, without waiting for those in the background.

    Returns:
        0 whatever the hooks answer, 2 for an unusable payload, event or file.
    """
    try:
        config = load_config(options, world)
    except SourceError as error:
        print(f"hooks run: {error}", file=stderr)
        return 2
    session = _session(world)
    _forget_old(session.state_dir.parent, now_s=time.time())
    runner = HookRunner(config, session=session, ports=world.ports)
    warnings = tuple(str(warning) for warning in config.warnings)
    status, wait_s = 0, BACKGROUND_WAIT_S
    try:
        async for step in _steps(stdin):
            try:
                payload = _payload_of(step, event)
            except PayloadError as error:
                print(f"hooks run: {error}", file=stderr)
                status = 2
                continue
            outcome = await runner.run(payload)
            outcome = _with_background(outcome, runner.take_background())
            line = replace(outcome, config_warnings=warnings).to_json()
            text = json.dumps(line, ensure_ascii=False, default=str)
            # Payloads may contain lone surrogates, which cannot be encoded.
            text = text.encode("utf-8", "replace").decode("utf-8")
            print(text, file=stdout, flush=True)
    except asyncio.CancelledError:
        wait_s = 0.0
        raise
    finally:
        await runner.aclose(wait_s=wait_s)
    _remove_if_empty(session.state_dir)
    for notice in _late(runner.take_background()):
        print(f"hooks run: {notice}", file=stderr)
    return status


def _named_source(text: str) -> tuple[HookSource, Path]:
    name, separator, rest = text.partition("=")
    if separator and name in NAMEABLE:
        return HookSource(name), Path(rest)
    return HookSource.PROJECT, Path(text)


def _plugin_data(world: HookWorld) -> Path:
    return world.agent_home / "plugins" / "data"


def _session(world: HookWorld) -> HookSession:
    session_id = f"hooks-run-{secrets.token_hex(6)}"
    state = world.agent_home / "cache" / "hooks-run" / session_id
    return HookSession(
        session_id=session_id,
        transcript_path=state / "transcript.jsonl",
        project_dir=world.project_dir or world.cwd,
        home=world.home,
        state_dir=state,
        cwd=world.cwd,
        permission_mode="default",
        pid=world.pid,
    )


def _forget_old(directory: Path, *, now_s: float) -> None:
    """Remove what runs older than `MAX_AGE_S` left: variables and texts that were too long."""
    with contextlib.suppress(OSError):
        for entry in directory.iterdir():
            if now_s - entry.stat().st_mtime > MAX_AGE_S:
                shutil.rmtree(entry, ignore_errors=True)


def _remove_if_empty(state_dir: Path) -> None:
    for directory in (state_dir / "hook-env", state_dir / "hook-output", state_dir):
        with contextlib.suppress(OSError):
            directory.rmdir()


def _payload_of(step: Step, event: str | None) -> JsonPayload:
    payload = step.payload
    payload_event = payload.get("hook_event_name") if isinstance(payload, Mapping) else None
    name = step.event or event or payload_event
    if not isinstance(name, str):
        raise PayloadError("no event: name it on the command line or in the step")
    return payload_from_json(name, payload)


def _with_background(outcome: EventOutcome, delivery: BackgroundDelivery) -> EventOutcome:
    """Add the results of earlier background handlers, which are delivered with the next event."""
    if not delivery:
        return outcome
    contexts = [*delivery.additional_context, *delivery.wake, outcome.additional_context]
    return replace(
        outcome,
        additional_context="\n\n".join(text for text in contexts if text) or None,
        system_messages=(*delivery.system_messages, *outcome.system_messages),
        notices=(*delivery.notices, *outcome.notices),
    )


def _late(delivery: BackgroundDelivery) -> list[str]:
    texts = (*delivery.system_messages, *delivery.additional_context, *delivery.wake)
    lines = [f"background hook said: {_printable(text)}" for text in texts]
    return [*delivery.notices, *lines]


def _printable(text: str) -> str:
    """Replace control characters, which could control the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


async def _steps(stdin: TextIO) -> AsyncIterator[Step]:
    """Yield steps as their lines arrive; a payload may also be spread over several lines.

    A payload is tried once its brackets are closed, so that many lines cost no more than one.
    """
    pending: list[str] = []
    depth = 0
    has_step = False
    async for line in _lines(stdin):
        if not has_step and not pending:
            line = line.removeprefix("\ufeff")
        if not line.strip() and not pending:
            continue
        whole = _parse(line) if not pending or not line[0].isspace() else _INCOMPLETE
        if pending and isinstance(whole, dict):
            # The pending lines are not the start of a payload: a new step begins here.
            yield Step(None, _Unreadable("".join(pending)))
        elif pending or whole is _INCOMPLETE:
            pending.append(line)
            depth += _open_brackets(line)
            if depth > 0:
                continue
            text = "".join(pending)
            whole = _parse(text)
            whole = _Unreadable(text) if whole is _INCOMPLETE else whole
        pending, depth, has_step = [], 0, True
        yield _as_step(whole)
    if pending:
        yield Step(None, _Unreadable("".join(pending)))
    elif not has_step:
        yield Step(None, {})


def _open_brackets(line: str) -> int:
    """Return how many more brackets a line of JSON opens than it closes."""
    bare = QUOTED.sub("", line)
    return bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")


async def _lines(stdin: TextIO) -> AsyncIterator[str]:
    """Yield lines as they arrive.

    Reads in a daemon thread: one that hangs in `readline` must not prevent an interrupted program
    from ending.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()
    requests = threading.Semaphore(0)

    def read() -> None:
        line = "start"
        while line:
            requests.acquire()
            try:
                line = stdin.readline()
            except ValueError:  # closed, or not text: nothing more can be read
                line = ""
            try:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            except RuntimeError:  # the event loop is closed: no one reads the line
                return

    threading.Thread(target=read, name="hooks run: stdin", daemon=True).start()
    while True:
        requests.release()
        if not (line := await lines.get()):
            return
        yield line


def _as_step(value: object) -> Step:
    if isinstance(value, dict) and "payload" in value and "hook_event_name" not in value:
        # No event has a field of that name; other fields of a step (a number, a note) are ignored.
        event = value.get("event")
        return Step(event if isinstance(event, str) else None, value["payload"])
    if isinstance(value, dict) and set(value) == {"event"} and isinstance(value["event"], str):
        return Step(value["event"], {})
    return Step(None, value)


class _Unreadable:
    """A placeholder for text that is not JSON; no payload check accepts it."""

    def __init__(self, text: str) -> None:
        self.text = text


_INCOMPLETE: Final = object()


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _INCOMPLETE
