"""The gate of every run: the rules and hooks of the program's settings, for the caller's tools.

A tool of the caller runs unless a rule or a hook has something against it: the caller wrote it. A
deny rule or a hook's deny is final; a rule or hook that asks makes the call wait for approval.
"""

from __future__ import annotations

import asyncio
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from agent.hook_events.config import hook_config
from agent.library.base.raw_items import RawItem
from agent.library.program.callback_hooks import HookFunction, callback_hooks
from agent.library.program.program_setup import read_setup
from agent.library.tools.tool_gate import GateAnswer, ToolGate
from agent.options import RunOptions
from agent.permission_config.permission_context import permission_setup
from hooks.answers.outcome import EventOutcome
from hooks.events import PermissionDenied, PostToolUse, PostToolUseFailure, PreToolUse
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner
from permissions.base.process.child_environment import child_environment
from permissions.context import PermissionContext
from permissions.decision import Behavior, Reason, TraceStep
from permissions.evaluate.cascade import evaluate_parts, failed_evaluation
from permissions.request import PermissionRequest

DENIED: Final = "Permission denied: "
_NO_OBJECTION: Final = {Reason.MODE_DEFAULT, Reason.UNKNOWN_TOOL}
"""The mode would ask about any call, and no setting knows the tools of a caller."""


class StandardGate:
    """Rules and hooks of one directory."""

    def __init__(self, context: PermissionContext, hooks: HookRunner) -> None:
        """`context` has the rules."""
        self._context = context
        self._hooks = hooks

    async def check(
        self, tool_name: str, arguments: Mapping[str, RawItem], call_id: str
    ) -> GateAnswer:
        """Decide about a call; what fails is denied."""
        answer = self._by_rules(tool_name, arguments, call_id)
        if answer.behavior == "deny":
            if self._hooks.has("PermissionDenied"):
                reason = answer.message.removeprefix(DENIED)
                await self._hooks.run(
                    PermissionDenied(**_call(tool_name, arguments, call_id), reason=reason)
                )
            return answer
        if not self._hooks.has("PreToolUse"):
            return answer
        return await self._hooked(tool_name, arguments, call_id, answer)

    def _by_rules(
        self, tool_name: str, arguments: Mapping[str, RawItem], call_id: str
    ) -> GateAnswer:
        request = PermissionRequest(
            tool=tool_name, tool_input=arguments, request_id=call_id, tool_use_id=call_id
        )
        try:
            decision = evaluate_parts(request, self._context, cwd=self._context.launch_dir).decision
        except Exception as error:  # noqa: BLE001 - fail closed: no exception becomes an allow
            decision = failed_evaluation(request, self._context, error).decision
        if decision.behavior is Behavior.DENY:
            return GateAnswer("deny", f"{DENIED}{decision.message}")
        if decision.ask_reasons - _NO_OBJECTION:
            return GateAnswer("ask", decision.message)
        matched = [entry.rule for entry in decision.trace if entry.step is TraceStep.ASK]
        if decision.behavior is Behavior.ASK and any(matched):
            return GateAnswer("ask", f"The rule {matched[0]} asks about it.")
        return GateAnswer()

    async def _hooked(
        self, tool_name: str, arguments: Mapping[str, RawItem], call_id: str, answer: GateAnswer
    ) -> GateAnswer:
        outcome = await self._hooks.run(PreToolUse(**_call(tool_name, arguments, call_id)))
        reason = outcome.reason or outcome.stop_reason or "A hook denied the call."
        if outcome.decision in ("deny", "block") or not outcome.continue_:
            return GateAnswer("deny", f"{DENIED}{reason}")
        if outcome.updated_input is not None and dict(outcome.updated_input) != dict(arguments):
            # What a hook wrote is another call than the one that the rules have seen.
            answer = self._by_rules(tool_name, outcome.updated_input, call_id)
            answer = GateAnswer(answer.behavior, answer.message, outcome.updated_input)
        if outcome.decision in ("ask", "defer") and answer.behavior == "allow":
            return GateAnswer("ask", reason, answer.arguments)
        return answer

    async def finished(
        self, tool_name: str, arguments: Mapping[str, RawItem], call_id: str, output: str
    ) -> str:
        """Return the output as PostToolUse hooks leave it."""
        if not self._hooks.has("PostToolUse"):
            return output
        call = _call(tool_name, arguments, call_id)
        return _left(output, await self._hooks.run(PostToolUse(**call, tool_response=output)))

    async def failed(
        self,
        tool_name: str,
        arguments: Mapping[str, RawItem],
        call_id: str,
        error: str,
        output: str,
    ) -> str:
        """Return what the model is given as PostToolUseFailure hooks leave it."""
        if not self._hooks.has("PostToolUseFailure"):
            return output
        call = _call(tool_name, arguments, call_id)
        return _left(output, await self._hooks.run(PostToolUseFailure(**call, error=error)))


def _call(tool_name: str, arguments: Mapping[str, RawItem], call_id: str) -> dict[str, RawItem]:
    return {"tool_name": tool_name, "tool_input": dict(arguments), "tool_use_id": call_id}


def _left(output: str, outcome: EventOutcome) -> str:
    """Return what of an output goes to the model, with what hooks add."""
    if outcome.updated_tool_output is not None:
        output = str(outcome.updated_tool_output)
    notes = [outcome.additional_context or ""]
    if outcome.decision == "block":
        notes.append(outcome.reason or "")
    return "\n\n".join([output, *(note for note in notes if note)])


_gates: dict[Path, ToolGate] = {}


async def standard_gate() -> ToolGate:
    """Return the gate of the current directory; its settings are read once.

    Raises:
        ConfigError: settings that must apply cannot be used.
    """
    directory = Path.cwd()
    if directory not in _gates:
        _gates[directory] = await asyncio.to_thread(program_gate, directory)
    return _gates[directory]


def program_gate(
    directory: Path | None = None,
    *,
    ask: Sequence[str] = (),
    deny: Sequence[str] = (),
    hooks: Mapping[str, Sequence[HookFunction]] | None = None,
    env: Mapping[str, str] | None = None,
) -> StandardGate:
    """Return the gate of a directory, with rules and hooks of the caller besides the settings'.

    Args:
        ask: Rules whose calls wait for approval: a tool's name, or a pattern as in settings.
        deny: Rules whose calls never run.
        hooks: Python functions by hook event: `PreToolUse`, `PostToolUse`, `PostToolUseFailure`,
            `PermissionDenied`.
        env: Environment to read; None is the process's own.

    Raises:
        ConfigError: settings that must apply cannot be used.
    """
    options = RunOptions(headless=True, ask=tuple(ask), deny=tuple(deny))
    setup = read_setup(directory, env, options)
    settings, environment = setup.settings, setup.environment
    state = Path(tempfile.gettempdir()) / f"agent-library-{uuid.uuid4().hex}"
    session = HookSession(
        session_id=uuid.uuid4().hex,
        transcript_path=state / "none.jsonl",
        project_dir=settings.project_root,
        home=environment.home,
        state_dir=state,
        cwd=environment.launch_dir,
    )
    ports = HookPorts(env=child_environment(environment.env, settings.env))
    runner = HookRunner(hook_config(settings), session=session, ports=ports)
    runner.register(callback_hooks(hooks or {}))
    context = permission_setup(settings, bypass_available=False).context
    return StandardGate(context, runner)
