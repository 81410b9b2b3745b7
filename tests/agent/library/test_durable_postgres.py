"""Durable runs in Postgres, where several machines may share them; skipped where it is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import Agent, DurableRunner, UserError, function_tool
from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.agent.library.conftest import Serve
from tests.agent.library.test_durable_runs import drive

ROUNDS = 20 if os.environ.get("AGENT_TUI_SOAK") else 1
DONE = Turn((Text("Done."),), times=0)


def _program(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a server of its own, reached through a socket of a private directory."""
    make, control = _program("initdb"), _program("pg_ctl")
    if make is None or control is None:
        pytest.skip("Postgres is not installed (initdb, pg_ctl)")
    # The server refuses to run as root; a path to a socket has to be short.
    account = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as directory:
        if account is not None:
            try:
                shutil.chown(directory, account)
            except LookupError:
                pytest.skip("Postgres does not run as root, and there is no account 'postgres'")
        data, log = f"{directory}/data", f"{directory}/log"
        options = f"-k {directory} -c listen_addresses='' -c fsync=off"

        def run(*command: str) -> None:
            done = subprocess.run(
                command, cwd=directory, user=account, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr

        run(make, "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
        # Its output is not read to the end: the server holds on to it.
        started = [control, "-D", data, "-w", "-l", log, "-o", options, "start"]
        subprocess.run(started, cwd=directory, user=account, check=True, stdout=subprocess.DEVNULL)
        try:
            yield f"postgresql://postgres@/runs?host={directory}"
        finally:
            run(control, "-D", data, "-m", "immediate", "stop")


async def test_a_killed_run_continues_in_postgres(postgres: str) -> None:
    found = await drive(postgres, rounds=ROUNDS, seed=0)
    assert (found["repeated"], found["wrong"]) == ([], [])
    assert int(str(found["kills"])) >= ROUNDS


async def test_an_approval_waits_in_postgres(postgres: str, serve: Serve) -> None:
    server = await serve(Turn((ToolCall("erase", {"name": "a"}),)), DONE)
    erased: list[str] = []

    @function_tool(needs_approval=True)
    def erase(name: str) -> str:
        erased.append(name)
        return "gone"

    agent = Agent("Eraser", tools=[erase])
    async with DurableRunner([agent], postgres, executor_id="a") as runner:
        run = await runner.start(agent, "erase a", run_id="one")
        assert [call.name for call in await run.interruptions()] == ["erase"]
    async with DurableRunner([agent], postgres, executor_id="a") as runner:
        run = runner.get("one")
        await run.approve((await run.interruptions())[0])
        assert (await run.result()).final_output == "Done."
    assert erased == ["a"]
    assert len(server.requests) == 2


def test_postgres_wants_to_know_which_process_this_is() -> None:
    with pytest.raises(UserError, match="executor_id"):
        DurableRunner([], "postgresql://localhost/runs")
