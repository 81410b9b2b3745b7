"""Run prompts without a screen: text, JSON or streamed JSON out, an exit status for scripts.

Data goes to standard output, everything else to standard error. Line shapes follow what users of
`-p --output-format stream-json` know. Next: `agent.conversation`.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

from agent.answer import AnswerText
from agent.commands.spec import SKILLS
from agent.conversation import Conversation
from agent.events import (
    AgentEvent,
    ErrorEvent,
    HookFinished,
    MessageCommitted,
    ModelFallback,
    Notice,
    PermissionRequested,
    PermissionResolved,
    RetryScheduled,
    Terminal,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    Usage,
)
from agent.exit_status import (
    EXIT_COMPLETED,
    EXIT_DENIED,
    EXIT_ERROR,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_REFUSAL,
)
from agent.options import OutputFormat
from agent.sanitize import sanitize
from agent.user_prompt import Prompt
from hooks.strict_json import load_json
from permissions.decision import Behavior, DecisionSource

_STATUS: Final = {
    "completed": EXIT_COMPLETED,
    "stop_hook_prevented": EXIT_COMPLETED,
    "max_turns": EXIT_LIMIT,
    "budget_exceeded": EXIT_LIMIT,
    "refusal": EXIT_REFUSAL,
    "error": EXIT_ERROR,
    "prompt_too_long": EXIT_ERROR,
    "aborted_streaming": EXIT_INTERRUPTED,
    "aborted_tools": EXIT_INTERRUPTED,
}
_SUBTYPE: Final = {
    "completed": "success",
    "stop_hook_prevented": "success",
    "refusal": "success",
    "max_turns": "error_max_turns",
    "budget_exceeded": "error_max_budget_usd",
}


@dataclass(slots=True)
class _Run:
    started: float = field(default_factory=time.monotonic)
    answer: AnswerText = field(default_factory=AnswerText)
    denials: list[dict[str, Any]] = field(default_factory=list)
    denied_for_want: bool = False
    asked: set[str] = field(default_factory=set)
    error: str = ""
    notices: list[str] = field(default_factory=list)
    terminal: Terminal | None = None


async def run_start(conversation: Conversation, *, err: TextIO) -> int:
    """Run the hooks of the start and nothing else; return the exit status."""
    say_hooks(await conversation.start(), err)
    return EXIT_COMPLETED


def say_hooks(events: Sequence[AgentEvent], err: TextIO) -> None:
    """Write what hooks had to say outside of a prompt."""
    for event in events:
        if isinstance(event, HookFinished):
            for notice in event.notices:
                err.write(f"agent-tui: hook: {sanitize(notice)}\n")
        elif isinstance(event, Notice):
            err.write(f"agent-tui: {event.level}: {sanitize(event.text)}\n")


class HeadlessOutput:
    """Writes one run's events in the chosen format."""

    def __init__(
        self,
        conversation: Conversation,
        output_format: OutputFormat,
        *,
        out: TextIO,
        err: TextIO,
        partial_messages: bool = False,
    ) -> None:
        """`partial_messages` adds `stream_event` lines to stream-json."""
        self._conversation = conversation
        self._format = output_format
        self._out = out
        self._err = err
        self._partial = partial_messages
        self._usage_before = Usage()
        self._inputs: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def begin(self) -> None:
        """Write the `system`/`init` line of stream-json; other formats write nothing yet."""
        if self._format != "stream-json":
            return
        conversation = self._conversation
        center = conversation.commands
        commands = center.registry.listed() if center is not None else ()
        self._line(
            {
                "type": "system",
                "subtype": "init",
                "session_id": conversation.session_id,
                "cwd": str(conversation.launch_dir),
                "model": conversation.model,
                "permissionMode": str(conversation.mode),
                "tools": list(conversation.tool_names),
                "mcp_servers": [],
                "slash_commands": [command.meta.name for command in commands],
                "skills": [c.meta.name for c in commands if c.meta.source in SKILLS],
                "demo": conversation.is_demo,
            }
        )

    async def run(self, prompt: Prompt) -> int:
        """Run one prompt to its end, write what belongs to it, return its exit status."""
        run = _Run()
        center = self._conversation.commands
        if prompt.text.startswith("/") and center is not None:
            from agent.commands.headless import say_command  # few prompts are commands

            said = await say_command(prompt.text, center)
            if said is not None:
                return self._say_command(said.text, run, failed=said.is_error)
        async for event in self._conversation.run(prompt):
            self._see(event, run)
        return self._end(run)

    def _see(self, event: AgentEvent, run: _Run) -> None:
        if isinstance(event, MessageCommitted):
            self._message(event, run)
        elif isinstance(event, PermissionRequested):
            run.asked.add(event.request_id)
            # A command inside a prompt is asked about without any message of the model.
            self._inputs.setdefault(event.tool_use_id, (event.tool, event.input))
        elif isinstance(event, PermissionResolved):
            self._resolved(event, run)
        elif isinstance(event, Terminal) and event.agent_id is None:
            run.terminal = event
        elif isinstance(event, ErrorEvent):
            run.error = event.message
            self._say(f"error: {event.message}")
        elif isinstance(event, Notice):
            self._say(f"{event.level}: {event.text}")
            run.notices.append(event.text)
        elif isinstance(event, RetryScheduled):
            self._say(
                f"waiting {event.delay_s:.1f} s, then attempt {event.attempt}: {event.reason}"
            )
        elif isinstance(event, ModelFallback):
            self._say(f"switched from {event.from_model} to {event.to_model}: {event.reason}")
        elif isinstance(event, HookFinished):
            for notice in event.notices:
                self._say(f"hook: {notice}")
        elif self._partial and isinstance(event, TextDelta | ThinkingDelta | ToolInputDelta):
            self._partial_line(event)

    def _message(self, event: MessageCommitted, run: _Run) -> None:
        message = event.message
        if event.agent_id is None:
            run.answer.see(message)
        if message.role == "assistant":
            for use in message.tool_uses():
                self._inputs[use.id] = (use.name, use.input)
        if self._format != "stream-json" or message.origin not in {"model", "tool"}:
            return
        wire: dict[str, Any] = dict(message.to_wire())
        if message.role == "assistant":
            wire |= {
                "id": message.api_id or message.uid,
                "type": "message",
                "model": message.model,
                "stop_reason": message.stop_reason,
            }
        self._line(
            {
                "type": message.role,
                "message": wire,
                "parent_tool_use_id": event.agent_id,
                "session_id": self._conversation.session_id,
                "uuid": message.uid,
            }
        )

    def _resolved(self, event: PermissionResolved, run: _Run) -> None:
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
        if event.request_id in run.asked and decision.source not in {
            DecisionSource.HOOK,
            DecisionSource.CLASSIFIER,
            DecisionSource.USER,
            DecisionSource.BRIDGE,
            DecisionSource.CHANNEL,
        }:
            run.denied_for_want = True

    def _partial_line(self, event: TextDelta | ThinkingDelta | ToolInputDelta) -> None:
        delta: dict[str, Any]
        if isinstance(event, TextDelta):
            delta = {"type": "text_delta", "text": event.text}
            index = event.block_index
        elif isinstance(event, ThinkingDelta):
            delta = {"type": "thinking_delta", "thinking": event.text}
            index = event.block_index
        else:
            delta = {"type": "input_json_delta", "partial_json": event.partial_json}
            index = 0
        self._line(
            {
                "type": "stream_event",
                "event": {"type": "content_block_delta", "index": index, "delta": delta},
                "parent_tool_use_id": event.agent_id,
                "session_id": self._conversation.session_id,
            }
        )

    def _end(self, run: _Run) -> int:
        terminal = run.terminal
        assert terminal is not None, "a run ends with Terminal"
        status = _STATUS[terminal.reason]
        if status == EXIT_COMPLETED and run.denied_for_want:
            status = EXIT_DENIED
        failed = status in {EXIT_ERROR, EXIT_LIMIT, EXIT_INTERRUPTED}
        if self._format == "text":
            if run.answer.text:
                # A file or a pipe gets the answer as it is; a terminal would obey it.
                answer = sanitize(run.answer.text) if self._out.isatty() else run.answer.text
                self._out.write(answer.rstrip("\n") + "\n")
                self._out.flush()
            self._explain(run, terminal, status)
            return status
        result = self._result(
            run, _SUBTYPE.get(terminal.reason, "error_during_execution"), failed=failed
        ) | {"num_turns": terminal.turns, "stop_reason": terminal.reason}
        if terminal.detail:
            result["detail"] = terminal.detail
        self._line(result)
        return status

    def _say_command(self, text: str, run: _Run, *, failed: bool) -> int:
        """Write what a command said in place of an answer; return the exit status."""
        if self._format != "text":
            run.answer.text = text
            subtype = "error_during_execution" if failed else "success"
            self._line(self._result(run, subtype, failed=failed))
        elif failed:
            self._say(text)
        else:
            self._out.write(sanitize(text) + "\n")
            self._out.flush()
        return EXIT_ERROR if failed else EXIT_COMPLETED

    def _result(self, run: _Run, subtype: str, *, failed: bool) -> dict[str, Any]:
        conversation = self._conversation
        usage = conversation.usage
        return {
            "type": "result",
            "subtype": subtype,
            "is_error": failed,
            "duration_ms": int((time.monotonic() - run.started) * 1000),
            "num_turns": 0,
            "result": run.answer.text if not run.error else run.error,
            "session_id": conversation.session_id,
            "total_cost_usd": round(conversation.cost_usd, 6),
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cache_read_input_tokens": usage.cache_read_tokens,
                "cache_creation_input_tokens": usage.cache_write_5m_tokens
                + usage.cache_write_1h_tokens,
            },
            "permission_denials": run.denials,
        }

    def _explain(self, run: _Run, terminal: Terminal, status: int) -> None:
        if run.denied_for_want:
            for denial in run.denials:
                self._say(f"denied: {denial['tool_name']}: {denial['reason']}")
            self._say("to allow such calls: --allow RULE, or permissions.allow in your settings")
        if status == EXIT_LIMIT:
            self._say(f"stopped: {terminal.detail or terminal.reason}")
        elif status == EXIT_REFUSAL:
            self._say(f"refused: {terminal.detail}")
        elif terminal.reason == "stop_hook_prevented":
            if not any(terminal.detail and terminal.detail in text for text in run.notices):
                self._say(f"stopped by a hook: {terminal.detail}")
        elif status == EXIT_INTERRUPTED:
            self._say(f"interrupted; continue with: agent-tui -r {self._conversation.session_id}")

    def _line(self, value: Mapping[str, Any]) -> None:
        self._out.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
        self._out.flush()

    def _say(self, text: str) -> None:
        self._err.write(f"agent-tui: {sanitize(text)}\n")
        self._err.flush()


