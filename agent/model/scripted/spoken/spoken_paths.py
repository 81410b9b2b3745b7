"""The dialect of a request's path."""

from __future__ import annotations

from typing import Any, Final

from agent.model.scripted.spoken.chat_spoken import CHAT
from agent.model.scripted.spoken.gemini_spoken import ASKED, GEMINI
from agent.model.scripted.spoken.responses_spoken import RESPONSES
from agent.model.scripted.spoken.spoken_dialect import SpokenDialect
from permissions.base.text.late_pattern import compile_late

MESSAGES: str = "/v1/messages"


def dialect_at(path: str) -> SpokenDialect | None:
    """Return the dialect whose answers a path serves; None for any other path."""
    if path.endswith("/responses"):
        return RESPONSES
    if path.endswith("/chat/completions"):
        return CHAT
    return GEMINI if ASKED.search(path) else None


def asks_for_answer(path: str) -> bool:
    """Return whether a model answers requests at a path."""
    return path == MESSAGES or dialect_at(path) is not None


_ON_VERTEX: Final = compile_late(
    r"/projects/[^/]+/locations/[^/]+/publishers/anthropic/models/(.+):.*"
)


def as_messages(path: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Convert a Vertex request to one of the Messages API; return any other unchanged."""
    match = _ON_VERTEX.search(path)
    if match is None or "anthropic_version" not in body or "model" in body:
        return path, body
    rest = {name: value for name, value in body.items() if name != "anthropic_version"}
    return MESSAGES, {**rest, "model": match[1]}
