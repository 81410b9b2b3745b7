"""Sampling, servers' requests to the model: off until the user allows it, and limited."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from agent.abort import AbortController, AbortSignal
from agent.errors import AgentError
from agent.mcp.configuration.consent_store import ProjectConsents
from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.live.user_port import McpUser, SamplingChoice
from agent.mcp.server_requests import SamplingAnswer, SamplingRequest

MAX_REQUESTS: Final = 20
"""Most requests of one server in a session, as each costs the user money."""
MAX_TOKENS: Final = 4_000
MAX_CHARACTERS: Final = 100_000


class SamplingModel(Protocol):
    """A model that answers one question."""

    async def ask(self, *, system: str, prompt: str, max_tokens: int, abort: AbortSignal) -> str:
        """Return the answer's text. Raises AgentError."""
        ...


class Sampling:
    """Answers servers' sampling requests."""

    def __init__(
        self,
        model: SamplingModel,
        name: Callable[[], str],
        user: McpUser | None,
        consents: Callable[[], ProjectConsents],
        allow_always: Callable[[str], Awaitable[None]],
    ) -> None:
        """`name` returns the model's name; `allow_always` stores the user's decision."""
        self._model = model
        self._name = name
        self._user = user
        self._consents = consents
        self._allow_always = allow_always
        self._counts: dict[str, int] = {}
        self._one_at_a_time = asyncio.Lock()

    async def answer(
        self, request: SamplingRequest, definition: ServerDefinition | None
    ) -> SamplingAnswer | None:
        """Return the model's answer; None if the request is refused."""
        count = self._counts.get(request.server, 0)
        length = len(request.system) + sum(len(text) for _, text in request.messages)
        if definition is None or count >= MAX_REQUESTS or length > MAX_CHARACTERS:
            return None
        async with self._one_at_a_time:
            # A refusal counts too: a server must not ask until the user gives in.
            self._counts[request.server] = count + 1
            if not await self._is_allowed(request, definition):
                return None
            prompt = "\n\n".join(f"{role}: {text}" for role, text in request.messages)
            if len(request.messages) == 1:
                prompt = request.messages[0][1]
            try:
                text = await self._model.ask(
                    system=request.system,
                    prompt=prompt,
                    max_tokens=min(request.max_tokens, MAX_TOKENS),
                    abort=AbortController().signal,
                )
            except AgentError:
                return None
        return SamplingAnswer(text, self._name())

    async def _is_allowed(self, request: SamplingRequest, definition: ServerDefinition) -> bool:
        if self._consents().sampling.get(definition.name) == definition.digest:
            return True
        if self._user is None:
            return False
        choice = await self._user.allow_sampling(request)
        if choice is SamplingChoice.ALWAYS:
            await self._allow_always(definition.name)
        return choice is not SamplingChoice.NO
