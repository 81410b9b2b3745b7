"""A disk that takes no more, from any byte on: the conversation goes on and says so."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agent.history import problems
from agent.messages import user_message
from agent.model.scripted.scenario import Scenario, Text, Thinking, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.session.resume import load
from tests.journeys.program import environment
from tests.soak.run_program import zygote
from tests.soak.scale import IS_SOAK

LIMITS = (0, 1, 100, 1_000, 5_000, 20_000)
NOTHING = 1
"""Below this not even a temporary folder is usable: there is no place to work in."""
MORE = 100 if IS_SOAK else 6
TURNS = (
    Turn((Thinking("I look."), ToolCall("Bash", {"command": "seq 300"}))),
    Turn((Text("On it."), ToolCall("Write", {"file_path": "${cwd}/n.txt", "content": "n" * 500}))),
    Turn((ToolCall("TodoWrite", {"todos": []}),)),
    Turn((Text("All done."),)),
)


@pytest.mark.timeout(600)
async def test_a_disk_that_is_full_ends_no_conversation(tmp_path: Path) -> None:
    rng = random.Random(1)
    limits = [*LIMITS, *(rng.randrange(25_000) for _ in range(MORE))]
    async with zygote(tmp_path) as starter:
        for number, limit in enumerate(limits):
            directory = tmp_path / str(number)
            project = directory / "project"
            project.mkdir(parents=True)
            out = directory / "out"
            out.touch()
            server = ScriptedServer(Scenario(turns=TURNS), variables={"cwd": str(project)})
            async with server:
                env = environment(directory, server.base_url)
                await starter.start(
                    "-p", "go", "--allow", "Bash,Edit,Write",
                    cwd=project, env=env, out=out, file_limit=limit,
                )  # fmt: skip
                status = await starter.ended()
            said = out.read_text()
            assert "Traceback" not in said, (limit, said)
            if limit < NOTHING:
                assert (status, "No folder can hold session files" in said) == (1, True), said
                continue
            assert status == 0, (limit, said)
            assert "All done." in said
            assert limit > 5_000 or "cannot be" in said, (limit, said)
            assert [r.problem for r in server.requests if r.problem] == []
            assert len(server.requests) == len(TURNS), (limit, said)
            for transcript in directory.glob(".agent/sessions/*/*.jsonl"):
                resumed = load(transcript)
                assert problems((*resumed.messages, user_message("go on"))) == ()
