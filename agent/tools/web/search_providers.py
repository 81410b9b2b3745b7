"""Search services over HTTP: Brave, Tavily, and a self-hosted SearXNG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from agent.abort import AbortSignal
from agent.tools.base import ToolError
from agent.tools.search_port import SearchQuery, WebPageFound, WebSearchFound
from permissions.base.network.environment_proxy import proxy_for
from permissions.base.text.sanitize import sanitize

MAX_HITS: Final = 10
TIMEOUT_S: Final = 20.0
MAX_EXCERPT_CHARS: Final = 600

Provider = Literal["brave", "tavily", "searxng"]
KEYS: Final[Mapping[Provider, str]] = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}
"""The environment variable with the key of a service."""
_URLS: Final[Mapping[Provider, str]] = {
    "brave": "https://api.search.brave.com",
    "tavily": "https://api.tavily.com",
}


class SearchService(Struct, frozen=True):
    """One configured service."""

    provider: Provider
    base_url: str
    key: str
    env: Mapping[str, str]
    """The environment, which names the proxy."""

    async def search(self, query: SearchQuery, abort: AbortSignal) -> WebSearchFound:
        """See `SearchPort`."""
        record = await abort.race(self._ask(query))
        hits = (hit for hit in _hits(record) if _is_wanted(hit.url, query))
        return WebSearchFound(tuple(hits)[:MAX_HITS])

    async def _ask(self, query: SearchQuery) -> object:
        # Takes 0.1 s to import, and most sessions search nothing.
        import httpx2

        host = urlsplit(self.base_url).hostname
        proxy = proxy_for(self.base_url, self.env)
        try:
            async with httpx2.AsyncClient(
                trust_env=False, timeout=TIMEOUT_S, proxy=proxy
            ) as client:
                match self.provider:
                    case "brave":
                        response = await client.get(
                            f"{self.base_url}/res/v1/web/search",
                            params={
                                "q": query.text,
                                "count": str(2 * MAX_HITS),
                                # Otherwise excerpts have tags around the matched words.
                                "text_decorations": "false",
                            },
                            headers={"X-Subscription-Token": self.key},
                        )
                    case "tavily":
                        response = await client.post(
                            f"{self.base_url}/search",
                            json={"query": query.text, "max_results": 2 * MAX_HITS},
                            headers={"Authorization": f"Bearer {self.key}"},
                        )
                    case "searxng":
                        response = await client.get(
                            f"{self.base_url}/search", params={"q": query.text, "format": "json"}
                        )
            if not response.is_success:
                raise ToolError(f"{host} answered {response.status_code} to the search.")
            return response.json()
        except httpx2.HTTPError as error:
            raise ToolError(f"{host} could not be searched: {error}.") from error
        except ValueError as error:
            raise ToolError(f"{host} did not send JSON.") from error


def search_service(
    provider: Provider, url: str | None, env: Mapping[str, str]
) -> SearchService | str:
    """Return the service, or why it cannot be used, for users."""
    base_url = (url or _URLS.get(provider, "")).rstrip("/")
    if urlsplit(base_url).scheme not in ("http", "https"):
        return f"webSearch: {provider} needs its address as `url`."
    variable = KEYS.get(provider)
    key = env.get(variable, "").strip() if variable is not None else ""
    if variable is not None and not key:
        return f"webSearch: {provider} needs its key in {variable}."
    return SearchService(provider, base_url, key, env)


def _hits(record: object) -> Iterator[WebPageFound]:
    fields = record if isinstance(record, Mapping) else {}
    web = fields.get("web")
    entries = web.get("results") if isinstance(web, Mapping) else fields.get("results")
    for entry in entries if isinstance(entries, list) else ():
        url = entry.get("url") if isinstance(entry, Mapping) else None
        if isinstance(url, str) and url:
            excerpt = entry.get("description") or entry.get("content") or ""
            title = sanitize(str(entry.get("title") or url))
            yield WebPageFound(title, sanitize(url), sanitize(str(excerpt))[:MAX_EXCERPT_CHARS])


def _is_wanted(url: str, query: SearchQuery) -> bool:
    host = (urlsplit(url).hostname or "").lower()

    def is_below(domain: str) -> bool:
        domain = domain.lower().strip(".")
        return host == domain or host.endswith(f".{domain}")

    if any(map(is_below, query.blocked_domains)):
        return False
    return not query.allowed_domains or any(map(is_below, query.allowed_domains))
