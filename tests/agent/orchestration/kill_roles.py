"""One process of a run that is killed at random: `python -m … ROLE JOURNAL PORT`.

ROLE is `owner`, `queue_owner` (its agents run in workers) or `worker`. JOURNAL is a file or the URL
of a Postgres database. Agents ask the server at PORT, which counts.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack

from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.orchestration.cluster.agent_queue import open_queue
from agent.orchestration.cluster.queue_worker import QueueWorker
from agent.orchestration.cluster.remote_agents import RemoteAgents
from agent.orchestration.journal.journal import Journal
from agent.orchestration.journal.journal_error import RunTakenError
from agent.orchestration.journal.journal_records import RunRecord, StepState
from agent.orchestration.journal.run_owner import new_owner
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder, RunAgent
from agent.orchestration.run.workflow_run import RunParts, WorkflowRun
from agent.orchestration.script.script_meta import WorkflowScript, read_script
from tests.agent.orchestration.killed_run import open_store

LEASE_S = 2.0
COMMIT = "c" * 40


def asking(port: int) -> RunAgent:
    async def run_agent(order: AgentOrder, _abort: AbortSignal) -> AgentAnswer:
        assert order.place is not None
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        question = [order.prompt, order.place.key, order.place.occurrence]
        writer.write(json.dumps(question).encode() + b"\n")
        answer = await reader.readline()
        writer.close()
        return AgentAnswer(state=StepState.DONE, value=answer.decode().strip(), tokens=3)

    return run_agent


async def taken(journal: Journal) -> RunRecord | None:
    """Return the run once no other process has it; None where it is over."""
    owner = new_owner()
    while True:
        run = await journal.ask(lambda store: store.runs.get("r"))
        if run is None or run.state.is_over:
            return None
        try:
            record = await journal.ask(lambda store: store.runs.take("r", owner, LEASE_S))
        except RunTakenError:
            await asyncio.sleep(0.05)
        else:
            return replace(record, owner=owner)


async def main(role: str, where: str, port: str) -> None:
    journal = Journal(lambda: open_store(where), print, lease_s=LEASE_S)
    run_agent = asking(int(port))
    async with AsyncExitStack() as closing:
        closing.push_async_callback(journal.aclose)
        if role != "owner":
            queue = await closing.enter_async_context(open_queue(where, COMMIT))
            if role == "worker":
                await queue.work(QueueWorker(journal, run_agent, lambda _line: None).work, 5)
                return
            run_agent = RemoteAgents(queue, journal, print).run
        record = await taken(journal)
        if record is not None:
            parts = RunParts(journal, run_agent, lambda launch: launch, _no_other)
            await WorkflowRun(record, parts).to_the_end()


def _no_other(name: str) -> WorkflowScript:
    return read_script(name)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
