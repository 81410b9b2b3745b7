"""The demo's script, played with real tools in a copy of its sample project."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.messages import (
    Message,
    ToolUse,
    tool_result_block,
    tool_results_message,
    user_message,
)
from agent.model.anthropic import AnthropicClient, make_client
from agent.model.client import ModelRequest
from agent.model.message_builder import MessageBuilder
from agent.model.scripted.demo import (
    DEMO_MODEL,
    SUGGESTED_PROMPT,
    copy_sample,
    demo_scenario,
    demo_variables,
)
from agent.model.scripted.scenario import Pace
from agent.model.scripted.server import ScriptedServer

TOOLS = tuple(
    {"name": name, "description": name, "input_schema": {"type": "object"}}
    for name in ("Bash", "Edit", "Glob", "Read", "Write")
)


class Player:
    """Plays the agent's part: does what the model asks, unless the tool is denied."""

    def __init__(self, client: AnthropicClient, project: Path) -> None:
        self.client = client
        self.project = project
        self.denied: set[str] = {"Write"}
        self.calls: list[str] = []
        self.messages: list[Message] = []

    async def prompt(self, text: str) -> str:
        self.messages.append(user_message(text))
        while True:
            fold = MessageBuilder()
            request = ModelRequest(DEMO_MODEL, (), TOOLS, self.messages, 8000)
            async for event in self.client.stream(request):
                fold.feed(event)
            self.messages.append(fold.message())
            if not fold.tool_uses():
                return fold.message().text
            results = [self.result(use) for use in fold.tool_uses()]
            self.messages.append(tool_results_message(results))

    def result(self, use: ToolUse) -> dict[str, object]:
        self.calls.append(use.name)
        if use.name in self.denied:
            return tool_result_block(use.id, "Permission denied: not here.", is_error=True)
        if use.name == "Read":
            return tool_result_block(use.id, Path(use.input["file_path"]).read_text())
        if use.name == "Edit":
            path = Path(use.input["file_path"])
            before = path.read_text()
            assert before.count(use.input["old_string"]) == 1
            path.write_text(before.replace(use.input["old_string"], use.input["new_string"]))
            return tool_result_block(use.id, "The file was changed.")
        if use.name == "Bash":
            return self.run(use)
        return tool_result_block(use.id, "\n".join(str(p) for p in self.project.iterdir()))

    def run(self, use: ToolUse) -> dict[str, object]:
        command = use.input["command"].replace("python3", sys.executable)
        done = subprocess.run(
            command, shell=True, cwd=self.project, capture_output=True, text=True, timeout=30
        )
        return tool_result_block(use.id, done.stderr, is_error=done.returncode != 0)


@pytest.fixture
async def player(tmp_path: Path) -> AsyncIterator[Player]:
    project = copy_sample(tmp_path / "basket")
    scenario = replace(demo_scenario(), pace=Pace())
    async with ScriptedServer(scenario, variables=demo_variables(project)) as server:
        client = make_client(base_url=server.base_url, api_key="demo")
        yield Player(client, project)
        await client.aclose()


async def test_the_repair_is_made_and_verified(player: Player) -> None:
    last = await player.prompt(SUGGESTED_PROMPT)
    assert player.calls == ["Read", "Read", "Bash", "Edit", "Bash", "Write"]
    assert "That was denied" in last
    assert "scripted" in last
    assert "price_cents * pieces" in (player.project / "basket.py").read_text()


async def test_a_denied_test_run_is_respected(player: Player) -> None:
    player.denied.add("Bash")
    last = await player.prompt(SUGGESTED_PROMPT)
    assert player.calls == ["Read", "Read", "Bash", "Edit", "Bash"]
    assert "not verified" in last


async def test_a_denied_edit_changes_nothing(player: Player) -> None:
    player.denied.add("Edit")
    before = (player.project / "basket.py").read_text()
    last = await player.prompt(SUGGESTED_PROMPT)
    assert "Nothing was changed" in last
    assert (player.project / "basket.py").read_text() == before


async def test_further_prompts_are_answered_as_scripted(player: Player) -> None:
    await player.prompt(SUGGESTED_PROMPT)
    assert "is fixed" in await player.prompt("Fix the total, please")
    assert "basket.py" in await player.prompt("Show me the files")
    assert "OK" in await player.prompt("Run the tests again")
    assert "cannot understand" in await player.prompt("Sing me a song")


async def test_a_first_prompt_of_any_kind_is_answered(player: Player) -> None:
    assert "scripted" in await player.prompt("Hello!")
    assert player.calls == []
