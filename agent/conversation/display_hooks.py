"""Lets MessageDisplay hooks see the answer's text before it is shown, a batch of lines at a time.

The last line is held back until it is complete, so that the final batch is never empty. Batches
grow with what a hook takes, so that hooks slow the text down by a fixed share at most.
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
"""A hook rests for this many times what its last run took."""


class _Held(Struct):
    """Text of one block that was not shown yet."""

    delta: TextDelta
    text: str = ""


class DisplayHooks:
    """Passes events on; text of the main agent goes through hooks first, if there are any."""

    def __init__(
        self,
        hooks: HookDispatch,
        *,
        replaces: bool,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`replaces` is whether what hooks answer is shown in place of the text: on a screen."""
        self._hooks = hooks
        self._replaces = replaces
        self._clock = clock
        self._held: _Held | None = None
        self._index = 0
        self._message = ""
        self._resting_until = float("-inf")

    @property
    def is_active(self) -> bool:
        """Whether events have to pass through `shown` at all."""
        return self._held is not None or self._hooks.runner.has(EVENT)

    async def replace_event(self, event: AgentEvent, abort: AbortSignal) -> list[AgentEvent]:
        """Return what takes the place of an event, in order; usually the event itself."""
        if event.agent_id is not None:
            return [event]
        if not isinstance(event, TextDelta):
            if self._held is None or event.type == "tombstone":
                self._held = None
                return [event]
            return [*await self._release_all(abort), event]
        if not self.is_active:
            return [event]
        shown: list[AgentEvent] = []
        if self._held is not None and not _same_block(self._held.delta, event):
            shown += await self._release_all(abort)
        if self._held is None:
            self._held = _Held(event)
        self._held.text += event.text
        lines = self._complete_lines()
        if lines and self._now() >= self._resting_until:
            self._held.text = self._held.text[len(lines) :]
            shown.append(await self._through_hooks(event, lines, final=False, abort=abort))
        return shown

    def _complete_lines(self) -> str:
        """Return the lines that more text follows."""
        assert self._held is not None
        text = self._held.text
        return text[: text.rfind("\n", 0, len(text) - 1) + 1]

    async def _release_all(self, abort: AbortSignal) -> list[TextDelta]:
        held, self._held = self._held, None
        if held is None or not held.text:
            return []
        return [await self._through_hooks(held.delta, held.text, final=True, abort=abort)]

    async def _through_hooks(
        self, delta: TextDelta, text: str, *, final: bool, abort: AbortSignal
    ) -> TextDelta:
        if delta.message_uid != self._message:
            self._message, self._index = delta.message_uid, 0
        started = self._now()
        content = None
        if not abort.aborted:
            content = await self._hooks.message_display(
                delta.message_uid, self._index, text, final=final, abort=abort
            )
        self._index += 1
        ended = self._now()
        self._resting_until = ended + REST_FACTOR * (ended - started)
        return replace(delta, text=content if content is not None and self._replaces else text)

    def _now(self) -> float:
        return self._clock() if self._clock is not None else asyncio.get_running_loop().time()


def _same_block(one: TextDelta, other: TextDelta) -> bool:
    return (one.message_uid, one.block_index) == (other.message_uid, other.block_index)
