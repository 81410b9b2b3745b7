"""Handles servers' questions to the user: hooks before and after, and a dialog."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, cast

from agent.mcp.elicited_values import FormValue
from agent.mcp.live.user_port import McpUser
from agent.mcp.server_requests import ElicitationAnswer, ElicitationRequest
from hooks.answers.outcome import EventOutcome
from hooks.events.workspace import Elicitation, ElicitationResult

FireElicitation = Callable[[Elicitation | ElicitationResult], Awaitable[EventOutcome | None]]
MAX_OPEN: Final = 5
"""Most pending questions of one server; more are cancelled."""
MAX_REFUSED: Final = 3
"""Consecutive questions without acceptance after which a server may not ask any more."""


class Elicitations:
    """Answers servers' questions, one at a time."""

    def __init__(self, fire: FireElicitation, user: McpUser | None) -> None:
        """Without a user, only hooks answer."""
        self._fire = fire
        self._user = user
        self._open: dict[str, int] = {}
        self._refusal_counts: dict[str, int] = {}
        self._one_at_a_time = asyncio.Lock()

    async def answer(self, request: ElicitationRequest) -> ElicitationAnswer:
        """Return the answer for a server."""
        count = self._open.get(request.server, 0)
        if count >= MAX_OPEN:
            return ElicitationAnswer("cancel")
        self._open[request.server] = count + 1
        try:
            return await self._answer_request(request)
        finally:
            self._open[request.server] -= 1

    async def _answer_request(self, request: ElicitationRequest) -> ElicitationAnswer:
        first_outcome = await self._fire(
            Elicitation(
                mcp_server_name=request.server,
                message=request.message,
                mode=request.mode,
                url=request.url or None,
                requested_schema=dict(request.schema) or None,
            )
        )
        answer = _hook_answer(first_outcome)
        if answer is None:
            if self._user is None:
                return ElicitationAnswer("cancel")
            async with self._one_at_a_time:
                answer = await self._ask(self._user, request)
        last_outcome = await self._fire(
            ElicitationResult(
                mcp_server_name=request.server,
                action=answer.action,
                mode=request.mode,
                content=dict(answer.content) if answer.content is not None else None,
            )
        )
        return _hook_answer(last_outcome) or answer

    async def _ask(self, user: McpUser, request: ElicitationRequest) -> ElicitationAnswer:
        refused_count = self._refusal_counts.get(request.server, 0)
        if refused_count >= MAX_REFUSED:
            return ElicitationAnswer("decline")
        answer = await user.elicit(request)
        self._refusal_counts[request.server] = 0 if answer.action == "accept" else refused_count + 1
        return answer


def _hook_answer(outcome: EventOutcome | None) -> ElicitationAnswer | None:
    """Return the hooks' answer, or None if they gave none."""
    if outcome is None or outcome.action not in ("accept", "decline", "cancel"):
        return None
    content = cast("Mapping[str, FormValue] | None", outcome.content)
    if outcome.action == "accept":
        return ElicitationAnswer("accept", content or {})
    return ElicitationAnswer("decline" if outcome.action == "decline" else "cancel")
