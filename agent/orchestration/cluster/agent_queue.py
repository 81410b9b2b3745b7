"""The queue of agents in Postgres, from procrastinate (extra `agent-tui[cluster]`).

There is one queue for each commit: a worker with the repository at another one takes none of its
agents. The queue only brings an agent to a worker; how it ended is in the journal alone.
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
"""Of a worker that cannot read the journal, with `RETRY_S` between two."""
RETRY_S: Final = 5
COMMIT_DIGITS: Final = 20
"""Of a commit in a queue's name: Postgres takes no longer one for its notifications."""
CONNECT_S: Final = 10.0


class QueueError(AgentError):
    """The queue cannot be reached; the text is for users."""


class QueuedAgent(Struct, frozen=True):
    """An agent on its way to a worker."""

    order: AgentOrder
    """With its place in the journal, whose owner put it into the queue."""


Work = Callable[[QueuedAgent], Awaitable[None]]


class AgentQueue:
    """The agents of runs at one commit; made by `open_queue`."""

    def __init__(self, app: App, commit: str) -> None:
        """The connection is open."""
        from procrastinate.exceptions import ConnectorException  # see `open_queue`

        self._app = app
        self._name = f"agent-tui-{commit[:COMMIT_DIGITS]}"
        self._error = ConnectorException

    async def put(self, agent: QueuedAgent) -> int:
        """Add an agent; returns the number of its job. Raises QueueError."""
        job = self._app.configure_task(TASK, queue=self._name)
        try:
            number: int = await job.defer_async(agent=msgspec.json.encode(agent).decode())
        except self._error as error:
            raise QueueError(f"no agent can be queued: {error.__cause__ or error}") from error
        return number

    async def withdraw(self, job: int) -> None:
        """Take an agent back; one that works is ended."""
        with suppress(self._error):
            await self._app.job_manager.cancel_job_by_id_async(job, abort=True, delete_job=True)

    async def is_waiting(self, job: int) -> bool:
        """Whether no worker has taken an agent yet; True where that is not known."""
        with suppress(self._error):
            jobs = await self._app.job_manager.list_jobs_async(id=job)
            return any(each.status == "todo" for each in jobs)
        return True

    async def work(self, work: Work, at_once: int) -> None:
        """Take agents until this is cancelled; those at work are cancelled then."""
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
    """Connect, and make the queue's tables where there are none. Raises QueueError."""
    try:
        import procrastinate  # an extra, for runs on several machines alone
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
        # Another process may have made them at the same time.
        if not await app.check_connection_async():
            raise
