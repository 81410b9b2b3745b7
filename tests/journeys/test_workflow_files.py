"""Workflow files as others write them: run unchanged, then edited and resumed.

Ours uses what files of public repositories use. Those themselves are not in the tree: with
`AGENT_TUI_PUBLIC_WORKFLOWS`, a directory with clones of repositories that have some, each of those
that need no `args` does the same, and so does each `NAME.js` for which it has a `NAME.args.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Scenario, Text, Turn
from agent.model.scripted.server import ScriptedServer
from agent.orchestration.journal.journal_records import StepState
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.sqlite_connection import SqliteConnection
from agent.orchestration.script.script_engine import MAX_SOURCE_BYTES, has_engine
from agent.orchestration.script.script_meta import ScriptError
from agent.orchestration.workflow_files import workflow_file
from tests.journeys.program import environment, run

pytestmark = pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
OWN = Path(__file__).with_name("workflows") / "survey.js"
PLACE = os.environ.get("AGENT_TUI_PUBLIC_WORKFLOWS", "")
PUBLIC = sorted(Path(PLACE).glob("*/.claude/workflows/*.js")) if PLACE else []
EDITED = " And be brief."
ARGS = {"parts": "the parser | careful:: the lexer"}


def answer(request: RecordedRequest) -> Turn:
    """Answer with what the schema asks for, the same each time."""
    output = request.body.get("output_config", {})
    schema = output.get("format", {}).get("schema")
    return Turn((Text(json.dumps(_value(schema)) if schema is not None else "an answer"),))


def _value(schema: dict[str, object]) -> object:
    match schema:
        case {"enum": [first, *_]} | {"const": first}:
            return first
        case {"properties": dict(properties)}:
            return {name: _value(each) for name, each in properties.items()}
        case {"type": "array"}:
            items = schema.get("items")
            return [_value(items if isinstance(items, dict) else {})]
        case {"type": "boolean"}:
            return True
        case {"type": "number" | "integer"}:
            return schema.get("minimum", 1)
        case _:
            return "a text"


@pytest.fixture
def repository(project: Path) -> Path:
    git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], check=True)
    kinds = project / ".claude" / "agents"
    kinds.mkdir(parents=True)
    (kinds / "careful.md").write_text("---\nname: careful\ndescription: d\n---\nTake care.\n")
    return project


def edited(source: str, prompts: list[str]) -> tuple[str, str]:
    """Return the script with one line of prompts changed, of as few as possible, and that line."""
    lines = {line for prompt in prompts for line in prompt.splitlines() if len(line) >= 12}
    once = [line for line in sorted(lines) if source.count(line) == 1]
    line = min(once, key=lambda line: sum(line in prompt for prompt in prompts))
    return source.replace(line, line + EDITED), line


async def run_then_edited(file: Path, args: object, project: Path, home: Path) -> object:
    """Run a file, then resume it edited: only the changed calls are asked. Return its result."""
    saved = project / ".claude" / "workflows"
    saved.mkdir(parents=True)
    for each in file.parent.glob("*.js"):
        shutil.copy(each, saved)
    kinds = file.parent.parent / "agents"
    if kinds.exists():
        shutil.copytree(kinds, project / ".claude" / "agents", dirs_exist_ok=True)
    async with ScriptedServer(Scenario(turns=()), respond=answer) as server:
        env = environment(home, server.base_url, ORCH_JOURNAL=str(home / "journal.sqlite"))

        async def workflow(*words: str) -> dict[str, Any]:
            status, out, err = await run("workflow", *words, "--json", cwd=project, env=env)
            assert status == 0, err + out
            told: dict[str, Any] = json.loads(out)
            return told

        def prompts(of: str) -> Counter[str]:
            store = JournalStore(SqliteConnection(Path(env["ORCH_JOURNAL"])))
            steps = store.steps.of_run(of)
            store.close()
            return Counter(step.prompt for step in steps if step.state is StepState.DONE)

        name = f".claude/workflows/{file.name}"
        first = await workflow("run", name, "--args", json.dumps(args), "--trust")
        before = prompts(first["run"])
        asked = len(server.requests)
        assert asked == before.total()
        script, line = edited(file.read_text("utf-8"), list(before.elements()))
        (project / "edited.js").write_text(script, "utf-8")
        again = await workflow("resume", first["run"], "--script", "edited.js", "--trust")
        changed = Counter(
            {text.replace(line, line + EDITED): n for text, n in before.items() if line in text}
        )
        assert prompts(first["run"]) - before == changed
        assert len(server.requests) - asked == changed.total() > 0
        assert again["reused"] == before.total() - changed.total() > 0
    assert again["result"] == first["result"]
    return first["result"]


async def test_a_file_with_what_others_use_runs(repository: Path, fresh_home: Path) -> None:
    result = await run_then_edited(OWN, ARGS, repository, fresh_home)
    assert result == {
        "scope": "an answer",
        "summary": "an answer",
        "nested": "main",
        "missing": None,
        "unknown": None,
        "loader": False,
        "today": "2026-01-02",
        "tally": {"repaired": 2, "tried": 2},
        "left": "no limit",
    }


@pytest.mark.skipif(not PUBLIC, reason="AGENT_TUI_PUBLIC_WORKFLOWS names no workflow files")
@pytest.mark.parametrize("file", PUBLIC, ids=lambda file: file.stem)
async def test_a_public_file_runs_unchanged(file: Path, repository: Path, fresh_home: Path) -> None:
    given = Path(PLACE, f"{file.stem}.args.json")
    args = json.loads(given.read_text("utf-8")) if given.exists() else {}
    if "args" in file.read_text("utf-8") and not given.exists():
        pytest.skip(f"{given.name} is not there")
    await run_then_edited(file, args, repository, fresh_home)


def test_a_workflow_is_a_regular_file_of_limited_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.js")
    (tmp_path / "endless.js").symlink_to("/dev/zero")
    (tmp_path / "long.js").write_text(" " * (MAX_SOURCE_BYTES + 1))
    for name, reason in (("pipe", "regular"), ("endless", "regular"), ("long", "larger than")):
        with pytest.raises(ScriptError, match=reason):
            workflow_file(tmp_path / f"{name}.js")
