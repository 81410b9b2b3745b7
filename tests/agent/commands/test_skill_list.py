"""The list of skills that the model receives."""

from __future__ import annotations

from agent.commands.skill_loader import MAX_LIST_CHARS, skill_list
from agent.commands.spec import Metadata, PromptCommand, Template


def skill(name: str) -> PromptCommand:
    meta = Metadata(name=name, description="Does one thing very well. " * 8)
    return PromptCommand(meta, lambda: Template(""), for_model=True)


def test_every_skill_is_named_however_many_there_are() -> None:
    names = [f"skill-{number:03}" for number in range(292)]
    listing = skill_list(tuple(map(skill, names)))
    *described, rest = listing.splitlines()
    assert [line.split(":")[0].removeprefix("- ") for line in described] == names[: len(described)]
    assert rest.removeprefix("- also: ").split(", ") == names[len(described) :]
    assert len(described) > 40
    assert len("\n".join(described)) <= MAX_LIST_CHARS


def test_few_skills_are_described_and_none_is_nothing() -> None:
    assert skill_list((skill("a"), skill("b"))).count("Does one thing") == 16
    assert skill_list(()) == ""
