"""Tool calls that can go back to any endpoint: an id of their own, and a name of plain letters.

Some servers number the calls of every answer from zero, or leave the id out; the first later
request that quotes two calls of one id would be rejected, and so would all that follow it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agent.messages import Message
from agent.model.client import BlockStart, ModelEvent

NAME_LIMIT: Final = 128
"""Longest name of a tool that endpoints take, in characters."""
ID_LIMIT: Final = 64
"""Longest id of a call that endpoints take, in characters."""
NAMELESS: Final = "unnamed"

_IDENTIFIER: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{ID_LIMIT}}}")
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")


class CallRepair:
    """Mends the tool calls of one answer as they begin; everything else passes as it is."""

    def __init__(self, earlier: Sequence[Message]) -> None:
        """`earlier` are the messages of the request."""
        self._earlier = earlier
        self._taken: set[str] | None = None

    def mended(self, event: ModelEvent) -> ModelEvent:
        """Return the event; a tool call has an id of its own and a possible name."""
        if not isinstance(event, BlockStart) or event.block.get("type") != "tool_use":
            return event
        call_id = self._own_id(str(event.block.get("id") or ""))
        name = _possible_name(str(event.block.get("name") or ""))
        if event.block.get("id") == call_id and event.block.get("name") == name:
            return event
        return replace(event, block={**event.block, "id": call_id, "name": name})

    def _own_id(self, call_id: str) -> str:
        if self._taken is None:
            # Only now: most answers call no tool.
            self._taken = {use.id for message in self._earlier for use in message.tool_uses()}
        if _IDENTIFIER.fullmatch(call_id) is None or call_id in self._taken:
            call_id = f"call_{uuid.uuid4().hex}"
        self._taken.add(call_id)
        return call_id


def _possible_name(name: str) -> str:
    return _FOREIGN.sub("_", name)[:NAME_LIMIT] or NAMELESS
