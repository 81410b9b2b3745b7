"""One client for all providers: the model's name selects the provider.

`provider/model` goes to that provider; its client is created, and its dialect imported, with the
first request. Any other name goes to the main endpoint unchanged.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from msgspec.structs import replace

from agent.messages import Message
from agent.model.anthropic import AnthropicClient
from agent.model.capabilities import Override, apply_overrides
from agent.model.client import (
    MessageStart,
    ModelCapabilities,
    ModelClient,
    ModelError,
    ModelEvent,
    ModelRequest,
)
from agent.model.dialects.foreign_blocks import left_out
from agent.model.dialects.provider import Provider
from agent.model.endpoint_config import NO_KEY, Endpoint
from agent.model.key_helper import read_helper_key
from agent.model.providers.model_table import foreign_capabilities
from agent.model.providers.provider_setup import Providers

LIST_S: Final = 4.0
"""Time limit, in seconds, for a provider to list its models."""


class ProviderClient(ModelClient, Protocol):
    """A client that also lists models and stores limits."""

    async def list_models(self) -> tuple[str, ...]:
        """Return the ids of the endpoint's models."""
        ...

    def learn_limits(self, model: str, window: int | None, output: int | None) -> None:
        """Store the context window and output limit, in tokens, from an endpoint's error."""
        ...


