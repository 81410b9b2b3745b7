"""Executes a script's calls: agents, verifiers, and workflows one level deep."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from agent.errors import UsageError
from agent.orchestration.journal.journal_records import StepState
from agent.orchestration.run.agent_order import MISFORMED, AgentOrder
from agent.orchestration.run.fan_out import verify
from agent.orchestration.run.step_runner import StepRunner
from agent.orchestration.script.script_engine import CallRejected, Json, ScriptCall
from permissions.base.text.sanitize import sanitize

SHOWN_CHARS: Final = 200
"""Longest label or phase; these are shown in one line and recorded with each agent."""
RunNested = Callable[[str, Json], Awaitable[Json]]
"""Runs a workflow by name with arguments; raises `CallRejected`."""


class ScriptCalls:
    """Answers the calls of one script."""

    def __init__(self, steps: StepRunner, run_nested: RunNested | None) -> None:
        """`run_nested` is None inside a workflow that another one called."""
        self._steps = steps
        self._run_nested = run_nested

    async def answer(self, call: ScriptCall) -> Json:
        """Return the answer to a call. Raises `CallRejected` and `RunStopped`."""
        payload = call.payload
        match call.kind:
            case "agent":
                return await self._agent(payload)
            case "verify":
                task, result = str(payload.get("task")), str(payload.get("result"))
                return dict(await verify(self._steps, task, result, "verify"))
            case _:
                if self._run_nested is None:
                    raise CallRejected("a workflow that was called by another cannot call a third")
                return await self._run_nested(str(payload.get("name")), payload.get("args"))

    async def _agent(self, payload: Mapping[str, Json]) -> Json:
        answer = await self._steps.call(_order(payload))
        if answer.is_misformed:
            reason = answer.reason.removeprefix(MISFORMED)
            raise CallRejected(f"agent() got no answer that follows the schema: {reason}")
        if answer.state is StepState.FAILED:
            # As in other programs with this format: a script continues without the answer.
            return None
        return answer.value


def _order(payload: Mapping[str, Json]) -> AgentOrder:
    options = payload.get("options")
    agent_options: Mapping[str, Json] = options if isinstance(options, Mapping) else {}
    schema = agent_options.get("schema")
    if schema is not None:
        schema = _schema(schema)
    isolation = _text(agent_options, "isolation")
    if isolation not in ("", "worktree"):
        raise CallRejected(f"agent() knows no isolation {isolation!r}; there is: worktree")
    prompt = payload.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        raise CallRejected("agent() takes a prompt that is a string and not empty")
    return AgentOrder(
        prompt=prompt,
        label=sanitize(_text(agent_options, "label")[:SHOWN_CHARS]),
        phase=sanitize(_text(agent_options, "phase")[:SHOWN_CHARS]),
        schema=schema,
        reports_findings=agent_options.get("findings") is True,
        model=_text(agent_options, "model") or None,
        effort=_text(agent_options, "effort") or None,
        agent_type=_text(agent_options, "agentType"),
        isolation=isolation,
    )


def _schema(schema: Json) -> Mapping[str, Json]:
    if not isinstance(schema, Mapping):
        raise CallRejected("the schema of agent() must be an object")
    from agent.loop.answer_schema import AnswerSchema  # only for scripts with a schema

    try:
        return AnswerSchema(json.dumps(schema)).schema
    except UsageError as error:
        raise CallRejected(f"the schema of agent() cannot be used: {error}") from error


def _text(options: Mapping[str, Json], name: str) -> str:
    value = options.get(name)
    if value is not None and not isinstance(value, str):
        raise CallRejected(f"the option {name} of agent() must be a string")
    return value or ""
