"""Skill: read the instructions that the user has stored for a kind of task."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from agent.display import TextDisplay
from agent.messages import text_block
from agent.tools.agent_port import AgentTask
from agent.tools.base import (
    Concurrency,
    InterruptBehavior,
    Tool,
    ToolContext,
    ToolError,
    ToolOutcome,
    build_tool,
)
from agent.tools.builtin.agent import run_subagent

DESCRIPTION: Final = """Loads a skill: instructions that the user keeps for a kind of task.

The skills there are were listed to you, each with what it is for. Use it first when a task is \
one of those, and follow what comes back; do not guess what a skill says. Do not use it for \
skills that were not listed, nor again for one whose text is already in this conversation, nor for \
the built-in commands of the program."""


class SkillInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of Skill."""

    skill: Annotated[
        str, Meta(min_length=1, max_length=300, description="The skill's name, as listed.")
    ]
    args: Annotated[
        str | None,
        Meta(max_length=20_000, description="Arguments, as one line, where the skill takes any."),
    ] = None


async def _validate(tool_input: SkillInput, context: ToolContext) -> str | None:
    port = context.services.skills
    name = tool_input.skill.removeprefix("/")
    if port is None:
        return "There are no skills here."
    names = port.names()
    if name not in names:
        name_list = ", ".join(names[:50]) or "none"
        raise ToolError(
            f"There is no skill named {name!r} for the model to use.", f"Skills: {name_list}."
        )
    return None


async def _run(tool_input: SkillInput, context: ToolContext) -> ToolOutcome:
    port = context.services.skills
    if port is None:
        raise ToolError("There are no skills here.")
    name = tool_input.skill.removeprefix("/")
    skill = await port.load(name, tool_input.args or "", context.turn_id, context.abort)
    has_agents = context.services.subagents is not None and context.agent_id is None
    if skill.agent is not None and has_agents:
        report = await run_subagent(
            context,
            AgentTask(
                description=f"skill {name}",
                # Mentioned files are text blocks, except images, which a prompt cannot contain.
                prompt="\n\n".join(str(b["text"]) for b in skill.blocks if b.get("type") == "text"),
                subagent_type=skill.agent,
                model=skill.model,
                in_background=False,
            ),
        )
        return replace(report, tool_response={"success": not report.is_error, "commandName": name})
    head = text_block(f"The skill {name} says the following. Carry it out.")
    return ToolOutcome(
        (head, *skill.blocks),
        display=TextDisplay("loaded"),
        tool_response={"success": True, "commandName": name},
    )


def skill_tool() -> Tool[SkillInput]:
    """Return the tool."""
    return build_tool(
        name="Skill",
        description=DESCRIPTION,
        input_model=SkillInput,
        run=_run,
        validate=_validate,
        # A skill may change what is allowed for the rest of the turn, and may run commands.
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        interrupt_behavior=InterruptBehavior.CANCEL,
        identifier=lambda tool_input, _: (
            f"Skill {tool_input.skill} {tool_input.args or ''}".rstrip()
        ),
        max_result_size_chars=100_000,
    )
