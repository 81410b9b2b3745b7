"""EnterPlanMode: explore and plan first, change nothing until the user approves."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from agent.display import TextDisplay
from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool

DESCRIPTION: Final = """Switches to plan mode: nothing is changed until the user has approved a \
plan.

Use it before work with several sensible ways to do it, changes across many files, or unclear \
requirements, when a wrong start would cost the user time. Do not use it for small or clearly \
described changes, or for research only. In plan mode read and search, then call ExitPlanMode \
with the plan."""


class EnterPlanModeInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """EnterPlanMode takes no parameters."""


async def _run(_input: EnterPlanModeInput, context: ToolContext) -> ToolOutcome:
    services = context.services
    if context.agent_id is not None:
        raise ToolError("A sub-agent cannot change the mode.", "Report the plan as your result.")
    if services.user is None:
        raise ToolError("There is no user to approve a plan.", "Continue without plan mode.")
    if services.mode.mode == "plan":
        return ToolOutcome("Plan mode is already on.", tool_response={"message": "already on"})
    services.mode.enter_plan_mode()
    message = (
        "Plan mode is on: writes and commands that change something are refused. "
        "Explore, then call ExitPlanMode with the plan."
    )
    display = TextDisplay("Plan mode is on.")
    return ToolOutcome(message, display=display, tool_response={"message": message})


def enter_plan_mode_tool() -> Tool[EnterPlanModeInput]:
    """Return the tool."""
    return build_tool(
        name="EnterPlanMode",
        description=DESCRIPTION,
        input_model=EnterPlanModeInput,
        run=_run,
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        # It only reduces what is allowed.
        requires_permission=False,
        requires_user_interaction=True,
        max_result_size_chars=10_000,
    )
