"""Run a worker of a team: assemble its conversation and work until its leader stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from agent.assembly.environment import Environment
from agent.assembly.start_context import UserPorts
from agent.conversation.conversation import Conversation
from agent.events import AgentEvent
from agent.model.endpoint import ModelSetup
from agent.options import RunOptions
from agent.session.store import SessionStore
from agent.settings.load import Settings
from agent.teams.executors.executor import SpawnConfig
from agent.teams.lease import Lease
from agent.teams.post import MailWatch
from agent.teams.seat import MemberStart, TeamSeat, WorkerSeat


class AssembledMember(Protocol):
    """The part of an assembled conversation that a worker needs."""

    @property
    def conversation(self) -> Conversation:
        """The worker's conversation."""
        ...

    @property
    def seat(self) -> TeamSeat | None:
        """Its place in the team."""
        ...


class Assemble(Protocol):
    """Assembles a conversation; `agent.assembly.assemble` implements it."""

    async def __call__(
        self,
        options: RunOptions,
        environment: Environment,
        settings: Settings,
        setup: ModelSetup,
        user: UserPorts,
        *,
        member: MemberStart | None = None,
    ) -> AssembledMember:
        """Return a conversation."""
        ...


async def run_member(
    start: MemberStart,
    assemble: Assemble,
    environment: Environment,
    settings: Settings,
    setup: ModelSetup,
    *,
    show: Callable[[AgentEvent], None] = lambda _: None,
    notify: Callable[[str, str], None] = lambda _text, _level: None,
) -> None:
    """Run a worker to its end.

    Raises:
        LeaseTaken: that worker is running already.
        AgentError: its conversation cannot be opened.
    """
    config = start.config
    lease = Lease.take(config.place.lease(config.name), config.agent_id)
    try:
        worker = await assemble(
            _resume_options(config.options, environment.version),
            replace(environment, launch_dir=config.cwd),
            settings,
            setup,
            UserPorts(notice=notify),
            member=start,
        )
        conversation, seat = worker.conversation, worker.seat
        assert isinstance(seat, WorkerSeat), "it was assembled as a worker"
        try:
            await seat.member.begin(lambda text: notify(text, "warning"))
            await seat.member.run(conversation, show)
        finally:
            await conversation.aclose()
    finally:
        lease.release()


async def run_alone(
    config: SpawnConfig,
    assemble: Assemble,
    environment: Environment,
    settings: Settings,
    setup: ModelSetup,
    *,
    show: Callable[[AgentEvent], None],
    notify: Callable[[str, str], None],
) -> None:
    """Run a worker in a process of its own. Raises what `run_member` raises."""
    watch = MailWatch(config.place)
    try:
        start = MemberStart(config, watch)
        await run_member(start, assemble, environment, settings, setup, show=show, notify=notify)
    finally:
        await watch.aclose()


def _resume_options(options: RunOptions, version: str) -> RunOptions:
    """Return the options, changed to resume the worker's session if it exists."""
    assert options.session_home is not None
    assert options.session_id is not None
    store = SessionStore(options.session_home, version=version)
    if options.session_id not in {info.id for info in store.list()}:
        return options
    return replace(options, session_id=None, resume=options.session_id)
