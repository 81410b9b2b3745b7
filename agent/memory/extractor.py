"""After a prompt, beside the conversation: asks the model what is worth storing, and stores it.

One request behind the conversation's own prefix, so that the cache serves it; no tools run. What
was looked at is remembered by the last message's uid, which moves on after success only, so that
nothing is lost to a failure. Off unless the user turned it on, and only after a turn that is worth
it (`agent.memory.worth_looking`).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortController
from agent.events import Usage
from agent.loop.model_turn import Answered, ModelTurn, Recovery
from agent.memory.extraction import Extraction, ask_for, read_answer
from agent.memory.facts import FactStore
from agent.memory.worth_looking import is_worth_looking
from agent.messages import Message
from agent.model.client import ModelClient, ModelRequest
from agent.stream import TurnEvents, discard
from permissions.base.files.plain_file import read_plain
from permissions.base.files.private_file import write_private

MAX_OUTPUT_TOKENS: Final = 4_000
_LOG: Final = logging.getLogger(__name__)
_WRITES: Final = frozenset({"Edit", "Write", "MultiEdit"})


class ExtractorPorts(Struct, frozen=True, kw_only=True):
    """What it works with."""

    client: ModelClient
    request: Callable[[tuple[Message, ...]], ModelRequest]
    """Builds as for any turn: the prefix has to be the same."""
    recovery: Callable[[], Recovery]
    account: Callable[[Usage, str], None]
    store: FactStore
    state: Path
    """A file of the session: how far it came, and the notes."""
    is_on: Callable[[], bool]
    today: Callable[[], date] = date.today


class FactExtractor:
    """One conversation's; never more than one request at a time."""

    def __init__(self, ports: ExtractorPorts) -> None:
        """Go on where an earlier run of the session came to."""
        self._ports = ports
        self._task: asyncio.Task[None] | None = None
        self._cursor, self._notes = _read_state(ports.state)

    def after_prompt(self, messages: tuple[Message, ...]) -> None:
        """Begin, unless it is off, or still at work: then the next time brings these too."""
        if self._ports.is_on() and (self._task is None or self._task.done()):
            self._task = asyncio.ensure_future(self._guarded(messages))

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
        if not self._notes or not self._ports.is_on():
            return None
        covered = [index for index, message in enumerate(messages) if message.uid == self._cursor]
        return self._notes if covered and covered[0] >= end - 1 else None

    async def _guarded(self, messages: tuple[Message, ...]) -> None:
        try:
            await self._extract(messages)
        except Exception:  # noqa: BLE001 - isolation boundary: the next prompt brings another try
            # No concern of the user's; whoever looks for it turns the debug log on.
            _LOG.info("no facts were kept", exc_info=True)

    async def _extract(self, messages: tuple[Message, ...]) -> None:
        new = _since(messages, self._cursor)
        if not is_worth_looking(new):
            return
        if self._wrote_itself(new):
            await asyncio.to_thread(self._store, Extraction(), messages[-1].uid)
            return
        index = await asyncio.to_thread(self._ports.store.index)
        ask = ask_for(index, count=len(new), today=self._ports.today())
        request = self._ports.request((*messages, ask))
        turn = ModelTurn(
            self._ports.client,
            self._ports.recovery(),
            replace(request, max_tokens=min(MAX_OUTPUT_TOKENS, request.max_tokens)),
            TurnEvents(discard, "memory", "memory"),
            step=0,
        )
        result = await turn.run(AbortController().signal)
        if not isinstance(result, Answered):
            return
        answer = result.message
        self._ports.account(result.usage, answer.model or "")
        await asyncio.to_thread(self._store, read_answer(answer.text), messages[-1].uid)

    def _store(self, found: Extraction, cursor: str) -> None:
        """Write facts, notes and how far that is. Raises OSError."""
        store, today = self._ports.store, self._ports.today()
        changed = [store.forget(name) for name in found.forget]
        changed += [store.save(fact, today) for fact in found.save]
        if any(changed):
            store.write_index()
        self._cursor, self._notes = cursor, found.notes
        state = {"cursor": cursor, "notes": found.notes}
        write_private(self._ports.state, json.dumps(state).encode(), sync=False)

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


def _since(messages: tuple[Message, ...], cursor: str | None) -> tuple[Message, ...]:
    """Return what came after a message; all where it is gone, which a compaction may do."""
    uids = [message.uid for message in messages]
    return messages[uids.index(cursor) + 1 :] if cursor in uids else messages


def _read_state(path: Path) -> tuple[str | None, str]:
    try:
        data = json.loads(read_plain(path))
        return str(data["cursor"]), str(data["notes"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None, ""
