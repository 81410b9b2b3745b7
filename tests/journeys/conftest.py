"""A whole conversation on the scripted server with a user made of a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agent.assembly import sandbox_setup
from agent.assembly.assemble import Assembled, Environment, UserPorts, assemble, settings_for
from agent.conversation.conversation import Conversation
from agent.events import AgentEvent, Terminal, ToolResult
from agent.mcp.live.user_port import McpUser
from agent.model.endpoint import ModelSetup
from agent.model.scripted.scenario import Scenario, Text, Turn
from agent.model.scripted.server import ScriptedServer
from agent.options import RunOptions
from agent.sandbox.probe import probe
from agent.tools.services import AskUser
from agent.user_prompt import Prompt
from permissions.confinement import SandboxLevel
from permissions.decision import Behavior, Decision
from permissions.request import PermissionRequest
from permissions.resolve.handlers import user_decision
from tests.journeys.program import environment, run
from tests.journeys.start import model_at, user_at

HELLO = Turn((Text("Hello there."),), times=0)
Answer = Callable[[PermissionRequest, Decision], Awaitable[Decision | None]]


def yes(feedback: str | None = None) -> Decision:
    """The user's yes."""
    return user_decision(Behavior.ALLOW, feedback=feedback)


def no(feedback: str | None = None) -> Decision:
    """The user's no; without a comment it ends the turn."""
    return user_decision(Behavior.DENY, feedback=feedback, interrupt=feedback is None)


@pytest.fixture(scope="session", autouse=True)
def machine_is_probed_once() -> None:
    """Let all starts in this process share what the machine can enforce, which stays the same."""
    module: Any = sandbox_setup
    module.probe = cache(probe)


@pytest.fixture
def full_sandbox() -> None:
    """Skip the test where the sandbox does not enforce everything."""
    if (available := probe()).level is not SandboxLevel.FULL:
        pytest.skip(f"level {available.level}: {available.reason}")


@dataclass
class ScriptedPerson:
    """Answers permission requests in order, then says yes; waits for ever where told to.

    An answer that is a future is given once the test has set it.
    """

    answers: list[Decision | asyncio.Future[Decision] | None] = field(default_factory=list)
    asked: list[tuple[PermissionRequest, Decision]] = field(default_factory=list)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)
    name: str = "dialog"

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        self.asked.append((request, pending))
        self.was_asked.set()
        answer = self.answers.pop(0) if self.answers else yes()
        if isinstance(answer, asyncio.Future):
            return await answer
        if answer is None:
            await asyncio.Event().wait()
        return answer


@dataclass
class Journey:
    """One conversation under way."""

    server: ScriptedServer
    assembled: Assembled
    project: Path
    person: ScriptedPerson
    environment: Environment

    @property
    def conversation(self) -> Conversation:
        return self.assembled.conversation

    async def send(
        self, text: str, on_event: Callable[[AgentEvent], None] | None = None
    ) -> list[AgentEvent]:
        """Send a prompt and return all its events."""
        events: list[AgentEvent] = []
        async for event in self.conversation.run(Prompt(text)):
            events.append(event)
            if on_event is not None:
                on_event(event)
        assert isinstance(events[-1], Terminal), events[-1]
        return events

    def last_messages(self) -> list[dict[str, Any]]:
        """The messages of the latest request."""
        messages: list[dict[str, Any]] = self.server.requests[-1].body["messages"]
        return messages


def terminal(events: Sequence[AgentEvent]) -> Terminal:
    """The end of a prompt."""
    last = events[-1]
    assert isinstance(last, Terminal)
    return last


def results(events: Sequence[AgentEvent]) -> list[ToolResult]:
    """The tool results among events."""
    return [event for event in events if isinstance(event, ToolResult)]


@dataclass(frozen=True)
class Headless:
    """The program as a process, started in a project against one model."""

    server: ScriptedServer
    project: Path
    home: Path

    async def run(
        self, *arguments: str, stdin: str | None = None, **env: str | None
    ) -> tuple[int, str, str]:
        """Run it to its end; returns exit status, standard output and standard error.

        A variable that is None is not set.
        """
        variables = environment(self.home, self.server.base_url)
        variables = {k: v for k, v in {**variables, **env}.items() if v is not None}
        return await run(*arguments, cwd=self.project, env=variables, stdin=stdin)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty directory to start programs in."""
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


@pytest.fixture
async def hello(project: Path, fresh_home: Path) -> AsyncIterator[Headless]:
    """The program on a model that always says hello."""
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        yield Headless(server, project, fresh_home)


Begin = Callable[..., Awaitable[Journey]]


@pytest.fixture
async def begin(tmp_path: Path, fresh_home: Path) -> AsyncIterator[Begin]:
    """Start conversations in a project folder; everything ends with the test."""
    async with journeys(tmp_path, fresh_home) as start:
        yield start


@asynccontextmanager
async def journeys(tmp_path: Path, fresh_home: Path) -> AsyncIterator[Begin]:
    """Give what starts conversations, and end them all in the end."""
    project = tmp_path / "a project"
    project.mkdir()
    async with AsyncExitStack() as stack:

        async def start(
            turns: Sequence[Turn] = (),
            *,
            scenario: Scenario | None = None,
            answers: Sequence[Decision | asyncio.Future[Decision] | None] = (),
            has_person: bool = True,
            server: ScriptedServer | None = None,
            env: dict[str, str] | None = None,
            respond: Any = None,
            ask: AskUser | None = None,
            mcp: McpUser | None = None,
            keep_facts: Callable[[], Awaitable[bool | None]] | None = None,
            model_setup: ModelSetup | None = None,
            **options: Any,
        ) -> Journey:
            if server is None:
                script = scenario or Scenario(turns=tuple(turns))
                server = await stack.enter_async_context(
                    ScriptedServer(script, variables={"cwd": str(project)}, respond=respond)
                )
            environment = user_at(fresh_home, project, **(env or {}))
            chosen = RunOptions(headless=not has_person, **options)
            setup = model_setup or model_at(server.base_url)
            person = ScriptedPerson(list(answers))
            assembled = await assemble(
                chosen,
                environment,
                settings_for(chosen, environment),
                setup,
                UserPorts(
                    dialog=person if has_person else None,
                    ask=ask,
                    mcp=None if mcp is None else lambda: mcp,
                    keep_facts=keep_facts,
                ),
            )
            stack.push_async_callback(assembled.conversation.aclose)
            return Journey(server, assembled, project, person, environment)

        yield start
