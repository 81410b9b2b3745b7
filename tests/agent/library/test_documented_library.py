"""The examples of docs/library.md run as they stand."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.agent.library.conftest import Serve
from tests.agent.library.test_agent_tools import SERVER
from tests.journeys.forked_program import fork_program
from tests.journeys.program import environment
from tests.repo.checkout import ROOT

PAGE = (ROOT / "docs" / "library.md").read_text("utf-8")
DONE = Turn((Text("Done."),), times=0)
REVIEW = json.dumps({"approved": False, "remarks": ["no test"]})

EXAMPLES = {
    "Python library": ([DONE], "Done."),
    "Tools and structured output": (
        [Turn((ToolCall("changes", {"revision": "HEAD"}),)), Turn((Text(REVIEW),))],
        "False ['no test']",
    ),
    "Handoffs": (
        [Turn((ToolCall("transfer_to_billing", {}),)), DONE],
        "to billing\nBilling says: Done.",
    ),
    "Guardrails": ([DONE], "Nothing was sent."),
    "Approvals": (
        [Turn((ToolCall("delete_branch", {"name": "old-idea"}),)), DONE],
        'delete_branch {"name":"old-idea"}\nDone.',
    ),
    "Durable runs": (
        [Turn((ToolCall("pay", {"invoice": "7"}),)), DONE],
        "['pay']\nDone.",
    ),
    "Permissions and hooks": ([DONE], ""),
    "Agents and MCP servers as tools": (
        [
            Turn((ToolCall("translate", {"text": "Noon", "language": "French"}),)),
            Turn((Text("Midi"),)),
            DONE,
        ],
        "Done.",
    ),
    "The coding agent": ([DONE], "Done. "),
}


def examples() -> dict[str, str]:
    """Return the code of each section that has any."""
    found: dict[str, str] = {}
    for part in re.split(r"^#+ (?=[A-Z])", PAGE, flags=re.MULTILINE)[1:]:
        code = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
        if code:
            found[part.partition("\n")[0]] = "\n".join(code)
    return found


def test_every_example_is_run() -> None:
    assert set(examples()) == set(EXAMPLES)


@pytest.mark.parametrize("section", list(EXAMPLES))
async def test_an_example_runs(
    serve: Serve, fresh_home: Path, tmp_path: Path, section: str
) -> None:
    turns, expected = EXAMPLES[section]
    server = await serve(*turns)
    started = tmp_path / "bin" / "uvx"
    started.parent.mkdir()
    started.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {tmp_path}/server.py\n")
    started.chmod(0o700)
    (tmp_path / "server.py").write_text(SERVER)
    env = environment(fresh_home, server.base_url)
    env["PATH"] = f"{started.parent}{os.pathsep}{env['PATH']}"
    done = await fork_program([], tmp_path, env, code=examples()[section])
    out, err = await done.communicate()
    assert done.returncode == 0, err.decode()
    assert out.decode().strip().startswith(expected.strip())
    assert "WARNING" not in err.decode()
