"""ExitPlanMode: show a plan to the user and continue in the mode they choose."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.display import Display, PlanDisplay
from agent.tools.base import (
    Concurrency,
    InterruptBehavior,
    Tool,
    ToolContext,
    ToolError,
    ToolOutcome,
    build_tool,
)
from agent.tools.decline_text import DECLINED_AND_STOPPED, plan_rejected_with

DESCRIPTION: Final = """Shows the user a plan for approval and ends plan mode when they agree.

Use it in plan mode once the plan is complete: what will change, in which files, in which order, \
how it will be checked. Write it in Markdown, short enough to be read. Ask open questions with \
AskUserQuestion before, not in the plan. Do not use it for research, where nothing is to be \
changed, or outside plan mode."""


class ExitPlanModeInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of ExitPlanMode."""

    plan: Annotated[
        str, Meta(min_length=1, max_length=100_000, description="The plan, in Markdown.")
    ]


async def _validate(_input: ExitPlanModeInput, context: ToolContext) -> str | None:
    if context.services.mode.mode != "plan":
        raise ToolError(
            "Plan mode is not on.",
            "If the plan was approved already, carry it out; otherwise just do the work.",
        )
    return None


async def _run(tool_input: ExitPlanModeInput, context: ToolContext) -> ToolOutcome:
    services = context.services
    if context.agent_id is not None:
        raise ToolError("A sub-agent cannot change the mode.", "Report the plan as your result.")
    if services.user is not None:
        answer = await services.user.approve_plan(tool_input.plan, context.abort)
    elif services.plans is not None:
        answer = await services.plans.decide_plan(
            tool_input.plan, context.tool_use_id, context.abort
        )
    else:
        raise ToolError("There is no user to approve the plan.", "Give it as your answer.")
    plan = answer.plan if answer.plan is not None else tool_input.plan
    tool_response = {"plan": plan, "isAgent": False, "approved": answer.is_approved}
    display = PlanDisplay(plan)
    if answer.ends_turn:
        return ToolOutcome(
            DECLINED_AND_STOPPED,
            is_error=True,
            display=display,
            tool_response=tool_response,
            ends_turn=True,
        )
    if not answer.is_approved:
        content = plan_rejected_with(answer.feedback)
        if answer.plan is not None:
            content += f"\nThey changed the plan themselves; it now reads:\n{plan}"
        return ToolOutcome(
            content,
            is_error=True,
            display=display,
            tool_response=tool_response,
        )
    services.mode.leave_plan_mode(answer.mode)
    comment = f"\nThey added:\n{answer.feedback}" if answer.feedback else ""
    if answer.plan is not None:
        comment += f"\nThey changed the plan first. Carry out this version, not yours:\n{plan}"
    return ToolOutcome(
        f"The user approved the plan. Carry it out now (mode: {services.mode.mode}).{comment}",
        display=display,
        tool_response=tool_response,
    )


async def _preview(tool_input: ExitPlanModeInput, _context: ToolContext) -> Display:
    return PlanDisplay(tool_input.plan)


def exit_plan_mode_tool() -> Tool[ExitPlanModeInput]:
    """Return the tool."""
    return build_tool(
        name="ExitPlanMode",
        description=DESCRIPTION,
        input_model=ExitPlanModeInput,
        run=_run,
        validate=_validate,
        concurrency=lambda _: Concurrency.UNSAFE,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        # It asks the user itself.
        requires_permission=False,
        requires_user_interaction=True,
        interrupt_behavior=InterruptBehavior.CANCEL,
        preview=_preview,
        max_result_size_chars=10_000,
    )
