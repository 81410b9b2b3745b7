"""An audit of a repository of 200 files, as a user would show it: killed half way, and resumed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Pace, Scenario, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.orchestration.script.script_engine import has_engine
from tests.journeys.program import environment, run, start

FILES = 200
AGENTS = 30 if "AGENT_TUI_SOAK" in os.environ else 6
SCRIPT = """export const meta = { name: 'audit', description: 'looks for broad except clauses',
  phases: [{ title: 'Look' }, { title: 'Verify' }] };
phase('Look');
const found = await pipeline(args, (files, _, n) =>
  agent('Part ' + n + '. Count the lines with except in: ' + files.join(' '),
    { label: 'part ' + n, findings: true }));
phase('Verify');
const verdicts = await verify(args.map((_, n) => 'Part ' + n + '.'),
  found.map(one => JSON.stringify(one)));
return found.map((one, n) => ({ summary: one.summary, verdict: verdicts[n].verdict }));
"""


class Auditor:
    """Counts with grep, then reports what grep printed; verifiers confirm it."""

    def __init__(self, holds_after: int) -> None:
        self.holds_after: int | None = holds_after
        self.reported: Counter[str] = Counter()
        self.is_holding = asyncio.Event()

    def __call__(self, request: RecordedRequest) -> Turn:
        messages = request.body["messages"]
        task = json.dumps(messages[0]["content"])
        found = re.search(r"Part (\d+)\.", task)
        assert found is not None
        part = found[1]
        if "REFUTE" in task:
            return self._report(f"verify {part}", "confirmed: counted again")
        if len(messages) == 1 and (files := re.search(r"except in: ([^\"\\]+)", task)):
            return Turn((ToolCall("Bash", {"command": f"cat {files[1]} | grep -c except"}),))
        counted = re.search(r"\d+", json.dumps(messages[-1]["content"][0]["content"]))
        assert counted is not None, messages[-1]
        return self._report(f"part {part}", f"{counted[0]} lines")

    def _report(self, what: str, summary: str) -> Turn:
        pace = None
        if self.holds_after is not None and len(self.reported) >= self.holds_after:
            pace = Pace(first_token_s=600)
            self.is_holding.set()
        else:
            self.reported[what] += 1
        return Turn((ToolCall("report_findings", {"summary": summary, "findings": []}),), pace=pace)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """200 files of a package as it is installed, and the workflow."""
    place = tmp_path / "repository"
    source = Path(sysconfig.get_path("purelib"))
    files = sorted((source / "textual").rglob("*.py"))[:FILES]
    assert len(files) == FILES
    for file in files:
        target = place / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    saved = place / ".agent" / "workflows" / "audit.js"
    saved.parent.mkdir(parents=True)
    saved.write_text(SCRIPT)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return place


@pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
async def test_an_audit_is_killed_half_way_and_resumed(repository: Path, fresh_home: Path) -> None:
    files = sorted(str(path.relative_to(repository)) for path in repository.rglob("*.py"))
    parts = [files[number::AGENTS] for number in range(AGENTS)]
    auditor = Auditor(holds_after=AGENTS // 2)
    async with ScriptedServer(Scenario(turns=()), respond=auditor) as server:
        env = environment(fresh_home, server.base_url)
        options = ("--trust", "--allow", "Bash(cat *)", "--allow", "Bash(grep *)")
        first = await start(
            *("workflow", "run", "audit", "--args", json.dumps(parts), *options),
            cwd=repository,
            env=env,
        )
        assert first.stderr is not None
        done = 0
        while done < AGENTS // 2:
            line = await first.stderr.readline()
            assert line, "it ended before"
            done += line.startswith(b"agent-tui: done")
        await auditor.is_holding.wait()
        os.kill(first.pid, signal.SIGKILL)
        await first.communicate()
        auditor.holds_after = None
        _, listed, _ = await run("workflow", "list", "--json", cwd=repository, env=env)
        (row,) = json.loads(listed)
        assert row["state"] == "lost"
        status, out, err = await run(
            *("workflow", "resume", row["id"], "--json", *options), cwd=repository, env=env
        )
    assert status == 0, err
    result = json.loads(out)
    assert result["reused"] == AGENTS // 2
    assert set(auditor.reported.values()) == {1}
    assert len(auditor.reported) == 2 * AGENTS
    assert [one["verdict"] for one in result["result"]] == ["confirmed"] * AGENTS
    counted = [int(one["summary"].split()[0]) for one in result["result"]]
    lines = [
        [line for name in part for line in (repository / name).read_text("utf-8").split("\n")]
        for part in parts
    ]
    expected = [sum("except" in line for line in each) for each in lines]
    assert counted == expected
