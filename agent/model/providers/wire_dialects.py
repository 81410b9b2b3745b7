"""Imports a dialect when it is needed."""

from __future__ import annotations

from agent.model.dialects.wire_dialect import WireDialect
from agent.model.endpoint_config import Dialect


def dialect_of(name: Dialect) -> WireDialect:
    """Return the dialect; raise ValueError for the Messages API, which has its own client."""
    if name == "responses":
        from agent.model.openai.responses_body import responses_body, responses_path
        from agent.model.openai.responses_reader import ResponsesReader

        return WireDialect(responses_path, responses_body, ResponsesReader)
    if name == "chat":
        from agent.model.openai.chat_body import chat_body, chat_path
        from agent.model.openai.chat_reader import ChatReader

        return WireDialect(chat_path, chat_body, ChatReader)
    if name == "gemini":
        from agent.model.gemini.gemini_body import gemini_body, gemini_path
        from agent.model.gemini.gemini_reader import GeminiReader

        return WireDialect(gemini_path, gemini_body, GeminiReader)
    raise ValueError(name)
