"""A home directory after long use: many commands, skills and prompts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from agent.session.prompt_log import PromptLog
from benchmarks.figures import Figure, Variant, measure_start
from benchmarks.model import Model

COMMANDS: Final = 1_000
SKILLS: Final = 300
PROMPTS: Final = 100_000


def measure_filled(
    variant: Variant, model: Model, scratch: Path, *, starts: int
) -> Iterator[Figure]:
    """Measure starts with a filled home; each figure is followed by that of an empty one."""
    home = scratch / "filled-home"
    fill(home, variant.directory)
    filled_variant = replace(variant, environment={**variant.environment, "HOME": str(home)})
    empty_home = {
        figure.name: figure.value for figure in measure_start(variant, model, starts=starts)
    }
    what = f"{COMMANDS:,} commands, {SKILLS} skills, {PROMPTS:,} prompts"
    for figure in measure_start(filled_variant, model, starts=starts):
        yield replace(figure, name=f"{figure.name}, with {what}")
        base = empty_home[figure.name]
        if figure.value and base:
            yield Figure(f"{figure.name}: filled home to empty one", figure.value / base, "×")


def fill(home: Path, project: Path) -> None:
    """Write the files of a filled home."""
    agent_home = home / ".agent"
    commands = agent_home / "commands"
    commands.mkdir(parents=True)
    for number in range(COMMANDS):
        (commands / f"command{number}.md").write_text(
            f"---\ndescription: Command {number} of many\nallowed-tools: Bash(git add:*), Read\n"
            f"argument-hint: [what]\n---\nDo number {number}: $ARGUMENTS\n",
            encoding="utf-8",
        )
    for number in range(SKILLS):
        directory = agent_home / "skills" / f"skill{number}"
        directory.mkdir(parents=True)
        (directory / "SKILL.md").write_text(
            f"---\nname: skill{number}\ndescription: Skill {number} of many\n---\nDo it.\n",
            encoding="utf-8",
        )
    history = PromptLog(agent_home, project).path
    history.parent.mkdir(parents=True)
    with history.open("w", encoding="utf-8") as file:
        for number in range(PROMPTS):
            entry = {"text": f"prompt {number} of many", "session": "s", "at": float(number)}
            file.write(json.dumps(entry) + "\n")
