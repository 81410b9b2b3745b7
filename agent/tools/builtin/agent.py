"""Agent: hand a piece of work to an isolated agent and get its report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool

DESCRIPTION: Final = """Starts a sub-agent: it has its own empty conversation, works by itself \
with the same tools and permissions, and its last message comes back as the result.

Use it for searches and investigations that would fill this conversation with material you do not \
need afterwards, and for independent pieces of work; several calls in one turn are fine. Do not \
use it to read a file you know or to find one symbol: Read and Grep are faster.

The sub-agent knows nothing of this conversation and cannot ask you: put everything it needs into \
`prompt` (goal, paths, what was found out already, what to report), and say whether it may change \
files. The person does not see its report: tell them what matters."""


class AgentInput(BaseModel):
    """Parameters of Agent."""

    model_config = ConfigDict(extra="forbid")

    description: Annotated[
        str, Field(min_length=1, max_length=500, description="The task in three to five words.")
    ]
    prompt: Annotated[str, Field(min_length=1, description="The whole task for the sub-agent.")]
    subagent_type: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9_:.-]{1,100}$",
            description="Which kind of agent; `general-purpose` if not given.",
        ),
    ] = "general-purpose"
    model: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=200,
            description="Another model than this conversation's; rarely needed.",
        ),
    ] = None


async def _run(tool_input: AgentInput, context: ToolContext) -> ToolOutcome:
    return await run_subagent(
        context,
        description=tool_input.description,
        prompt=tool_input.prompt,
        subagent_type=tool_input.subagent_type,
        model=tool_input.model,
    )


async def run_subagent(
    context: ToolContext, *, description: str, prompt: str, subagent_type: str, model: str | None
) -> ToolOutcome:
    """Run a sub-agent for a call and return its report. Raises ToolError where there are none."""
    port = context.services.subagents
    if port is None:
        raise ToolError("Sub-agents cannot be started here. Do the work yourself.")
    started = time.monotonic()
    report = await port.run(
        description=description,
        prompt=prompt,
        subagent_type=subagent_type,
        model=model,
        abort=context.abort,
        parent_tool_use_id=context.tool_use_id,
    )
    completed = report.outcome == "completed"
    text = report.text.strip() or "(the sub-agent reported nothing)"
    if not completed:
        text = f"The sub-agent did not finish ({report.outcome}). Its last words:\n{text}"
    return ToolOutcome(
        text,
        is_error=not completed,
        structured={
            "status": "completed" if completed else report.outcome,
            "prompt": prompt,
            "agentId": report.agent_id,
            "content": [{"type": "text", "text": report.text}],
            "totalTokens": report.total_tokens,
            "totalDurationMs": int((time.monotonic() - started) * 1000),
            "totalTurns": report.turns,
        },
    )


def _identifier(tool_input: AgentInput, _root: Path) -> str:
    return f"Agent {tool_input.description}"


def agent_tool() -> Tool[AgentInput]:
    """Return the tool."""
    return build_tool(
        name="Agent",
        description=DESCRIPTION,
        input_model=AgentInput,
        run=_run,
        # A sub-agent may write and ask; two at once would step on each other's files.
        concurrency=lambda _: Concurrency.UNSAFE,
        # Each of its own calls is decided on its own.
        requires_permission=False,
        aliases=("Task",),
        identifier=_identifier,
        max_result_size_chars=50_000,
    )
