"""Workflow: several agents at once on one task, by subtasks or by a script."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from agent.display import Display, TextDisplay
from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool
from agent.tools.workflow_port import WorkflowCall, WorkflowPort

DESCRIPTION: Final = """Runs several agents in parallel on one task and returns what they found, \
each result with the verdict of a second agent that tried to refute it.

Use it only if the user asks for a workflow, or a system message says that orchestration mode is \
on. Do not use it otherwise: one agent, or your own work, is cheaper.

Standing consent: while orchestration mode is on, that consent holds for every substantive task. \
Write and run a workflow for each by default, and prefer verifying what it finds. Work alone only \
on conversation and on trivial mechanical edits. Once a system message says that the mode is off, \
the rule above applies again.

Granularity: a subtask is a concern, a component or a question, never a line or a section of a \
file. A module of a few hundred lines rarely needs more than about ten; an audit of a large code \
base may need many more. At most 200 of one call are run.

Patterns that pay: refute what was found (done by default), let one agent search for what the \
others missed, and work in phases (understand, design, implement, review), each a workflow of its \
own whose results you read before the next. A good start is to look around yourself first, then \
fan out over what you found.

An agent knows nothing of this conversation: each subtask says all that it needs. `subtasks` is \
enough for most; `script` is a program in JavaScript that begins with \
`export const meta = { name: '…', description: '…' }` and may use `await agent(prompt, {label, \
phase, schema, model, agentType, isolation, findings})`, `parallel(functions)`, `pipeline(items, \
...stages)`, `verify(tasks, results)`, `phase(title)`, `log(text)`, `args`, `budget` and \
`workflow(name, args)`; it has no files, no network, no clock and no randomness. Finished agents \
are recorded: run again with `resumeFromRunId`, only what is new or changed runs."""


IGNORED: Final = frozenset({"title", "description"})
ADDED: Final = frozenset({"workflow", "orchestration"})
"""Fields added for rules and hooks; values for them in the model's call are dropped."""


class WorkflowInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of Workflow."""

    subtasks: Annotated[
        list[Any] | str | None,
        Meta(description="Prompts of independent agents; each says all that it needs."),
    ] = None
    verify: Annotated[
        bool, Meta(description="Have each result of subtasks checked by a second agent.")
    ] = True
    script: Annotated[str | None, Meta(description="A script, instead of subtasks.")] = None
    name: Annotated[str | None, Meta(description="Name of a saved workflow.")] = None
    scriptPath: Annotated[
        str | None, Meta(description="File of a script; takes the place of `script`.")
    ] = None
    args: Annotated[Any, Meta(description="JSON that a script finds in `args`.")] = None
    resumeFromRunId: Annotated[
        str | None, Meta(description="Run whose finished agents are used again.")
    ] = None
    maxAgents: Annotated[
        int | None, Meta(ge=1, le=1000, description="Most agents of the run; 1,000 if not given.")
    ] = None
    maxTokens: Annotated[
        int | None, Meta(ge=1, description="At so many tokens of its agents the run pauses.")
    ] = None
    budgetUsd: Annotated[
        float | None, Meta(gt=0, description="At this cost in US dollars the run pauses.")
    ] = None
    run_in_background: Annotated[
        bool | None, Meta(description="Return at once; the result comes when the run is done.")
    ] = None

    def call(self) -> WorkflowCall:
        """Return the call in the form that `WorkflowPort` takes."""
        return WorkflowCall(
            subtasks=self.subtasks,
            script=None if self.scriptPath else self.script,
            name=self.name,
            path=self.scriptPath,
            args=self.args,
            resumes=self.resumeFromRunId,
            verifies=self.verify,
            in_background=self.run_in_background,
            max_agents=self.maxAgents,
            max_tokens=self.maxTokens,
            budget_usd=self.budgetUsd,
        )


async def _validate(tool_input: WorkflowInput, context: ToolContext) -> str | None:
    call = tool_input.call()
    choices = [call.subtasks, call.script, call.name, call.path]
    if sum(one is not None for one in choices) != 1:
        raise ToolError(
            "It is not clear what the workflow is to run.",
            "Give exactly one of subtasks, script, name and scriptPath.",
        )
    try:
        _port(context).identity(call, context.tool_use_id)
    except ToolError as error:
        return str(error)
    return None


async def _run(tool_input: WorkflowInput, context: ToolContext) -> ToolOutcome:
    start = await _port(context).start(tool_input.call(), context.tool_use_id, context.abort)
    return ToolOutcome(
        start.text,
        is_error=start.is_error,
        display=TextDisplay(f"runs in the background ({start.run_id})")
        if start.is_running
        else None,
        tool_response={
            "status": "async_launched" if start.is_running else "completed",
            "taskType": "local_workflow",
            "workflowName": start.name,
            "runId": start.run_id,
        },
    )


def _permission_input(
    tool_input: WorkflowInput, raw: Mapping[str, object], context: ToolContext
) -> Mapping[str, object]:
    parameters = {key: value for key, value in raw.items() if key not in ADDED}
    try:
        port = _port(context)
        identity = port.identity(tool_input.call(), context.tool_use_id)
    except ToolError:
        return parameters
    values = {**parameters, "workflow": identity}
    return {**values, "orchestration": True} if port.orchestrates else values


async def _preview(tool_input: WorkflowInput, context: ToolContext) -> Display:
    return await _port(context).plan(tool_input.call(), context.tool_use_id)


def _port(context: ToolContext) -> WorkflowPort:
    port = context.services.workflows
    if port is None:
        raise ToolError("Workflows cannot be started here.", "Do the work yourself.")
    return port


def _identifier(tool_input: WorkflowInput, _root: Path) -> str:
    if isinstance(tool_input.subtasks, list):
        count = len(tool_input.subtasks)
        return f"Workflow {count} subtask{'s' if count != 1 else ''}"
    return f"Workflow {tool_input.name or tool_input.scriptPath or 'script'}"


def workflow_tool() -> Tool[WorkflowInput]:
    """Return the tool."""
    return build_tool(
        name="Workflow",
        description=DESCRIPTION,
        input_model=WorkflowInput,
        ignored_names=IGNORED | ADDED,
        run=_run,
        validate=_validate,
        permission_input=_permission_input,
        concurrency=lambda _: Concurrency.INDEPENDENT,
        is_destructive=lambda _: False,
        identifier=_identifier,
        preview=_preview,
        max_result_size_chars=200_000,
    )
