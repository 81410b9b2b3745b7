"""`--bg` and `agent-tui agents`: a session that lives on, is followed, stopped and resumed."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.session.background_runs import BackgroundRuns
from tests.journeys.program import Started, environment, run, start


async def test_a_session_in_the_background_is_followed_to_its_end(
    project: Path, fresh_home: Path
) -> None:
    gate = ToolCall("Bash", {"command": "until [ -e go ]; do sleep 0.05; done"})
    turns = (Turn((gate,)), Turn((Text("The plum is ripe."),), times=0))
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        status, out, err = await run(
            "--bg", "look for plums", "--allow", "Bash", cwd=project, env=env
        )
        assert status == 0, err
        run_id = out.split()[0]
        _, listed, _ = await run("agents", "list", "--json", cwd=project, env=env)
        (row,) = json.loads(listed)
        assert (row["id"], row["state"], row["prompt"]) == (run_id, "working", "look for plums")
        (project / "go").touch()
        status, followed, _ = await run("agents", "attach", run_id[:4], cwd=project, env=env)
        assert status == 0
        assert "The plum is ripe." in followed
        assert f"{run_id} has ended (done)" in followed
        _, again, _ = await run("-p", "and now?", "-r", row["session_id"], cwd=project, env=env)
        assert "The plum is ripe." in again
        assert "look for plums" in json.dumps(server.requests[-1].body["messages"])


async def test_a_session_in_the_background_is_stopped_and_stays_resumable(
    project: Path, fresh_home: Path
) -> None:
    sleep = ToolCall("Bash", {"command": "touch begun; sleep 600"})
    async with ScriptedServer(Scenario(turns=(Turn((sleep,)),))) as server:
        env = environment(fresh_home, server.base_url)
        _, out, _ = await run("--bg", "sleep", "--allow", "Bash", cwd=project, env=env)
        run_id = out.split()[0]
        status, stopped, err = await run("agents", "stop", run_id, cwd=project, env=env)
        assert status == 0, err
        assert "agent-tui -r" in stopped
        await run("agents", "attach", run_id, cwd=project, env=env)
        runs = BackgroundRuns(fresh_home / ".agent")
        assert runs.state(runs.find(run_id)) == "stopped"
        assert not runs.stop(runs.find(run_id))
        status, _, err = await run("agents", "logs", "nothing", cwd=project, env=env)
        assert status == 1
        assert "No run has this id" in err


READS_ONE_LINE = """
import os
from pathlib import Path
from agent.session.background_runs import BackgroundRuns

runs = BackgroundRuns(Path.home() / ".agent")
runs.start(("sh", "-c", "read line"), os.environ, Path.cwd(), "x", "none", takes_input=True)
"""


async def attached(run_id: str, *, cwd: Path, env: dict[str, str]) -> Started:
    return await start("agents", "attach", run_id, cwd=cwd, env=env, stdin=True)


async def said(process: Started, text: str) -> str:
    """Return what a process prints up to a text."""
    assert process.stdout is not None
    seen = ""
    while text not in seen:
        piece = await process.stdout.read(4096)
        assert piece, seen
        seen += piece.decode()
    return seen


@pytest.mark.parametrize(
    ("typed", "is_made", "result"),
    [("y", True, "Done."), ("n use the other file", False, "use the other file")],
)
async def test_its_question_waits_and_is_answered_by_who_attaches(
    project: Path, fresh_home: Path, typed: str, is_made: bool, result: str
) -> None:
    touch = ToolCall("Bash", {"command": "touch made", "description": "Make the file"})
    turns = (Turn((touch,)), Turn((Text("Done."),), times=0))
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        _, out, _ = await run("--bg", "make it", cwd=project, env=env)
        run_id = out.split()[0]
        process = await attached(run_id, cwd=project, env=env)
        shown = await said(process, "y: allow it once")
        assert "asks: Bash\ntouch made\n" in shown
        _, listed, _ = await run("agents", "list", "--json", cwd=project, env=env)
        assert [row["state"] for row in json.loads(listed)] == ["asks"]
        _, listed, _ = await run("agents", cwd=project, env=env)
        first, second = listed.splitlines()
        assert first.split() == [run_id, "asks", "just", "now", "make", "it"]
        assert second.endswith(f"agent-tui agents attach {run_id}")
        assert process.stdin is not None
        process.stdin.write(b"what is it for?\n")
        await process.stdin.drain()
        await said(process, "The question waits: y: allow it once")
        rest, _ = await process.communicate(f"{typed}\n".encode())
        assert process.returncode == 0
        assert f"{run_id} has ended (done)" in rest.decode()
        assert (project / "made").exists() == is_made
        assert result in json.dumps(server.requests[-1].body["messages"]) + rest.decode()


async def test_a_message_of_who_attaches_comes_with_its_next_results(
    project: Path, fresh_home: Path
) -> None:
    gate = ToolCall("Bash", {"command": "touch begun; until [ -e go ]; do sleep 0.05; done"})
    turns = (Turn((gate,)), Turn((Text("I saw it."),), times=0))
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        _, out, _ = await run("--bg", "look", "--allow", "Bash", cwd=project, env=env)
        process = await attached(out.split()[0], cwd=project, env=env)
        assert process.stdin is not None
        await said(process, "touch begun")
        process.stdin.write(b"Mind the plums.\n")
        await process.stdin.drain()
        await said(process, "Sent as a message")
        sent = next(fresh_home.glob(".agent/background/*")) / "sent.jsonl"
        while not sent.read_text():  # noqa: ASYNC110 - the file announces nothing
            await asyncio.sleep(0.05)
        (project / "go").touch()
        rest, _ = await process.communicate()
        assert "before it read" not in rest.decode()
        assert "Mind the plums." in json.dumps(server.requests[-1].body["messages"])
        assert len(server.requests) in (2, 3)


async def test_a_message_that_came_too_late_is_named(project: Path, fresh_home: Path) -> None:
    env = environment(fresh_home, "http://127.0.0.1:1")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", READS_ONE_LINE, cwd=project, env=env
    )
    assert await process.wait() == 0
    (started,) = BackgroundRuns(fresh_home / ".agent").all()
    _, out, err = await run(
        "agents", "attach", started.id, cwd=project, env=env, stdin="one\ntwo\nthree\n"
    )
    assert "It ended before reading: one" in out, err


async def test_what_does_not_go_with_it_is_reported(project: Path, fresh_home: Path) -> None:
    env = environment(fresh_home, "http://127.0.0.1:1")
    for arguments, says in (
        (("--bg",), "needs a prompt"),
        (("--bg", "-p", "x"), "without -p"),
        (("--bg", "-c", "x"), "without -p, -c and -r"),
    ):
        status, _, err = await run(*arguments, cwd=project, env=env)
        assert status == 2
        assert says in err
