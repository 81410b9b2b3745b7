"""`--bg` and `agent-tui agents`: a session that lives on, is followed, stopped and resumed."""

from __future__ import annotations

import json
from pathlib import Path

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.session.background_runs import BackgroundRuns
from tests.journeys.program import environment, run


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


async def test_what_does_not_go_with_it_says_so(project: Path, fresh_home: Path) -> None:
    env = environment(fresh_home, "http://127.0.0.1:1")
    for arguments, says in (
        (("--bg",), "needs a prompt"),
        (("--bg", "-p", "x"), "without -p"),
        (("--bg", "-c", "x"), "without -p, -c and -r"),
    ):
        status, _, err = await run(*arguments, cwd=project, env=env)
        assert status == 2
        assert says in err
