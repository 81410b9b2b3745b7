"""A process that owns one run, to be killed: `python -m … STORE RUN LOG KILL_AFTER SEED`.

STORE is a file or a Postgres connection string. Agents append the key and the occurrence of their
step to LOG when they start. With KILL_AFTER > 0 the process kills itself after so many transactions
of the journal.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.orchestration.journal.journal import Journal
from agent.orchestration.journal.journal_error import RunTakenError
from agent.orchestration.journal.journal_records import Caps, StepState
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.postgres_connection import PostgresConnection
from agent.orchestration.journal.sql_connection import SqlConnection, Transaction
from agent.orchestration.journal.sqlite_connection import SqliteConnection
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder
from agent.orchestration.run.workflow_run import RunParts, WorkflowRun
from agent.orchestration.script.script_meta import ScriptError

LEASE_S = 1.0


class Killing:
    """A connection that ends the process after a transaction."""

    def __init__(self, inner: SqlConnection, after: int) -> None:
        self._inner = inner
        self._left = after

    @contextmanager
    def transaction(self, *, is_durable: bool = False) -> Iterator[Transaction]:
        with self._inner.transaction(is_durable=is_durable) as transaction:
            yield transaction
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def columns(self, table: str) -> set[str]:
        return self._inner.columns(table)

    def close(self) -> None:
        self._inner.close()


def open_store(where: str, kill_after: int = 0) -> JournalStore:
    connection: SqlConnection = (
        SqliteConnection(Path(where)) if where.startswith("/") else PostgresConnection(where)
    )
    return JournalStore(Killing(connection, kill_after) if kill_after else connection)


async def main(where: str, run: str, log: str, kill_after: str, seed: str) -> None:
    luck = random.Random(seed)
    journal = Journal(lambda: open_store(where, int(kill_after)), print, lease_s=LEASE_S)
    owner = f"{os.getpid()}-{luck.random()}"
    written = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def run_agent(order: AgentOrder, _abort: AbortSignal) -> AgentAnswer:
        assert order.place is not None
        os.write(written, f"start {order.place.key} {order.place.occurrence}\n".encode())
        await asyncio.sleep(luck.uniform(0.0, 0.02))
        return AgentAnswer(state=StepState.DONE, value=f"did {order.prompt}", tokens=3)

    def no_script(name: str) -> None:
        raise ScriptError(name)

    while True:
        try:
            record = await journal.ask(lambda store: store.runs.take(run, owner, LEASE_S))
            break
        except RunTakenError:
            await asyncio.sleep(0.05)
    parts = RunParts(journal, run_agent, lambda launch: launch, no_script, Caps())  # type: ignore[arg-type]
    workflow = WorkflowRun(replace(record, owner=owner), parts)
    end = await workflow.to_the_end()
    print(end.state, end.reason)
    await journal.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
