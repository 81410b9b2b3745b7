"""Hooks that hear of changed settings and files, in a running conversation."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.scenario import Text, Turn
from tests.journeys.conftest import journeys

TICK_S = 0.05


def _log_to(log: Path, then: str = "") -> list[dict[str, Any]]:
    # One write a line: hooks of several changes run at the same time.
    command = f"line=$(cat); printf '%s\\n' \"$line\" >> {log}; {then}"
    return [{"hooks": [{"type": "command", "command": command}]}]


def _heard(log: Path) -> list[dict[str, Any]]:
    return (
        [json.loads(line) for line in log.read_text().splitlines() if line] if log.exists() else []
    )


@pytest.mark.parametrize("refuses", [False, True])
async def test_config_change_hooks_are_informed_of_settings_and_may_refuse_them(
    refuses: bool, tmp_path: Path, fresh_home: Path
) -> None:
    log = tmp_path / "log"
    home = fresh_home / ".agent"
    home.mkdir()
    hooks = {"ConfigChange": _log_to(log, "exit 2" if refuses else "")}
    file = home / "settings.json"
    file.write_text(json.dumps({"hooks": hooks}))
    async with journeys(tmp_path, fresh_home) as begin:
        journey = await begin([Turn((Text("ok"),), times=0)])
        await journey.send("hello")
        changed = {"hooks": hooks, "permissions": {"allow": ["Bash(make)"]}}
        # Written again until the watcher has begun to look.
        while not _heard(log):
            file.write_text(json.dumps(changed))
            await asyncio.sleep(TICK_S)
        (heard, *_) = _heard(log)
        assert (heard["source"], heard["file_path"]) == ("user_settings", str(file))
        gate = journey.conversation.gate
        if refuses:
            assert "Bash(make)" not in [rule.text for rule in gate.context.rules.rules]
            return
        while "Bash(make)" not in [rule.text for rule in gate.context.rules.rules]:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(TICK_S)


async def test_file_changed_hooks_are_informed_of_the_files_they_name(
    tmp_path: Path, fresh_home: Path
) -> None:
    log = tmp_path / "log"
    home = fresh_home / ".agent"
    home.mkdir()
    (group,) = _log_to(log)
    hooks = {"FileChanged": [{**group, "matcher": ".envrc"}]}
    (home / "settings.json").write_text(json.dumps({"hooks": hooks}))
    async with journeys(tmp_path, fresh_home) as begin:
        journey = await begin([Turn((Text("ok"),), times=0)])
        await journey.send("hello")
        watched = journey.project / ".envrc"
        number = 0
        while not _heard(log):
            number += 1
            watched.write_text(f"export N={number}\n")
            await asyncio.sleep(TICK_S)
    assert _heard(log)[0]["file_path"] == str(watched)


async def test_files_that_changed_settings_name_are_watched_at_once(
    tmp_path: Path, fresh_home: Path
) -> None:
    log = tmp_path / "log"
    home = fresh_home / ".agent"
    home.mkdir()
    settings = home / "settings.json"
    settings.write_text("{}")
    (group,) = _log_to(log)
    hooks = {"FileChanged": [{**group, "matcher": ".envrc"}]}
    async with journeys(tmp_path, fresh_home) as begin:
        journey = await begin([Turn((Text("ok"),), times=0)])
        await journey.send("hello")
        watched = journey.project / ".envrc"
        number = 0
        while not _heard(log):
            number += 1
            settings.write_text(json.dumps({"hooks": hooks}) + "\n" * (number % 7))
            watched.write_text(f"export N={number}\n")
            await asyncio.sleep(TICK_S)
    assert _heard(log)[0]["hook_event_name"] == "FileChanged"


@pytest.mark.parametrize("refuses", [False, True])
async def test_config_change_hooks_are_informed_of_skills_and_may_refuse_them(
    refuses: bool, tmp_path: Path, fresh_home: Path
) -> None:
    log = tmp_path / "log"
    home = fresh_home / ".agent"
    directory = home / "commands"
    directory.mkdir(parents=True)
    hooks = {"ConfigChange": _log_to(log, "exit 2" if refuses else "")}
    (home / "settings.json").write_text(json.dumps({"hooks": hooks}))
    async with journeys(tmp_path, fresh_home) as begin:
        journey = await begin([Turn((Text("ok"),), times=0)])
        custom = journey.assembled.commands.custom
        await journey.send("hello")
        custom.watch()
        refreshed = asyncio.Event()
        custom.listeners.append(refreshed.set)
        number = 0
        while not any(p["source"] == "skills" for p in _heard(log)):
            number += 1
            (directory / "fix.md").write_text(f"---\ndescription: {number}\n---\nFix it.")
            await asyncio.sleep(TICK_S)
        if refuses:
            assert custom.commands() == ()
        else:
            await refreshed.wait()
            assert [command.meta.name for command in custom.commands()] == ["fix"]
    heard = next(p for p in _heard(log) if p["source"] == "skills")
    assert heard["file_path"] == str(directory / "fix.md")
