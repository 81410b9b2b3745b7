"""Write the events of a headless run as text, JSON or lines of JSON.

Data goes to standard output, everything else to standard error.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from functools import partial
from typing import TextIO

from agent.conversation.conversation import Conversation
from agent.conversation_facts import ServerSummary
from agent.errors import OutputError
from agent.events import (
    AgentEvent,
    Compacted,
    Complete,
    ErrorEvent,
    HookFinished,
    MessageCommitted,
    ModelFallback,
    Notice,
    PermissionRequested,
    PermissionResolved,
    RequestStart,
    RetryScheduled,
    Terminal,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    ToolResult,
    UsageUpdate,
)
from agent.exit_status import (
    EXIT_COMPLETED,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_REFUSAL,
)
from agent.headless.outcome import Outcome, outcome_of, stop_outcome, terminal_reason
from agent.headless.output_lines import (
    PartialLines,
    api_error_line,
    hook_lines,
    init_line,
    message_line,
    models_json,
    notice_line,
    replay_line,
    usage_json,
    without_agent_text,
    workflow_line,
)
from agent.headless.prompt_run import PromptRun
from agent.headless.task_lines import TaskLines
from agent.headless.workflow_lines import WorkflowLines
from agent.loop.answer_schema import AnswerSchema
from agent.options import OutputFormat
from agent.user_prompt import Prompt
from permissions.base.text.sanitize import sanitize
from permissions.base.text.terminal_lines import write_message
from permissions.decision import Behavior, DecisionSource

_ENDS_REQUEST = (Complete, RetryScheduled, ErrorEvent, Terminal)


class HeadlessOutput:
    """Writes one run's events in the chosen format."""

    def __init__(
        self,
        conversation: Conversation,
        output_format: OutputFormat,
        *,
        stdout: TextIO,
        stderr: TextIO,
        partial_messages: bool = False,
        forwards_agent_text: bool = False,
        shows_hooks: bool = False,
        replays: bool = False,
        is_stored: bool = True,
        answer: AnswerSchema | None = None,
    ) -> None:
        """`partial_messages` adds `stream_event` lines to stream-json, `replays` adds each prompt,
        `forwards_agent_text` adds what agents say between their calls, `shows_hooks` the runs of
        hooks.

        `answer` is the schema of the answers.
        `is_stored` is whether the session can be resumed later.
        """
        self._forwards_agent_text = forwards_agent_text
        self._shows_hooks = shows_hooks and output_format == "stream-json"
        self._replays = replays
        self._is_stored = is_stored
        self._answer = answer
        self._conversation = conversation
        self._format = output_format
        self._stdout = stdout
        self._stderr = stderr
        self._partial: PartialLines | None = None
        if partial_messages and output_format == "stream-json":
            self._partial = PartialLines(conversation.view.session_id)
        self._inputs: dict[str, tuple[str, Mapping[str, object]]] = {}
        self._responses: dict[str, object] = {}
        self._tasks = TaskLines(conversation.view.session_id, conversation.agents.find)
        workflows = conversation.workflows
        lines = WorkflowLines(lambda: workflows.running, self._workflow, self._print)
        workflows.on_change = lines.update

    def _workflow(self, fields: dict[str, object]) -> None:
        if self._format == "stream-json":
            session_id = self._conversation.view.session_id
            self._line(workflow_line(fields, session_id))

    def begin(self, servers: ServerSummary) -> None:
        """Write the `system`/`init` line of stream-json; other formats write nothing yet."""
        if self._format == "stream-json":
            self._line(init_line(self._conversation, servers))

    async def run(self, prompt: Prompt) -> int:
        """Run one prompt to its end, write its output, and return its exit status."""
        run = PromptRun(prompt.sender_id, prompt.origin)
        self._conversation.agents.between_turns = partial(self._on_event, run=run)
        if self._replays:
            self._line(replay_line(prompt, self._conversation.view.session_id))
        if prompt.text.startswith("/"):
            from agent.commands.headless import run_typed_command  # few prompts need it

            reply = await run_typed_command(prompt.text, self._conversation.commands)
            if reply is not None and reply.compacts is not None:
                return await self._compact(reply.compacts, run)
            if reply is not None:
                return self._write_command(reply.text, run, has_failed=reply.is_error)
        async for event in self._conversation.run(prompt):
            self._on_event(event, run)
        await self._continue_with_reports(run)
        return self._end(run)

    async def _continue_with_reports(self, run: PromptRun) -> None:
        """Let the model continue with reports of background agents and workflows."""
        agents, workflows = self._conversation.agents, self._conversation.workflows
        while run.terminal is not None and run.terminal.reason == "completed":
            if not await agents.reports.next() and not await workflows.next_report():
                break
            async for event in self._conversation.run(None):
                self._on_event(event, run)
        for summary in workflows.summaries():
            self._print(summary.line)

    async def _compact(self, focus: str, run: PromptRun) -> int:
        """Compact the history and write the result; return the exit status."""
        text, has_failed = "", False
        async for event in self._conversation.controls.compact(focus):
            self._on_event(event, run)
            if isinstance(event, Compacted):
                text = f"Compacted: {event.tokens_before:,} to {event.tokens_after:,} tokens."
            elif isinstance(event, Notice):
                text, has_failed = event.text, event.level != "info"
        return self._write_command(text, run, has_failed=has_failed)

    def _on_event(self, event: AgentEvent, run: PromptRun) -> None:
        if isinstance(event, _ENDS_REQUEST):
            self._end_request(event, run)
        if self._format == "stream-json":
            for line in self._tasks.of(event):
                self._line(line)
        if not self._forwards_agent_text:
            shown_event = without_agent_text(event)
            if shown_event is None:
                return
            event = shown_event
        match event:
            case RequestStart(agent_id=None):
                run.asked_at = time.monotonic()
            case MessageCommitted():
                self._message(event, run)
            case PermissionRequested():
                run.asked_ids.add(event.request_id)
                # A command inside a prompt causes an ask without a message of the model.
                self._inputs.setdefault(event.tool_use_id, (event.tool, event.input))
            case PermissionResolved():
                self._record_decision(event, run)
            case ToolResult():
                self._see_result(event, run)
            case UsageUpdate():
                run.usage += event.usage
            case Terminal(agent_id=None):
                run.terminal = event
            case ErrorEvent() | Notice() | HookFinished():
                self._report(event, run)
            case RetryScheduled() | ModelFallback() | Compacted():
                self._report_recovery(event)
            case TextDelta() | ThinkingDelta() | ToolInputDelta() if self._partial is not None:
                for line in self._partial.delta(event, self._conversation.status.model):
                    self._line(line)
            case _:
                pass

    def _report(self, event: ErrorEvent | Notice | HookFinished, run: PromptRun) -> None:
        match event:
            case ErrorEvent():
                if event.agent_id is None:
                    run.failure = event
                self._print(f"error: {event.message}")
            case Notice():
                self._print(f"{event.level}: {event.text}")
                run.notices.append(event.text)
            case HookFinished():
                if self._shows_hooks:
                    for line in hook_lines(event, self._conversation.view.session_id):
                        self._line(line)
                for notice in event.notices:
                    # The same notice is written only once.
                    if notice not in run.hook_notices:
                        run.hook_notices.add(notice)
                        self._print(f"hook: {notice}")

    def _end_request(
        self, event: Complete | RetryScheduled | ErrorEvent | Terminal, run: PromptRun
    ) -> None:
        """Record the duration and the result of one request."""
        if run.asked_at is not None and event.agent_id is None:
            run.api_s += time.monotonic() - run.asked_at
            run.asked_at = None
        if isinstance(event, Complete):
            self._record_response(event, run)

    def _record_response(self, event: Complete, run: PromptRun) -> None:
        run.usages[event.message_uid] = event.usage
        if event.agent_id is None:
            run.stop_reason = event.stop_reason
        if self._partial is not None:
            for line in self._partial.complete(event):
                self._line(line)

    def _report_recovery(self, event: RetryScheduled | ModelFallback | Compacted) -> None:
        if self._format == "stream-json":
            self._line(notice_line(event, self._conversation.view.session_id))
        if isinstance(event, RetryScheduled):
            self._print(
                f"waiting {event.delay_s:.1f} s, then attempt {event.attempt}: {event.reason}"
            )
        elif isinstance(event, ModelFallback):
            self._print(f"switched from {event.from_model} to {event.to_model}: {event.reason}")
        elif event.means == "shortening":
            self._print(event.summary)

    def _message(self, event: MessageCommitted, run: PromptRun) -> None:
        message = event.message
        if event.agent_id is None:
            run.answer.on_message(message)
        if message.role == "assistant":
            for use in message.tool_uses():
                self._inputs[use.id] = (use.name, use.input)
        if self._format != "stream-json" or message.origin not in {"model", "tool"}:
            return
        usage = run.usages.pop(message.uid, None)
        if not message.content:
            return
        results = [
            self._responses.pop(block["tool_use_id"], None)
            for block in message.content
            if block.get("type") == "tool_result"
        ]
        only_result = results[0] if len(results) == 1 else None
        self._line(message_line(event, self._conversation.view.session_id, usage, only_result))

    def _record_decision(self, event: PermissionResolved, run: PromptRun) -> None:
        decision = event.decision
        if decision.behavior is not Behavior.DENY:
            return
        name, tool_input = self._inputs.get(event.tool_use_id, ("", {}))
        run.denials.append(
            {
                "tool_name": name,
                "tool_use_id": event.tool_use_id,
                "tool_input": dict(tool_input),
                "reason": decision.message,
                "source": str(decision.source),
            }
        )
        if event.request_id in run.asked_ids and decision.source not in {
            DecisionSource.HOOK,
            DecisionSource.CLASSIFIER,
            DecisionSource.USER,
            DecisionSource.BRIDGE,
            DecisionSource.CHANNEL,
        }:
            run.denied_without_user = True

    def _see_result(self, event: ToolResult, run: PromptRun) -> None:
        if self._format == "stream-json":
            failure = f"Error: {event.text}" if event.is_error else None
            self._responses[event.tool_use_id] = failure or event.response
        if event.refusal_text:
            self._count_refusal(event, run)

    def _count_refusal(self, event: ToolResult, run: PromptRun) -> None:
        """Count a refusal of the sandbox, which no user could allow, as a denial."""
        name, tool_input = self._inputs.get(event.tool_use_id, (event.name, {}))
        run.denials.append(
            {
                "tool_name": name,
                "tool_use_id": event.tool_use_id,
                "tool_input": dict(tool_input),
                "reason": f"the sandbox refused: {event.refusal_text}",
                "source": str(DecisionSource.SANDBOX),
            }
        )
        run.denied_without_user = True

    def _end(self, run: PromptRun) -> int:
        terminal = run.terminal
        assert terminal is not None, "a run ends with Terminal"
        outcome = outcome_of(
            terminal,
            run.answer.text,
            run.failure,
            denied_without_user=run.denied_without_user,
            exceeded_budget=self._conversation.gate.context.budget_exceeded,
        )
        answer = self._structured_answer(run, outcome)
        if self._format == "text":
            text = outcome.text or run.answer.text
            if answer and outcome.text:
                text = _json(answer["structured_output"])
            if text:
                self._write(text.rstrip("\n"))
            self._explain(run, terminal, outcome)
            return outcome.status
        if outcome.api_error and self._format == "stream-json":
            session_id = self._conversation.view.session_id
            self._line(api_error_line(outcome.text, outcome.api_error, session_id))
        result = self._result(run, outcome) | answer
        result |= {
            "num_turns": terminal.turns,
            "terminal_reason": terminal_reason(terminal, outcome),
        }
        if workflows := self._conversation.workflows.summaries():
            result["workflows"] = [each.json for each in workflows]
        if run.origin is not None:
            result["origin"] = run.origin
        if terminal.detail:
            result["detail"] = terminal.detail
        self._line(result)
        return outcome.status

    def _structured_answer(self, run: PromptRun, outcome: Outcome) -> dict[str, object]:
        """Return the answer as a value, if a schema was given and the answer follows it."""
        if self._answer is None or outcome.is_error:
            return {}
        try:
            return {"structured_output": self._answer.value(run.answer.text)}
        except ValueError:
            return {}

    def _write_command(self, text: str, run: PromptRun, *, has_failed: bool) -> int:
        """Write a command's text instead of an answer; return the exit status."""
        outcome = stop_outcome(text) if has_failed else Outcome(EXIT_COMPLETED, text=text)
        if self._format != "text":
            self._line(self._result(run, outcome))
        elif has_failed:
            self._print(text)
        else:
            self._write(sanitize(text))
        return outcome.status

    def _result(self, run: PromptRun, outcome: Outcome) -> dict[str, object]:
        conversation = self._conversation
        return {
            "type": "result",
            **outcome.fields(),
            "duration_ms": int((time.monotonic() - run.start_time) * 1000),
            "duration_api_ms": int(run.api_s * 1000),
            "num_turns": 0,
            "stop_reason": run.stop_reason,
            "session_id": conversation.view.session_id,
            "total_cost_usd": round(conversation.status.cost_usd, 6),
            "usage": usage_json(run.usage),
            "modelUsage": models_json(conversation),
            "permission_denials": run.denials,
            "uuid": str(uuid.uuid4()),
            **({"user_message_uuid": run.sender_id} if run.sender_id else {}),
        }

    def _explain(self, run: PromptRun, terminal: Terminal, outcome: Outcome) -> None:
        status = outcome.status
        if run.denied_without_user:
            self._explain_denials(run)
        if status == EXIT_LIMIT:
            self._print(f"stopped: {outcome.errors[0]}")
        elif terminal.reason == "invalid_answer":
            self._print(f"stopped: {terminal.detail}")
        elif status == EXIT_REFUSAL:
            self._print(f"refused: {terminal.detail}")
        elif terminal.reason == "stop_hook_prevented":
            if not any(terminal.detail and terminal.detail in text for text in run.notices):
                self._print(f"stopped by a hook: {terminal.detail}")
        elif status == EXIT_INTERRUPTED:
            how = f"; continue with: agent-tui -r {self._conversation.view.session_id}"
            self._print(f"interrupted{how if self._is_stored else ''}")

    def _explain_denials(self, run: PromptRun) -> None:
        for denial in run.denials:
            self._print(f"denied: {denial['tool_name']}: {denial['reason']}")
        self._print("to allow such calls: --allow RULE, or permissions.allow in your settings")

    def _line(self, value: Mapping[str, object]) -> None:
        self._write(_json(value))

    def _write(self, text: str) -> None:
        # Files and pipes get the raw text; a terminal would interpret control sequences, including
        # C1 controls, which JSON may contain.
        text = sanitize(text) if self._stdout.isatty() else text
        try:
            self._stdout.write(text + "\n")
            self._stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            session_id = self._conversation.view.session_id
            hint = f" The conversation is saved: agent-tui sessions show {session_id[:8]}"
            raise OutputError(
                f"The output cannot be written: {error.strerror}.{hint if self._is_stored else ''}"
            ) from error

    def _print(self, text: str) -> None:
        write_message(self._stderr, f"agent-tui: {sanitize(text)}")
        self._stderr.flush()


def write_line(stream: TextIO, value: Mapping[str, object]) -> None:
    """Write a value as one line of JSON."""
    stream.write(_json(value) + "\n")
    stream.flush()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