class ModelRouter:
    """A `ModelClient` over the main endpoint and every provider."""

    def __init__(
        self,
        main: AnthropicClient,
        providers: Providers,
        *,
        env: Mapping[str, str],
        overrides: Mapping[str, Override],
    ) -> None:
        """`env` contains the keys; `overrides` are capability settings by full model name."""
        self.main = main
        self.providers = providers
        self._env = env
        self._overrides = overrides
        self._clients: dict[str, ProviderClient] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream one response; see `ModelClient.stream`."""
        target = self.providers.split(request.model)
        if target is None:
            try:
                async with contextlib.aclosing(self.main.stream(request)) as events:
                    async for event in events:
                        yield event
            except ModelError as error:
                error.names = replace(error.names, key=self.main.endpoint.key_source)
                raise
            return
        provider, model = target
        has_begun = False
        for may_renew in (provider.key_helper is not None, False):
            try:
                client = await self._client(provider)
                answer = client.stream(replace(request, model=model))
                async for event in answer:
                    has_begun = True
                    yield _with_model_name(event, provider.name, model)
                return
            except ModelError as error:
                error.names = provider.names
                if error.status != 401 or has_begun or not may_renew:
                    raise
            # The key may have expired: its helper runs once more.
            await self._close_client(provider)

    def known_capabilities(self, model: str) -> ModelCapabilities:
        """Return what is known without asking; see `ModelClient.known_capabilities`."""
        target = self.providers.split(model)
        if target is None:
            return self.main.known_capabilities(model)
        provider, name = target
        client = self._clients.get(provider.name)
        if client is not None:
            return replace(client.known_capabilities(name), model=model)
        base = replace(foreign_capabilities(provider, name), model=model)
        return apply_overrides(base, self._overrides)

    async def capabilities(self, model: str) -> ModelCapabilities:
        """Return what the model supports; see `ModelClient.capabilities`."""
        target = self.providers.split(model)
        if target is None:
            return await self.main.capabilities(model)
        provider, name = target
        with contextlib.suppress(ModelError):
            client = await self._client(provider)
            return replace(await client.capabilities(name), model=model)
        return self.known_capabilities(model)

    def override(self, model: str) -> Override:
        """Return the user's settings for a model; an empty override if there are none."""
        return self._overrides.get(model, Override())

    def learn_limits(self, model: str, window: int | None, output: int | None) -> None:
        """Store the context window and output limit, in tokens, from an endpoint's error."""
        target = self.providers.split(model)
        if target is None:
            self.main.learn_limits(model, window, output)
        elif (client := self._clients.get(target[0].name)) is not None:
            client.learn_limits(target[1], window, output)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the prompt's token count; see `ModelClient.count_tokens`."""
        target = self.providers.split(request.model)
        if target is None:
            return await self.main.count_tokens(request)
        with contextlib.suppress(ModelError):
            client = await self._client(target[0])
            return await client.count_tokens(replace(request, model=target[1]))
        return None

    async def list_models(self) -> tuple[str, ...]:
        """Return the main endpoint's models, then `provider/model` of each provider that is set up.

        A provider that does not respond within `LIST_S` is left out.
        """
        main = self.main.endpoint
        questions: list[Awaitable[tuple[str, ...]]]
        questions = [
            self._list_models(each)
            for each in self.providers.by_name.values()
            if self._is_set_up(each)
        ]
        if main.api_key or main.auth_token:
            questions.insert(0, self.main.list_models())
        answers = await asyncio.gather(*(_await_listing(each) for each in questions))
        return tuple(dict.fromkeys(name for names in answers for name in names))

    def address(self, model: str) -> str:
        """Return the address for a model's requests, to be shown to users."""
        target = self.providers.split(model)
        if target is None:
            return self.main.endpoint.base_url
        return target[0].base_url or target[0].name

    def small_model(self, model: str, chosen: str | None) -> str:
        """Return the small model to use beside `model`; `chosen` is the configured one, if any."""
        target = self.providers.split(model)
        if target is None:
            return chosen or model
        if chosen is not None and self.providers.split(chosen) is not None:
            return chosen
        provider = target[0]
        return f"{provider.name}/{provider.small_model}" if provider.small_model else model

    def is_main(self, model: str) -> bool:
        """Whether a model is one of the main endpoint's."""
        return self.providers.split(model) is None

    def problem(self, model: str) -> str | None:
        """Return why a model cannot be used, with the next step; None if no problem is known."""
        if (reason := self.providers.unfinished_reason(model)) is not None:
            return reason
        target = self.providers.split(model)
        if target is None:
            endpoint = self.main.endpoint
            if endpoint.is_official and (unknown := self.providers.unknown(model)) is not None:
                return unknown
            if not endpoint.api_key and not endpoint.auth_token:
                return f"There is no key for {endpoint.base_url}: set ANTHROPIC_API_KEY."
            return None
        provider = target[0]
        wants_key = provider.cloud is None and provider.needs_key and not provider.key_helper
        if wants_key and not any(self._env.get(name) for name in provider.key_variables):
            return f"There is no key for {provider.name}: set {provider.names.key}."
        return None

    def left_out(self, messages: Sequence[Message], model: str) -> str:
        """Return a sentence about the parts of a history that the provider cannot read; else ""."""
        target = self.providers.split(model)
        if target is None or target[0].dialect == "messages":
            return left_out(messages, "")
        return left_out(messages, target[0].name)

    @property
    def endpoint(self) -> Endpoint:
        """The main endpoint."""
        return self.main.endpoint

    async def use(self, endpoint: Endpoint) -> None:
        """Send later requests for the main endpoint to `endpoint`."""
        await self.main.use(endpoint)

    async def aclose(self) -> None:
        """Release connections."""
        await self.main.aclose()
        for client in self._clients.values():
            await client.aclose()

    def _is_set_up(self, provider: Provider) -> bool:
        """Whether a provider is set up, by settings or by a key in the environment."""
        if provider.is_configured:
            return True
        has_key = any(self._env.get(name) for name in provider.key_variables)
        is_main = provider.name == "anthropic"
        return has_key and self.providers.scope == "all" and not is_main

    async def _list_models(self, provider: Provider) -> tuple[str, ...]:
        names = provider.models or await (await self._client(provider)).list_models()
        return tuple(f"{provider.name}/{name}" for name in names)

    async def _close_client(self, provider: Provider) -> None:
        client = self._clients.pop(provider.name, None)
        if client is not None:
            await client.aclose()

    async def _client(self, provider: Provider) -> ProviderClient:
        """Return a provider's client.

        Raises:
            ModelError: there is no key for it.
        """
        client = self._clients.get(provider.name)
        if client is None:
            client = await self._make_client(provider)
            client = self._clients.setdefault(provider.name, client)
        return client

    async def _make_client(self, provider: Provider) -> ProviderClient:
        head = f"{provider.name}/"
        overrides = {
            name.removeprefix(head): override
            for name, override in self._overrides.items()
            if name.startswith(head)
        }
        if provider.cloud is not None:
            from agent.model.clouds.cloud_client import CloudClient  # imports the vendor's client

            # Foundry is the only cloud that takes a key; without one, its class reports the error.
            has_key = provider.key_helper or any(map(self._env.get, provider.key_variables))
            takes_key = provider.cloud == "foundry" and has_key
            key = await self._key(provider) if takes_key else None
            return CloudClient(provider, overrides, api_key=key)
        endpoint = Endpoint(
            base_url=provider.base_url,
            api_key=await self._key(provider),
            headers=provider.headers,
            dialect=provider.dialect,
        )
        if provider.dialect == "messages":
            return AnthropicClient(endpoint, overrides)
        from agent.model.providers.wire_client import WireClient  # only if it is used
        from agent.model.providers.wire_dialects import dialect_of  # likewise

        return WireClient(provider, endpoint, dialect_of(provider.dialect), overrides)

    async def _key(self, provider: Provider) -> str:
        for name in provider.key_variables:
            if key := self._env.get(name, "").strip():
                return key
        if provider.key_helper:
            return await read_helper_key(provider.key_helper, env=self._env)
        if provider.needs_key:
            raise ModelError("not_configured", f"There is no key for {provider.name}.")
        return NO_KEY


def _with_model_name(event: ModelEvent, provider: str, model: str) -> ModelEvent:
    """Return the event with the full name of the model in a `MessageStart`."""
    if isinstance(event, MessageStart):
        # The requested name, as some servers report one that they do not accept.
        return replace(event, model=f"{provider}/{model}")
    return event


async def _await_listing(listing: Awaitable[tuple[str, ...]]) -> tuple[str, ...]:
    try:
        async with asyncio.timeout(LIST_S):
            return await listing
    except (TimeoutError, ModelError):
        return ()


if TYPE_CHECKING:

    def _check_protocol(client: ModelRouter) -> ProviderClient:
        return client
