"""Pass the answer's text through MessageDisplay hooks before it is shown, in batches of lines.

The last line is held back until it is complete, so that the final batch is never empty. Batches
grow with the run time of hooks, so that hooks delay the text by a fixed proportion at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.events import AgentEvent, TextDelta
from agent.hook_events.hook_dispatch import HookDispatch

EVENT: Final = "MessageDisplay"
REST_FACTOR: Final = 2.0
"""After a run, hooks pause for this multiple of its duration."""


class _Held(Struct):
    """Text of one block that has not been shown."""

    delta: TextDelta
    text: str = ""


class DisplayHooks:
    """Passes events on; text of the main agent passes through hooks first, if there are any."""

    def __init__(
        self,
        hooks: HookDispatch,
        *,
        replaces: bool,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`replaces` is whether the output of hooks replaces the text, as it does on a screen."""
        self._hooks = hooks
        self._replaces = replaces
        self._clock = clock
        self._pending: _Held | None = None
        self._index = 0
        self._message = ""
        self._resting_until = float("-inf")

    @property
    def is_active(self) -> bool:
        """Whether events must pass through `replace_event`."""
        return self._pending is not None or self._hooks.runner.has(EVENT)

    async def replace_event(self, event: AgentEvent, abort: AbortSignal) -> list[AgentEvent]:
        """Return the events that replace an event, in order; usually the event itself."""
        if event.agent_id is not None:
            return [event]
        if not isinstance(event, TextDelta):
            if self._pending is None or event.type == "tombstone":
                self._pending = None
                return [event]
            return [*await self._release_all(abort), event]
        if not self.is_active:
            return [event]
        events: list[AgentEvent] = []
        if self._pending is not None and not _same_block(self._pending.delta, event):
            events += await self._release_all(abort)
        if self._pending is None:
            self._pending = _Held(event)
        self._pending.text += event.text
        lines = self._complete_lines()
        if lines and self._now() >= self._resting_until:
            self._pending.text = self._pending.text[len(lines) :]
            events.append(await self._run_hooks(event, lines, final=False, abort=abort))
        return events

    def _complete_lines(self) -> str:
        """Return the lines that are followed by more text."""
        assert self._pending is not None
        text = self._pending.text
        return text[: text.rfind("\n", 0, len(text) - 1) + 1]

    async def _release_all(self, abort: AbortSignal) -> list[TextDelta]:
        pending, self._pending = self._pending, None
        if pending is None or not pending.text:
            return []
        return [await self._run_hooks(pending.delta, pending.text, final=True, abort=abort)]

    async def _run_hooks(
        self, delta: TextDelta, text: str, *, final: bool, abort: AbortSignal
    ) -> TextDelta:
        if delta.message_uid != self._message:
            self._message, self._index = delta.message_uid, 0
        start_s = self._now()
        content = None
        if not abort.aborted:
            content = await self._hooks.message_display(
                delta.message_uid, self._index, text, final=final, abort=abort
            )
        self._index += 1
        end_s = self._now()
        self._resting_until = end_s + REST_FACTOR * (end_s - start_s)
        return replace(delta, text=content if content is not None and self._replaces else text)

    def _now(self) -> float:
        return self._clock() if self._clock is not None else asyncio.get_running_loop().time()


def _same_block(one: TextDelta, other: TextDelta) -> bool:
    return (one.message_uid, one.block_index) == (other.message_uid, other.block_index)
