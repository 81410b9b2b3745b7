"""A web search as tools know it: a query with its limits, and what was found."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from agent.abort import AbortSignal


class SearchQuery(Struct, frozen=True):
    """What to search for; hosts that results must or must not come from."""

    text: str
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()


class WebPageFound(Struct, frozen=True):
    """One page that was found."""

    title: str
    url: str
    excerpt: str = ""


class WebSearchFound(Struct, frozen=True):
    """The result of a search."""

    hits: tuple[WebPageFound, ...]
    answer: str = ""
    """The text of a model that searched; empty if a search service was used."""


class SearchPort(Protocol):
    """Searches the web."""

    async def search(self, query: SearchQuery, abort: AbortSignal) -> WebSearchFound:
        """Return what was found. Raises ToolError or ModelError."""
        ...
