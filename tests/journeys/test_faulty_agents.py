"""A fan-out while the endpoint is slow, overloaded, and drops connections."""

from __future__ import annotations

import json
import os
import random
import re

import pytest

from agent.assembly.agents import workflow_setup
from agent.model.scripted.faults import Cut, Fault, Position, Status
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Pace, Text, ToolCall, Turn
from agent.orchestration.script.script_engine import has_engine
from tests.journeys.conftest import Begin
from tests.journeys.test_workflows import is_agent, result_in_background, task_of

SOAK = "AGENT_TUI_SOAK" in os.environ
AGENTS = 200 if SOAK else 30
JITTER_S = (0.05, 0.5) if SOAK else (0.0, 0.01)
GROWTH_MB = 64
SCRIPT = """export const meta = { name: 'many', description: 'looks at parts' };
return await parallel(args.map(part => () => agent('look at part ' + part + '.')));"""


class Weather:
    """Answers each task in the end; 5 % of requests find no capacity, 3 % are cut."""

    def __init__(self) -> None:
        self.luck = random.Random(7)
        self.struck: list[str] = []
        call = ToolCall("Workflow", {"script": SCRIPT, "args": list(range(AGENTS))})
        self.main = iter([Turn((call,)), Turn((Text("Started."),)), Turn((Text("Done."),))])
        self.megabytes: list[float] = []

    def __call__(self, request: RecordedRequest) -> Turn:
        if not is_agent(request):
            return next(self.main)
        self.megabytes.append(resident_mb())
        found = re.search(r"part (\d+)\.", task_of(request))
        assert found is not None
        pace = Pace(first_token_s=self.luck.uniform(*JITTER_S))
        return Turn((Text(f"seen {found[1]}"),), pace=pace, fault=self._fault())

    def _fault(self) -> Fault | None:
        chance = self.luck.random()
        if chance < 0.05:
            self.struck.append("overload")
            return Status(529)
        if chance < 0.07:
            self.struck.append("reset")
            return Cut()
        if chance < 0.08:
            self.struck.append("cut")
            return Cut(Position("text"), "close")
        return None


def resident_mb() -> float:
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
async def test_every_agent_answers_or_is_named(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflow_setup, "RETRY_S", 0.05)
    weather = Weather()
    journey = await begin(respond=weather, allow=("Workflow",))
    await journey.send("go")
    workflows = journey.conversation.workflows
    (run,) = workflows.running
    await result_in_background(journey)
    record = await workflows.journal.ask(lambda store: store.runs.get(run.record.id))
    assert record is not None
    assert record.state == "completed", record.reason
    answers = json.loads(record.result)
    failed = {
        view.record.prompt for view in run.steps.views.values() if view.record.state != "done"
    }
    for number, answer in enumerate(answers):
        assert answer == f"seen {number}" or f"look at part {number}." in failed
    assert len(failed) <= AGENTS // 20
    assert {"overload", "reset"} <= set(weather.struck)
    tenth = AGENTS // 10
    growth = max(weather.megabytes) - max(weather.megabytes[: 3 * tenth])
    assert growth < GROWTH_MB, f"{growth:.0f} MB after the first {3 * tenth} requests"
