"""The prefix that thinking is bound to: system prompt and tools.
A resume sends the same bytes, or drops the thinking, which an endpoint would reject otherwise.
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
    """The prefix of a conversation, before its messages."""

    system: tuple[Block, ...]
    digest: str
    """Digest of system prompt and tools."""


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
    """Return the prefix to send, and the messages to continue with if they differ from `earlier`'s.

    Args:
        system: the system prompt built for this start.
        tools: the definitions as sent now.
        earlier: the resumed conversation; None for a new one.
        has_own_prompt: whether the user gave a custom system prompt at this start.
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
