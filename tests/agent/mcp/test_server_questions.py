"""What servers ask: hooks answer before the user does, and the model answers within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from mcp_types import ElicitRequestURLParams

from agent.abort import AbortSignal
from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.mcp.configuration.consent_store import ConsentAnswer, ProjectConsents
from agent.mcp.configuration.tool_pins import ToolChange
from agent.mcp.live.elicitation import MAX_OPEN, MAX_REFUSED, Elicitations
from agent.mcp.live.sampling import MAX_REQUESTS, MAX_TOKENS, Sampling
from agent.mcp.live.user_port import SamplingChoice
from agent.mcp.server_requests import (
    ElicitationAnswer,
    ElicitationRequest,
    McpPorts,
    SamplingRequest,
)
from hooks.answers.outcome import EventOutcome
from hooks.events.workspace import Elicitation, ElicitationResult
from tests.agent.mcp.running import plain

FORM = ElicitationRequest(server="plain", mode="form", message="Which?", schema={"type": "object"})
PROMPT = SamplingRequest(server="plain", messages=(("user", "Why?"),), system="", max_tokens=9_999)


class Asked:
    """A user who gives one answer, and a small model that says one word."""

    def __init__(self, choice: SamplingChoice = SamplingChoice.ONCE) -> None:
        self.choice = choice
        self.forms = self.shown = 0
        self.waits = asyncio.Event()
        self.waits.set()
        self.max_tokens: list[int] = []

    async def approve_server(self, server: ConfiguredServer) -> ConsentAnswer | None:
        raise AssertionError(server)

    async def accept_changes(self, server: str, changes: Sequence[ToolChange]) -> bool:
        raise AssertionError(server, changes)

    async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        self.forms += 1
        await self.waits.wait()
        return ElicitationAnswer("accept", {"color": "blue"})

    async def allow_sampling(self, request: SamplingRequest) -> SamplingChoice:
        self.shown += 1
        return self.choice

    async def ask(self, *, system: str, prompt: str, max_tokens: int, abort: AbortSignal) -> str:
        self.max_tokens.append(max_tokens)
        return "light"


async def test_hooks_answer_before_the_user_and_change_what_the_user_answers() -> None:
    fired: list[str] = []
    before: EventOutcome | None = None

    async def fire(event: Elicitation | ElicitationResult) -> EventOutcome | None:
        fired.append(type(event).__name__)
        if isinstance(event, Elicitation):
            return before
        return (
            EventOutcome("ElicitationResult", action="decline")
            if event.content == {"color": "blue"}
            else None
        )

    user = Asked()
    asked = Elicitations(fire, user)
    assert await asked.answer(FORM) == ElicitationAnswer("decline")
    assert (user.forms, fired) == (1, ["Elicitation", "ElicitationResult"])
    before = EventOutcome("Elicitation", action="accept", content={"color": "red"})
    assert await asked.answer(FORM) == ElicitationAnswer("accept", {"color": "red"})
    assert user.forms == 1


async def test_a_flood_of_forms_is_cancelled_and_shown_one_by_one() -> None:
    async def fire(_event: Elicitation | ElicitationResult) -> EventOutcome | None:
        return None

    user = Asked()
    user.waits.clear()
    asked = Elicitations(fire, user)
    answers = [asyncio.ensure_future(asked.answer(FORM)) for _ in range(MAX_OPEN + 3)]
    done, _ = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
    assert {one.result().action for one in done} == {"cancel"}
    user.waits.set()
    actions = [one.action for one in await asyncio.gather(*answers)]
    assert (actions.count("cancel"), user.forms) == (3, MAX_OPEN)


async def test_sampling_is_shown_allowed_always_and_ends_at_a_budget() -> None:
    server = plain()
    allowed: dict[str, str] = {}

    async def allow(name: str) -> None:
        allowed[name] = server.digest

    user = Asked(SamplingChoice.NO)
    sampling = Sampling(
        user, lambda: "small", user, lambda: ProjectConsents(sampling=allowed), allow
    )
    assert await sampling.answer(PROMPT, server) is None
    user.choice = SamplingChoice.ALWAYS
    answers = [await sampling.answer(PROMPT, server) for _ in range(MAX_REQUESTS)]
    assert [one.text for one in answers if one is not None] == ["light"] * (MAX_REQUESTS - 1)
    assert answers[-1] is None
    assert (user.shown, set(user.max_tokens)) == (2, {MAX_TOKENS})
    nobody = Sampling(user, lambda: "small", None, ProjectConsents, allow)
    assert await nobody.answer(PROMPT, server) is None


async def test_who_is_refused_does_not_ask_until_the_user_gives_in() -> None:
    async def fire(_event: Elicitation | ElicitationResult) -> EventOutcome | None:
        return None

    class Refusing(Asked):
        async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
            self.forms += 1
            return ElicitationAnswer("decline")

    user = Refusing(SamplingChoice.NO)
    elicitations = Elicitations(fire, user)
    answers = [await elicitations.answer(FORM) for _ in range(10)]
    assert {answer.action for answer in answers} == {"decline"}
    assert user.forms == MAX_REFUSED

    async def keep(_name: str) -> None: ...

    sampling = Sampling(user, lambda: "small", user, ProjectConsents, keep)
    for _ in range(MAX_REQUESTS + 5):
        assert await sampling.answer(PROMPT, plain()) is None
    assert user.shown == MAX_REQUESTS


async def test_an_address_that_can_be_read_otherwise_is_not_shown() -> None:
    from agent.mcp.protocol.server_callbacks import ServerCallbacks

    shown: list[ElicitationRequest] = []

    async def elicit(request: ElicitationRequest) -> ElicitationAnswer:
        shown.append(request)
        return ElicitationAnswer("accept")

    callbacks = ServerCallbacks(plain(), McpPorts(elicit=elicit), lambda _: None)
    context: Any = None
    for url in ("https://good.test@evil.test/", "file:///etc/passwd", "https://good.test/x"):
        params = ElicitRequestURLParams(mode="url", message="m", url=url, elicitation_id="1")
        await callbacks.elicit(context, params)
    assert [request.url for request in shown] == ["https://good.test/x"]