async def run_headless(
    conversation: Conversation,
    prompts: AsyncIterator[Prompt],
    output_format: OutputFormat,
    *,
    out: TextIO,
    err: TextIO,
    partial_messages: bool = False,
    interrupted: Callable[[], int | None] = lambda: None,
) -> int:
    """Run the prompts one after the other; return the first status that is not 0, else 0.

    `interrupted` returns the exit status of a signal that arrived, or None.
    """
    output = HeadlessOutput(
        conversation, output_format, out=out, err=err, partial_messages=partial_messages
    )
    if output_format == "stream-json" and conversation.commands is not None:
        # The first line names the commands of files.
        await conversation.commands.ready()
    output.begin()
    status = EXIT_COMPLETED
    async for prompt in prompts:
        one = await output.run(prompt)
        by_signal = interrupted()
        if by_signal is not None:
            return by_signal
        status = status or one
        if one in {EXIT_ERROR, EXIT_INTERRUPTED}:
            break
    return status


def prompt_from_json_line(line: str) -> Prompt:
    """Return the prompt of one stream-json input line.

    Raises:
        ValueError: the line is not a user message; the text says what is expected.
    """
    expected = 'expected {"type": "user", "message": {"role": "user", "content": …}}'
    try:
        value = load_json(line)
    except ValueError as error:
        raise ValueError(f"not JSON ({error}); {expected}") from error
    message = value.get("message") if isinstance(value, dict) else None
    if not isinstance(message, dict) or value.get("type") != "user":
        raise ValueError(f"not a user message; {expected}")
    content = message.get("content")
    if isinstance(content, str):
        return Prompt(content)
    if isinstance(content, list) and all(isinstance(block, dict) for block in content):
        text = "".join(str(b.get("text", "")) for b in content if b.get("type") == "text")
        rest = tuple(b for b in content if b.get("type") in {"image", "document"})
        return Prompt(text, blocks=rest)
    raise ValueError(f"its content is neither text nor blocks; {expected}")
