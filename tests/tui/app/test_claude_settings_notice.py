"""What of Claude Code's files counts is said once, and again when it changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.commands.spec import CommandSource, Metadata, PromptCommand, Template
from agent.settings.load import Settings, load_settings
from agent.subagents.definition import AgentDefinition
from tests.tui.recorded import RecordedConversation, center_for
from tui.app.claude_settings_notice import found_text, news_of_found, notes_of_start

COMMAND = PromptCommand(
    Metadata(
        name="fix",
        description="",
        source=CommandSource.USER_COMMAND,
        path="/home/ada/.claude/commands/fix.md",
    ),
    lambda: Template(""),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return tmp_path / "home"


def settings(home: Path, **user: object) -> Settings:
    (home / ".claude" / "settings.json").write_text(json.dumps(user))
    return load_settings(launch_dir=home.parent / "project", home=home, agent_home=home / ".agent")


USER = {
    "model": "claude-opus-5-5",
    "permissions": {"allow": ["Bash(ls)"], "deny": ["Read(.env)"]},
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
}


def test_rules_hooks_keys_and_commands_are_counted(home: Path) -> None:
    kind = AgentDefinition(name="x", description="y", path=home / ".claude" / "agents" / "x.md")
    own = AgentDefinition(name="z", description="y", path=home / ".agent" / "agents" / "z.md")
    assert found_text(settings(home, **USER), [COMMAND], home, [kind, own]) == (
        "Used from Claude Code's files: ~/.claude/settings.json (2 rules, 1 hook, model); "
        "1 command; 1 agent. .agent files take precedence; /status lists the files."
    )


def test_what_has_no_use_here_is_named_apart(home: Path) -> None:
    directory = home / ".claude"
    for name in ("plugins/x", "agents", "commands"):
        (directory / name).mkdir(parents=True)
    for name in ("agents/reviewer.md", "keybindings.json", "CLAUDE.md"):
        (directory / name).write_text("{}")
    user = {"$schema": "x", "model": "m", "outputStyle": "Explanatory", "voiceEnabled": True}
    assert found_text(settings(home, **user), [], home) == (
        "Used from Claude Code's files: ~/.claude/settings.json (model); "
        "~/.claude/keybindings.json; ~/.claude/CLAUDE.md. "
        ".agent files take precedence; /status lists the files. Not used here: outputStyle, "
        "voiceEnabled, ~/.claude/plugins."
    )
    (home / ".agent").mkdir(exist_ok=True)
    (home / ".agent" / "keybindings.json").write_text("{}")
    said = found_text(settings(home, **user), [], home)
    assert said.endswith("~/.claude/plugins, ~/.claude/keybindings.json.")


def test_nothing_found_says_nothing(home: Path) -> None:
    assert found_text(settings(home), [], home) == ""


async def test_it_is_reported_once_until_it_changes(home: Path) -> None:
    agent_home = home / ".agent"

    async def news(**user: object) -> str:
        return await news_of_found(settings(home, **user), [], home=home, agent_home=agent_home)

    assert await news(**USER)
    assert await news(**USER) == ""
    assert "effortLevel" in await news(**USER, effortLevel="high")
    (agent_home / "cache" / "found-settings.json").write_text("{broken")
    assert await news(**USER)


async def test_many_broken_command_files_take_three_lines(tmp_path: Path) -> None:
    command_service = center_for(RecordedConversation([]), tmp_path)
    directory = command_service.context.agent_home / "commands"
    directory.mkdir(parents=True)
    for number in range(6):
        (directory / f"c{number}.md").write_text("---\ndescription: [\n---\n")
    await command_service.custom.refresh()
    warnings, notices = await notes_of_start(command_service)
    assert [warning.partition(":")[0] for warning in warnings[:2]] == [
        "~/.agent/commands/c0.md",
        "~/.agent/commands/c1.md",
    ]
    assert warnings[2:] == ["4 more command files have errors: /skills"]
    assert notices == []
    await command_service.custom.aclose()
