"""A request as a chain of content units, for the simulation of caching and bound thinking."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from msgspec import Struct


class Unit(Struct, frozen=True):
    """One tool, system block or message block, with a digest of everything up to it."""

    place: str
    """`tool`, `system`, or the role of the message."""
    block: Mapping[str, object]
    digest: str
    """Of all units up to and including this one, without cache marks."""
    tokens: int
    """Estimated tokens of this unit alone."""
    is_marked: bool
    """Whether it carries a cache mark."""


class PrefixChain:
    """A running digest over content units.

    Message boundaries do not count, as the endpoint merges adjacent messages of one role.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._digest = hashlib.sha256().hexdigest()
        self.units: list[Unit] = []

    @property
    def digest(self) -> str:
        """Digest of everything added so far."""
        return self._digest

    @property
    def tokens(self) -> int:
        """Estimated tokens of everything added so far."""
        return sum(unit.tokens for unit in self.units)

    def add(self, place: str, block: Mapping[str, object]) -> None:
        """Append one unit."""
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        text = json.dumps(bare, sort_keys=True)
        link = f"{self._digest}\0{place}\0{text}\0"
        self._digest = hashlib.sha256(link.encode()).hexdigest()
        if block.get("type") == "compaction" and is_signed_summary(block):
            # The digest continues from that of the messages that the summary replaced.
            self._digest = str(block["encrypted_content"])
        is_marked = bool(block.get("cache_control"))
        self.units.append(Unit(place, block, self.digest, estimate_tokens(text), is_marked))


def chain_of(body: Mapping[str, object]) -> PrefixChain:
    """Return the request's units in the endpoint's order: tools, system, messages."""
    chain = PrefixChain()
    for place, block in _blocks(body):
        chain.add(place, block)
    return chain


def sign_thinking(prefix_digest: str, text: str) -> str:
    """Return the signature of a thinking block that follows a prefix with this digest."""
    body = f"{prefix_digest}\0{text}".encode("utf-8", "surrogatepass")
    return "sig." + hashlib.sha256(body).hexdigest()[:40]


def sign_summary(prefix_digest: str, text: str) -> str:
    """Return the signature of a summary that replaces a prefix with this digest."""
    body = f"{prefix_digest}\0{text}".encode("utf-8", "surrogatepass")
    return "cmp." + hashlib.sha256(body).hexdigest()[:40]


def is_signed_summary(block: Mapping[str, object]) -> bool:
    """Return whether a summary was signed by this server and is unchanged."""
    digest, text = str(block.get("encrypted_content")), str(block.get("content"))
    return block.get("signature") == sign_summary(digest, text)


def estimate_tokens(text: str) -> int:
    """Return an estimate: four bytes per token, at least one token."""
    return max(1, (len(text.encode("utf-8", "surrogatepass")) + 3) // 4)


def as_blocks(content: object) -> list[dict[str, object]]:
    """Return message content, a string or a list, as blocks."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return []


def _blocks(body: Mapping[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    for tool in as_blocks(body.get("tools")):
        yield "tool", tool
    for block in as_blocks(body.get("system")):
        yield "system", block
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            for block in as_blocks(message.get("content")):
                yield str(message.get("role")), block
