"""The queue of agents in Postgres, from procrastinate (extra `agent-tui[cluster]`).

There is one queue for each commit, so that a worker takes only agents for the commit that it has
checked out. The queue only passes an agent to a worker; its result is recorded in the journal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from agent.errors import AgentError
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.run.agent_order import AgentOrder

if TYPE_CHECKING:
    from procrastinate import App

TASK: Final = "agent_tui.agent"
INSTALL: Final = "pip install 'agent-tui[cluster]'"
TRIES: Final = 20
"""Attempts of a worker that cannot read the journal, with `RETRY_S` in between."""
RETRY_S: Final = 5
COMMIT_DIGITS: Final = 20
"""Digits of a commit in a queue's name, because Postgres limits the names of notifications."""
CONNECT_S: Final = 10.0


class QueueError(AgentError):
    """The queue cannot be reached; the text is for users."""


class QueuedAgent(Struct, frozen=True):
    """An agent in the queue."""

    order: AgentOrder
    """Includes its place in the journal, whose owner queued it."""


Work = Callable[[QueuedAgent], Awaitable[None]]


class AgentQueue:
    """The queued agents for one commit; created by `open_queue`."""

    def __init__(self, app: App, commit: str) -> None:
        """`app` is connected."""
        from procrastinate.exceptions import ConnectorException  # see `open_queue`

        self._app = app
        self._name = f"agent-tui-{commit[:COMMIT_DIGITS]}"
        self._error = ConnectorException

    async def put(self, agent: QueuedAgent) -> int:
        """Add an agent and return the number of its job. Raises QueueError."""
        job = self._app.configure_task(TASK, queue=self._name)
        try:
            number: int = await job.defer_async(agent=msgspec.json.encode(agent).decode())
        except self._error as error:
            raise QueueError(f"no agent can be queued: {error.__cause__ or error}") from error
        return number

    async def withdraw(self, job: int) -> None:
        """Remove an agent from the queue; a running one is aborted. Never raises."""
        with suppress(self._error):
            await self._app.job_manager.cancel_job_by_id_async(job, abort=True, delete_job=True)

    async def is_waiting(self, job: int) -> bool:
        """Return whether no worker has taken an agent yet; True if that is unknown."""
        with suppress(self._error):
            jobs = await self._app.job_manager.list_jobs_async(id=job)
            return any(each.status == "todo" for each in jobs)
        return True

    async def work(self, work: Work, at_once: int) -> None:
        """Run agents until this is cancelled, which also cancels running agents."""
        from procrastinate import RetryStrategy

        async def one(agent: str) -> None:
            await work(msgspec.json.decode(agent, type=QueuedAgent))

        retries = RetryStrategy(max_attempts=TRIES, wait=RETRY_S, retry_exceptions=[JournalError])
        self._app.task(name=TASK, retry=retries)(one)
        await self._app.run_worker_async(
            queues=[self._name],
            concurrency=at_once,
            delete_jobs="always",
            install_signal_handlers=False,
            shutdown_graceful_timeout=0,
        )


@asynccontextmanager
async def open_queue(url: str, commit: str) -> AsyncIterator[AgentQueue]:
    """Connect, and create the queue's tables if there are none. Raises QueueError."""
    try:
        import procrastinate  # an extra, only for runs on several machines
        from procrastinate.exceptions import ConnectorException
    except ImportError as error:
        raise QueueError(f"A queue of agents needs an extra: {INSTALL}") from error
    connector = procrastinate.PsycopgConnector(conninfo=url, max_size=4, timeout=CONNECT_S)
    app = procrastinate.App(connector=connector)
    try:
        await app.open_async()
        if not await app.check_connection_async():
            await _make_tables(app, ConnectorException)
    except (TimeoutError, ConnectorException, OSError) as error:
        await app.close_async()
        raise QueueError(f"The queue of agents cannot be reached: {error}") from error
    try:
        yield AgentQueue(app, commit)
    finally:
        await app.close_async()


async def _make_tables(app: App, error_type: type[Exception]) -> None:
    try:
        await app.schema_manager.apply_schema_async()
    except error_type:
        # Another process may have created them at the same time.
        if not await app.check_connection_async():
            raise
