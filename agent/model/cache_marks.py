"""Which blocks of a request are marked for the prompt cache: four at most, as the API allows.

The marks are on blocks because gateways drop a mark at the top level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.messages import Block

MARK: Final = {"type": "ephemeral"}
_UNMARKED: Final = frozenset({"thinking", "redacted_thinking"})


def cache_marks(
    system: Sequence[Block], messages: Sequence[dict[str, object]]
) -> dict[str, object]:
    """Return `system` and `messages` with cache marks.

    The mark on the first system block ends the prefix that all sessions share, tools included;
    the one on the last ends this conversation's fixed prefix. The last two user messages are
    marked because the previous request has cached everything up to the first of them.
    """
    fields: dict[str, object] = {}
    ends = {0, len(system) - 1}
    if system:
        fields["system"] = [_with_mark(b) if i in ends else b for i, b in enumerate(system)]
    users = [i for i, message in enumerate(messages) if message["role"] == "user"]
    fields["messages"] = [
        {**message, "content": _mark_last_block(message["content"])} if i in users[-2:] else message
        for i, message in enumerate(messages)
    ]
    return fields


def _mark_last_block(content: object) -> object:
    blocks = list(content) if isinstance(content, list) else []
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].get("type") not in _UNMARKED:
            blocks[index] = _with_mark(blocks[index])
            break
    return blocks


def _with_mark(block: Block) -> Block:
    return {**block, "cache_control": MARK}
