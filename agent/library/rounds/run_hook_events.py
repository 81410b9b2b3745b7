"""Fires the hook events of a run: session, prompt, tool batches and end.

Events of single calls are fired by `agent.library.program.standard_gate`.
"""

from __future__ import annotations

import contextvars
import json
import logging
import uuid
from typing import Final

from agent.abort import AbortController
from agent.conversation.prompt_opening import prompt_refusal
from agent.events import Notice
from agent.library.agents.agent_definition import Agent
from agent.library.base.raw_items import InputItem, RawItem, as_json, input_list, item_type, read
from agent.library.base.run_exceptions import StoppedByHook
from agent.library.items.run_items import AdmittedInputItem, RunItem
from agent.library.program.standard_gate import RunGate
from agent.library.program.transcript_session import TranscriptSession
from agent.library.state.run_scope import RunScope
from agent.loop.stop_check import stop_feedback
from agent.model.client import ModelError

_LOG: Final = logging.getLogger(__name__)
_outer: contextvars.ContextVar[str | None] = contextvars.ContextVar("outer_session", default=None)


class RunHookEvents:
    """Fires the events of one run. Call `open` first and `close` last.

    A run inside another run's tool is a sub-agent, without session and prompt events.
    """

    def __init__(self, scope: RunScope) -> None:
        """Read and fire nothing yet."""
        self._scope = scope
        self._token: contextvars.Token[str | None] | None = None
        self._is_inner = _outer.get() is not None

    async def open(self) -> None:
        """Set the run's gate.

        Raises:
            ConfigError: required settings are invalid.
        """
        scope = self._scope
        session = scope.session
        path = session.path if isinstance(session, TranscriptSession) else None
        session_id = _outer.get() or getattr(session, "session_id", None) or uuid.uuid4().hex
        agent = scope.state.current_agent.name if self._is_inner else None
        self._token = _outer.set(session_id)
        scope.gate = (await scope.find_gate()).begin(session_id, path, agent=agent)

    async def begin(self) -> None:
        """Fire the events at the start of a run; context from hooks goes before the prompt.

        Raises:
            StoppedByHook: a hook blocks the prompt.
        """
        scope, hooks = self._scope, self._gate.dispatch
        has_begun = scope.state.current_turn > 0
        texts: list[str] = []
        if self._is_inner:
            outcome = None if has_begun else await hooks.subagent_start()
            texts += [outcome.additional_context] if outcome and outcome.additional_context else []
        elif hooks.runner.has("SessionStart"):
            source = "resume" if has_begun or await _has_items(scope) else "startup"
            await hooks.session_start(source, _model_name(scope))
            texts += hooks.start_context()
            first = hooks.take_first_message()
            texts += [first] if first is not None else []
        if not (self._is_inner or has_begun):
            texts += await self._submit()
        self._log_notices()
        if texts and has_begun:
            self.admit(scope.state.current_agent, texts)
        elif texts:
            items = input_list(scope.state.original_input)
            scope.state.original_input = [*map(_input, texts), *items]

    async def _submit(self) -> list[str]:
        prompt = _prompt(self._scope.state.original_input)
        hooks = self._gate.dispatch
        if not prompt or not hooks.runner.has("UserPromptSubmit"):
            return []
        outcome = await hooks.user_prompt_submit(prompt, AbortController().signal)
        refusal = prompt_refusal(outcome)
        if refusal is not None:
            raise StoppedByHook("UserPromptSubmit", refusal)
        context = outcome.additional_context if outcome is not None else None
        return [context] if context else []

    def before_request(self) -> None:
        """Add context from background hooks for the model."""
        self.admit(self._scope.state.current_agent, self._gate.dispatch.late_context())
        self._log_notices()

    async def after_calls(self, agent: Agent) -> list[RunItem]:
        """Fire PostToolBatch; return the context that its hooks add after the outputs.

        Raises:
            StoppedByHook: one of its hooks, or of the calls' hooks, ends the run.
        """
        outcomes = self._gate.take_outcomes()
        if not outcomes:
            return []
        batch = await self._gate.dispatch.post_tool_batch(outcomes, AbortController().signal)
        self._log_notices()
        for _, outcome in outcomes:
            if outcome.ends_turn and outcome.stop_reason:
                raise StoppedByHook("tool", outcome.stop_reason)
        refusal = prompt_refusal(batch)
        if refusal is not None:
            raise StoppedByHook("PostToolBatch", refusal)
        if batch is None or not batch.additional_context:
            return []
        return [AdmittedInputItem(agent, _input(batch.additional_context))]

    async def continues(self, agent: Agent, output: RawItem, *, active: bool) -> bool:
        """Fire Stop; return whether a hook continues the run, after adding its feedback.

        `active` is whether a hook continued the run before.
        """
        hooks = self._gate.dispatch
        text = output if isinstance(output, str) else json.dumps(as_json(output))
        signal = AbortController().signal
        outcome = await hooks.stop(text, active=active, abort=signal)
        self._log_notices()
        if outcome is None or not outcome.continue_:
            return False
        feedback = stop_feedback(outcome)
        if feedback:
            self.admit(agent, [feedback])
        return bool(feedback)

    async def fire_stop_failure(self, error: ModelError) -> None:
        """Fire StopFailure."""
        await self._gate.dispatch.stop_failure(error.kind, str(error))

    async def close(self) -> None:
        """Fire SessionEnd, and end background hooks."""
        gate = self._scope.gate
        try:
            if gate is not None:
                if not self._is_inner:
                    await gate.dispatch.session_end("other")
                self._log_notices()
                await gate.dispatch.firing.aclose()
                await gate.dispatch.runner.aclose()
        finally:
            if self._token is not None:
                _outer.reset(self._token)

    @property
    def _gate(self) -> RunGate:
        assert self._scope.gate is not None, "a run opens its hooks first"
        return self._scope.gate

    def admit(self, agent: Agent, texts: list[str]) -> None:
        """Add input during the run."""
        items = [AdmittedInputItem(agent, _input(text)) for text in texts]
        self._scope.state.add_items(items)

    def _log_notices(self) -> None:
        """Log the notices of hooks, as a run has no screen."""
        for event in self._gate.dispatch.notices():
            if isinstance(event, Notice):
                level = logging.WARNING if event.level == "warning" else logging.INFO
                _LOG.log(level, "%s", event.text)


def _input(text: str) -> InputItem:
    return {"role": "user", "content": text}


def _prompt(run_input: str | list[InputItem]) -> str:
    """Return the text of the user's last message; empty if there is none."""
    for item in reversed(input_list(run_input)):
        if item_type(item) == "message" and item.get("role") == "user":
            content = item.get("content")
            if isinstance(content, str):
                return content
            return "\n".join(str(read(part, "text", "")) for part in content or [])
    return ""


async def _has_items(scope: RunScope) -> bool:
    return scope.session is not None and bool(await scope.session.get_items(limit=1))


def _model_name(scope: RunScope) -> str:
    return str(getattr(scope.find_model(scope.state.current_agent), "name", ""))
