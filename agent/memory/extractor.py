"""Runs a forked agent after a prompt, in the background, that stores facts worth keeping.

It is the program's loop with the conversation's own prefix, which the cache serves, with a limit of
rounds and with tools that reach only memory files. The uid of the last processed message is stored
only after success, so that a failure loses nothing. It runs only after a suitable turn
(`agent.memory.fact_detection`), and only if the user agreed.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortController
from agent.loop.loop import AgentLoop
from agent.loop.loop_ports import LoopPorts
from agent.loop.model_turn import Recovery
from agent.loop.no_hooks import NoHooks
from agent.memory.extraction import ask_for
from agent.memory.fact_detection import may_contain_facts
from agent.memory.facts import FactStore
from agent.messages import Message
from agent.model.client import ModelRequest
from agent.stream import TurnEvents, discard
from permissions.base.files.plain_file import read_plain
from permissions.base.files.private_file import write_private
from permissions.decision import Behavior, Decision
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.request import PermissionRequest

MAX_TURNS: Final = 5
"""Most rounds of one extraction."""
MAX_OUTPUT_TOKENS: Final = 4_000
NOTES: Final = "notes.md"
_LOG: Final = logging.getLogger(__name__)
_WRITES: Final = frozenset({"Edit", "Write", "MultiEdit"})


class ExtractorPorts(Struct, frozen=True, kw_only=True):
    """What the extractor needs."""

    loop: Callable[[], LoopPorts]
    """The conversation's ports, whose requests have the same prefix."""
    recovery: Callable[[], Recovery]
    store: FactStore
    state: Path
    """File of the session with the extractor's progress; the notes are stored beside it."""
    is_on: Callable[[], bool | None]
    """Whether facts are stored; None if the user has not decided."""
    ask: Callable[[], Awaitable[bool]] | None = None
    """Asks the user to decide; None if there is no user to ask."""
    today: Callable[[], date] = date.today


