"""After a prompt, beside the conversation: a forked agent stores what is worth keeping.

It is the program's loop behind the conversation's own prefix, so that the cache serves it, with
few answers and tools that reach the files of the memory only. What was looked at is remembered by
the last message's uid, which moves on after success only, so that nothing is lost to a failure.
Only after a turn that is worth it (`agent.memory.worth_looking`), and only where the user agreed.
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
from agent.memory.facts import FactStore
from agent.memory.worth_looking import is_worth_looking
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
"""Answers of one look, however many calls they hold."""
MAX_OUTPUT_TOKENS: Final = 4_000
NOTES: Final = "notes.md"
_LOG: Final = logging.getLogger(__name__)
_WRITES: Final = frozenset({"Edit", "Write", "MultiEdit"})


class ExtractorPorts(Struct, frozen=True, kw_only=True):
    """What it works with."""

    loop: Callable[[], LoopPorts]
    """Those of the conversation: its requests build the same prefix."""
    recovery: Callable[[], Recovery]
    store: FactStore
    state: Path
    """A file of the session: how far it came. The notes are beside it."""
    is_on: Callable[[], bool | None]
    """Whether facts are stored; None where the user has not decided."""
    ask: Callable[[], Awaitable[bool]] | None = None
    """Have the user decide; None where there is no user to ask."""
    today: Callable[[], date] = date.today


class FactExtractor:
    """One conversation's; never more than one look at a time."""

    def __init__(self, ports: ExtractorPorts) -> None:
        """Continue where an earlier run of the session ended."""
        self._ports = ports
        self._task: asyncio.Task[None] | None = None
        self._answer: bool | None = None
        """What the user answered in this session."""
        self._notes = ports.state.with_name(NOTES)
        self._cursor, self._notes_uid = _read_state(ports.state)

    def after_prompt(self, messages: tuple[Message, ...]) -> None:
        """Begin, unless it is off, or still at work: then the next time brings these too."""
        if self._may_look() and (self._task is None or self._task.done()):
            self._task = asyncio.ensure_future(self._run_guarded(messages))

    async def wait(self) -> None:
        """Return once what was begun is done."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def aclose(self) -> None:
        """Give up what is under way: the next session looks at it again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def notes_on(self, messages: Sequence[Message], end: int) -> str | None:
        """Return notes that cover the messages before `end`; None where there are none.

        They may know of more than these, never of less.
        """
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

    def _may_look(self) -> bool:
        is_on = self._is_on()
        return self._ports.ask is not None if is_on is None else is_on

    async def _run_guarded(self, messages: tuple[Message, ...]) -> None:
        try:
            await self._extract(messages)
        except Exception:  # noqa: BLE001 - isolation boundary: the next prompt brings another try
            # Not shown to the user: the debug log has it.
            _LOG.info("no facts were stored", exc_info=True)

    async def _extract(self, messages: tuple[Message, ...]) -> None:
        new = _messages_since(messages, self._cursor)
        if not is_worth_looking(new):
            return
        if self._is_on() is None and self._ports.ask is not None:
            self._answer = await self._ports.ask()
        if not self._is_on():
            return
        has_notes = not self._wrote_itself(new) and await self._look(messages, len(new))
        if has_notes is None:
            return
        self._cursor = messages[-1].uid
        self._notes_uid = self._cursor if has_notes else self._notes_uid
        state = {"cursor": self._cursor, "noted": self._notes_uid}
        await asyncio.to_thread(
            write_private, self._ports.state, json.dumps(state).encode(), sync=False
        )

    async def _look(self, messages: tuple[Message, ...], count: int) -> bool | None:
        """Run the agent; return whether it wrote notes, None for a failure."""
        from agent.memory.memory_tools import MemoryFiles, memory_tools  # first used here

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
                gate=_own_gate(parent.calls.gate),
                hooks=hooks,
                recorder=None,
                previews=None,
            ),
            hooks=hooks,
            request=_short(parent.request),
            take_queue=_nothing_queued,
            reports=list,
            mail=None,
            answer=None,
            context=None,
            after_calls=None,
        )
        # The loop counts answers with calls and asks once more behind the last of them.
        loop = AgentLoop(ports, TurnEvents(discard, "memory", "memory"), max_turns=MAX_TURNS - 1)
        end = await loop.run(messages, [ask], AbortController())
        if files.has_changed:
            await asyncio.to_thread(store.write_index)
        # At the limit it has looked at everything: once more would end there again.
        return files.has_notes if end.reason in {"completed", "max_turns"} else None

    def _wrote_itself(self, new: Sequence[Message]) -> bool:
        """Whether the model changed fact files by its own tools: never both in one turn."""
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
    """Allows what no rule denies: these tools reach nothing but the memory."""

    asks_users = False

    async def resolve(self, _request: PermissionRequest, pending: Decision, *_: object) -> Decision:
        return replace(pending, behavior=Behavior.ALLOW)


def _own_gate(gate: PermissionGate) -> PermissionGate:
    return PermissionGate(replace(gate.context, mode=Mode.DEFAULT), _MemoryAllowed())


def _short(
    request: Callable[[tuple[Message, ...]], ModelRequest],
) -> Callable[[tuple[Message, ...]], ModelRequest]:
    def build(messages: tuple[Message, ...]) -> ModelRequest:
        usual = request(messages)
        return replace(usual, max_tokens=min(MAX_OUTPUT_TOKENS, usual.max_tokens))

    return build


async def _nothing_queued() -> list[Message]:
    return []


def _messages_since(messages: tuple[Message, ...], cursor: str | None) -> tuple[Message, ...]:
    """Return what came after a message; all where it is gone, which a compaction may do."""
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
