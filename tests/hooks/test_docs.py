"""The worked examples of docs/hooks.md, run as they stand there."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hooks.cli.run import HookOptions, HookWorld, run_hooks
from hooks.events import EVENTS
from hooks.events.capabilities import EFFECTS
from hooks.ports import HookPorts
from tests.hooks.conftest import Place

DOCUMENT = Path(__file__).parents[2] / "docs" / "hooks.md"
FENCE = re.compile(r"^```(\S+) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Example:
    """One numbered section: its settings, files, steps and expected answers."""

    title: str
    settings: str = ""
    files: dict[str, str] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    outcomes: list[dict[str, object]] = field(default_factory=list)


def examples() -> Iterator[Example]:
    text = DOCUMENT.read_text(encoding="utf-8")
    ten = text.split("\n## Ten examples\n")[1].split("\n## ")[0]
    for body in re.split(r"^### ", ten, flags=re.MULTILINE)[1:]:
        example = Example(body.splitlines()[0])
        for fence in FENCE.finditer(body):
            _, name, content = fence.groups()
            if name == "settings":
                example.settings = content
            elif name == "steps":
                example.steps = content.splitlines()
            elif name == "outcome":
                example.outcomes = [json.loads(line) for line in content.splitlines()]
            else:
                example.files[name.removeprefix("file=")] = content
        yield example


async def answer(prompt: str, *, system: str, model: str | None) -> str:
    return '{"ok": false, "reason": "Say which tests you ran."}'


def test_there_are_ten() -> None:
    found = list(examples())
    assert [example.title.split(".")[0] for example in found] == [str(n) for n in range(1, 11)]
    assert all(len(e.steps) == len(e.outcomes) > 0 for e in found)


def test_every_event_is_in_the_table() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [event for event in EVENTS if f"`{event}`" not in text] == []
    honored = {name for rules in EFFECTS.values() for name in rules.honors}
    internal = {"updatedMCPToolOutput", "reloadSkills", "suppressOriginalPrompt"}
    assert [name for name in sorted(honored - internal) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.title)
async def test_an_example_does_what_it_says(place: Place, example: Example) -> None:
    posted = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        posted.set()
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    for name, content in example.files.items():
        path = place.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(0o755)
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        settings = place.project / "settings.json"
        settings.write_text(example.settings.replace("localhost:9000", f"localhost:{port}"))
        world = HookWorld(
            cwd=place.project,
            home=place.home,
            agent_home=place.home / ".agent",
            ports=HookPorts(env=place.env, ask_small_model=answer),
            discover=lambda trust: [],
        )
        out, err = io.StringIO(), io.StringIO()
        steps = "\n".join(example.steps).replace("PROJECT", str(place.project))
        status = await run_hooks(
            None,
            HookOptions((str(settings),)),
            world,
            stdin=io.StringIO(steps),
            stdout=out,
            stderr=err,
        )
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert status == 0, err.getvalue()
    for line, expected in zip(lines, example.outcomes, strict=True):
        assert {name: line[name] for name in expected} == expected, line
        assert line["config_warnings"] == []
    assert posted.is_set() is ("localhost:9000" in example.settings)
    if example.title.startswith("2."):
        assert (place.project / "notes.md").read_text() == "Trailing blanks\n"
    if example.title.startswith("8."):
        assert Path(lines[0]["env_file"]).read_text() == "export APP_DIR='/srv/app'\n"
