"""Many agents through few slots in a program of its own: all end, and the memory stays flat.

Run it alone for the figures: `AGENT_TUI_SOAK=1 python -m pytest -s tests/soak/test_many_agents.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Part, Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from tests.journeys.program import environment, start
from tests.journeys.test_agents import is_agent
from tests.journeys.test_agents import start as agent_call
from tests.soak.scale import IS_SOAK

BATCHES: Final = 10 if IS_SOAK else 2
EACH: Final = 20 if IS_SOAK else 3
SLOTS: Final = 10 if IS_SOAK else 2
MAX_GROWTH_KB: Final = 100
"""For one agent. What stays of each is its name, its last words and its figures."""


def resident_kb(pid: int) -> int:
    """The memory of a process that is there now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


async def test_many_agents_end_through_few_slots_and_memory_stays_flat(
    tmp_path: Path, fresh_home: Path
) -> None:
    """Each reads a file of 25,000 characters and ends."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "long.txt").write_text("the words of a long file\n" * 1_000)
    memory: list[int] = []
    pids: list[int] = []
    look = ToolCall("Read", {"file_path": str(project / "long.txt")})

    def respond(request: RecordedRequest) -> Turn:
        parts: tuple[Part, ...]
        has_results = "tool_result" in json.dumps(request.body["messages"])
        if is_agent(request):
            parts = (Text("Read."),) if has_results else (look,)
            return Turn(parts)
        memory.append(resident_kb(pids[0]))
        batch = len(memory)
        calls = tuple(agent_call(f"task-{batch}-{number}") for number in range(EACH))
        return Turn(calls if batch <= BATCHES else (Text("All done."),))

    settings = json.dumps({"agents": {"maxConcurrent": SLOTS}})
    async with ScriptedServer(Scenario(), respond=respond) as server:
        env = environment(fresh_home, server.base_url)
        process = await start(
            "-p", "go", "--settings", settings, "--output-format", "json", cwd=project, env=env
        )
        pids.append(process.pid)
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert json.loads(out)["result"] == "All done."
    journals = list(fresh_home.glob(".agent/sessions/**/agents/*.jsonl"))
    assert len(journals) == BATCHES * EACH
    if IS_SOAK:
        # The first batch loads what agents need.
        growth = (memory[-1] - memory[1]) / ((BATCHES - 1) * EACH)
        print(f"{len(journals)} agents: {memory} kB after each batch, {growth:.0f} kB an agent")
        assert growth < MAX_GROWTH_KB
