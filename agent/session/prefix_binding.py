"""What an answer's thinking is bound to before the first message: system prompt and tools.

A resume sends the same bytes, or drops the thinking: an endpoint rejects one without the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from msgspec import Struct

from agent.history import drop_thinking
from agent.messages import Block, Message
from agent.session.resume import ResumedConversation


class BoundPrefix(Struct, frozen=True):
    """What precedes the messages of a conversation."""

    system: tuple[Block, ...]
    digest: str
    """Of system prompt and tools together."""


def digest_of(system: Sequence[Block], tools: Sequence[Mapping[str, object]]) -> str:
    """Return a hash that identifies a prefix."""
    text = json.dumps([list(tools), list(system)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def bind_prefix(
    system: tuple[Block, ...],
    tools: Sequence[Mapping[str, object]],
    earlier: ResumedConversation | None,
    *,
    has_own_prompt: bool,
) -> tuple[BoundPrefix, tuple[Message, ...] | None]:
    """Return the prefix to send, and the messages to continue with if they are not those resumed.

    Args:
        system: as built for this start.
        tools: as they are sent now.
        earlier: None for a new conversation.
        has_own_prompt: the user asked for a prompt of their own at this start.
    """
    if earlier is None:
        return BoundPrefix(system, digest_of(system, tools)), None
    candidates = [system] if has_own_prompt or not earlier.system else [earlier.system, system]
    for candidate in candidates:
        digest = digest_of(candidate, tools)
        if digest == earlier.prefix_digest:
            return BoundPrefix(candidate, digest), None
    messages = drop_thinking(earlier.messages)
    prefix = BoundPrefix(system, digest_of(system, tools))
    return prefix, None if messages == earlier.messages else messages