class FactExtractor:
    """Extracts facts of one conversation, one run at a time."""

    def __init__(self, ports: ExtractorPorts) -> None:
        """Continue where an earlier process of the session ended."""
        self._ports = ports
        self._task: asyncio.Task[None] | None = None
        self._answer: bool | None = None
        """The user's answer in this session."""
        self._notes = ports.state.with_name(NOTES)
        self._cursor, self._notes_uid = _read_state(ports.state)

    def after_prompt(self, messages: tuple[Message, ...]) -> None:
        """Start a run unless it is off or running; the next run includes these messages, too."""
        if self._may_extract() and (self._task is None or self._task.done()):
            self._task = asyncio.ensure_future(self._run_guarded(messages))

    async def wait(self) -> None:
        """Wait for the current run."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def aclose(self) -> None:
        """Cancel the current run; the next session processes its messages again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def notes_on(self, messages: Sequence[Message], end: int) -> str | None:
        """Return notes that cover at least the messages before `end`; None if there are none."""
        indexes = [
            index for index, message in enumerate(messages) if message.uid == self._notes_uid
        ]
        if not indexes or indexes[0] < end - 1 or not self._is_on():
            return None
        try:
            return read_plain(self._notes).decode("utf-8", "replace") or None
        except OSError:
            return None

    def _is_on(self) -> bool | None:
        setting = self._ports.is_on()
        return self._answer if setting is None else setting

    def _may_extract(self) -> bool:
        is_on = self._is_on()
        return self._ports.ask is not None if is_on is None else is_on

    async def _run_guarded(self, messages: tuple[Message, ...]) -> None:
        try:
            await self._extract(messages)
        except Exception:  # noqa: BLE001 - isolation boundary: the next prompt brings another try
            # Only in the debug log, not shown to the user.
            _LOG.info("no facts were stored", exc_info=True)

    async def _extract(self, messages: tuple[Message, ...]) -> None:
        new = _messages_since(messages, self._cursor)
        if not may_contain_facts(new):
            return
        if self._is_on() is None and self._ports.ask is not None:
            self._answer = await self._ports.ask()
        if not self._is_on():
            return
        has_notes = not self._model_wrote_facts(new) and await self._run_agent(messages, len(new))
        if has_notes is None:
            return
        self._cursor = messages[-1].uid
        self._notes_uid = self._cursor if has_notes else self._notes_uid
        state = {"cursor": self._cursor, "noted": self._notes_uid}
        await asyncio.to_thread(
            write_private, self._ports.state, json.dumps(state).encode(), sync=False
        )

    async def _run_agent(self, messages: tuple[Message, ...], count: int) -> bool | None:
        """Run the agent; return whether it wrote notes, None on failure."""
        from agent.memory.memory_tools import MemoryFiles, memory_tools  # imported at its first use

        store, today = self._ports.store, self._ports.today()
        files = MemoryFiles(store, self._notes, today)
        index = await asyncio.to_thread(store.index, today)
        ask = ask_for(store, self._notes, index, count=count, turns=MAX_TURNS, today=today)
        parent = self._ports.loop()
        hooks = NoHooks()
        ports = replace(
            parent,
            recovery=self._ports.recovery(),
            calls=replace(
                parent.calls,
                registry=memory_tools(files),
                gate=_memory_gate(parent.calls.gate),
                hooks=hooks,
                recorder=None,
                previews=None,
            ),
            hooks=hooks,
            request=_limit_output(parent.request),
            take_queue=_empty_queue,
            reports=list,
            mail=None,
            answer=None,
            context=None,
            after_calls=None,
        )
        # The loop counts answers with calls, and sends one more request after the last.
        loop = AgentLoop(ports, TurnEvents(discard, "memory", "memory"), max_turns=MAX_TURNS - 1)
        end = await loop.run(messages, [ask], AbortController())
        if files.has_changed:
            await asyncio.to_thread(store.write_index)
        # At the limit, a repetition would end at the limit again.
        return files.has_notes if end.reason in {"completed", "max_turns"} else None

    def _model_wrote_facts(self, new: Sequence[Message]) -> bool:
        """Return whether the model itself changed fact files in this turn, which excludes a run."""
        directories = (self._ports.store.directory, self._ports.store.everywhere)
        return any(
            use.name in _WRITES
            and any(
                directory in Path(str(use.input.get("file_path", ""))).parents
                for directory in directories
            )
            for message in new
            for use in message.tool_uses()
        )


class _MemoryAllowed:
    """Allows calls that no rule denies, as these tools reach only the memory."""

    asks_users = False

    async def resolve(self, _request: PermissionRequest, pending: Decision, *_: object) -> Decision:
        return replace(pending, behavior=Behavior.ALLOW)


def _memory_gate(gate: PermissionGate) -> PermissionGate:
    return PermissionGate(replace(gate.context, mode=Mode.DEFAULT), _MemoryAllowed())


def _limit_output(
    request: Callable[[tuple[Message, ...]], ModelRequest],
) -> Callable[[tuple[Message, ...]], ModelRequest]:
    def build(messages: tuple[Message, ...]) -> ModelRequest:
        usual = request(messages)
        return replace(usual, max_tokens=min(MAX_OUTPUT_TOKENS, usual.max_tokens))

    return build


async def _empty_queue() -> list[Message]:
    return []


def _messages_since(messages: tuple[Message, ...], cursor: str | None) -> tuple[Message, ...]:
    """Return the messages after a uid; all if it is gone, as after a compaction."""
    uids = [message.uid for message in messages]
    return messages[uids.index(cursor) + 1 :] if cursor in uids else messages


def _read_state(path: Path) -> tuple[str | None, str | None]:
    try:
        data = json.loads(read_plain(path))
        cursor, notes_uid = data["cursor"], data["noted"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None, None
    return cursor if isinstance(cursor, str) else None, notes_uid if isinstance(
        notes_uid, str
    ) else None
