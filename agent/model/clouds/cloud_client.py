"""Claude on a cloud: the vendor's client class addresses and signs requests, the rest is ours.

The classes and their signing libraries load at the first request; if they are not installed, the
error names the extra that contains them.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Final, cast

from agent.model.anthropic import MESSAGES, message_events
from agent.model.capabilities import Override, apply_overrides, known_capabilities
from agent.model.client import ModelCapabilities, ModelClient, ModelError, ModelEvent, ModelRequest
from agent.model.connection import http_client
from agent.model.dialects.provider import Provider
from agent.model.endpoint_config import Endpoint, Timeouts
from agent.model.failures import from_connection, from_status, from_stream
from agent.model.message_builder import CallRepair
from agent.model.wire import betas_of, request_body

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

_CLASSES: Final[Mapping[str, str]] = {
    "bedrock": "AsyncAnthropicBedrockMantle",
    "vertex": "AsyncAnthropicVertex",
    "foundry": "AsyncAnthropicFoundry",
}
_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "bedrock": {"region": "aws_region", "profile": "aws_profile"},
    "vertex": {"region": "region", "project": "project_id"},
    "foundry": {"resource": "resource"},
}
"""Our option names to the class's; the class reads missing ones from its usual variables."""


class CloudClient:
    """A `ModelClient` for one cloud."""

    def __init__(
        self,
        provider: Provider,
        overrides: Mapping[str, Override],
        timeouts: Timeouts = Timeouts(),  # noqa: B008  # frozen
        *,
        api_key: str | None = None,
    ) -> None:
        """Load nothing yet; `overrides` are capability settings by the model's name at the cloud.

        `api_key` is for clouds that take one; None leaves the credentials to the vendor's client.
        """
        self.provider = provider
        self._overrides = overrides
        self._timeouts = timeouts
        self._api_key = api_key
        self._limits: dict[str, ModelCapabilities] = {}
        self._client: AsyncAnthropic | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream one response; see `ModelClient.stream`."""
        client = await self._load_client()
        import httpx2  # loaded with the client

        body = request_body(request, self.known_capabilities(request.model))
        all_betas = (*request.betas, *betas_of(body))
        betas = () if "betas" in request.without else all_betas
        headers = {"anthropic-beta": ",".join(betas)} if betas else {}
        response = await self._post(client, {**body, "stream": True}, headers)
        calls = CallRepair(request.messages)
        try:
            async with contextlib.aclosing(message_events(response, self._timeouts)) as events:
                async for event in events:
                    yield calls.repair(event)
        except httpx2.HTTPError as error:
            raise from_stream(error, self._timeouts.silence_s) from error
        finally:
            await response.aclose()

    def known_capabilities(self, model: str) -> ModelCapabilities:
        """Return the table's values, as clouds report none; see `ModelClient`."""
        base = known_capabilities(model)
        return self._limits.get(model) or apply_overrides(base, self._overrides)

    async def capabilities(self, model: str) -> ModelCapabilities:
        """See `known_capabilities`."""
        return self.known_capabilities(model)

    def learn_limits(self, model: str, window: int | None, output: int | None) -> None:
        """Store the context window and output limit, in tokens, from an endpoint's error."""
        self._limits[model] = self.known_capabilities(model).within(window, output)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return None: not every cloud counts tokens."""
        return None

    async def list_models(self) -> tuple[str, ...]:
        """Return the models that the user named, as clouds list none that requests can use."""
        return self.provider.models

    async def aclose(self) -> None:
        """Release connections."""
        if self._client is not None:
            await self._client.close()

    async def _load_client(self) -> AsyncAnthropic:
        if self._client is None:
            self._client = await asyncio.to_thread(self._make)
        return self._client

    def _make(self) -> AsyncAnthropic:
        """Build the vendor's client.

        Raises:
            ModelError: it is not installed, or its options are incomplete.
        """
        cloud = str(self.provider.speaks)
        try:
            import anthropic  # takes a second to import, and only clouds need it
        except ImportError as error:
            raise self._missing(f"pip install 'agent-tui[{cloud}]'") from error
        names = _OPTIONS[cloud]
        options: dict[str, object] = {
            names[name]: value for name, value in self.provider.options.items() if name in names
        }
        if self.provider.base_url:
            options["base_url"] = self.provider.base_url
        if self._api_key is not None:
            options["api_key"] = self._api_key
        http = http_client(Endpoint(self.provider.base_url, timeouts=self._timeouts))
        try:
            client = getattr(anthropic, _CLASSES[cloud])(
                **options,
                http_client=http,
                timeout=http.timeout,
                max_retries=0,
                default_headers=dict(self.provider.headers),
                open_telemetry=False,
            )
        except (anthropic.AnthropicError, ValueError, ImportError) as error:
            # That hint is for programmers, not for users.
            what = re.sub(r"`\w+` in the constructor, ", "", str(error))
            raise self._missing(what) from error
        return cast("AsyncAnthropic", client)

    def _missing(self, what: str) -> ModelError:
        cloud = self.provider.name
        return ModelError("not_configured", f"{cloud} cannot be used yet: {what}")

    async def _post(
        self, client: AsyncAnthropic, body: dict[str, object], headers: dict[str, str]
    ) -> httpx2.Response:
        """Return the response once its headers have arrived."""
        import anthropic  # loaded with the client
        import httpx2  # loaded with the client, too

        try:
            response = await client.post(
                MESSAGES,
                cast_to=httpx2.Response,
                body=body,
                options={"headers": headers},
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
        except anthropic.APIStatusError as error:
            # The vendor's client has read the body, within the limits of `bound_body`.
            raise from_status(error.response, error.response.content) from error
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            raise from_connection(error, str(client.base_url)) from error
        except (anthropic.AnthropicError, ImportError, RuntimeError) as error:
            # No credentials, or the library that signs with them is not installed.
            raise self._missing(str(error)) from error
        # For this `cast_to` the vendor's client returns the response itself, undeclared.
        return cast("httpx2.Response", response)


if TYPE_CHECKING:

    def _check_protocol(client: CloudClient) -> ModelClient:
        return client
