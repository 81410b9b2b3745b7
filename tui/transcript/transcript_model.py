"""Applies agent events to frozen view data: pure, independent of clock, terminal and Textual.

`TranscriptModel.apply` is total (any event in any order) and deterministic: the same events at the
same times give the same blocks. Times are passed as numbers. Source: streaming-and-events, "The
Output Rendering Model".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, assert_never

from msgspec.structs import replace

from agent.display import TodoDisplay, TodoItem
from agent.files.image_mentions import pasted_images
from agent.messages import Message
from agent.prompt.shell_command_note import as_typed
from permissions.base.text.sanitize import Sanitizer, sanitize
from tui.text.safe_text import shown_display, shown_line, shown_prompt
from tui.transcript.block_list import BlockList
from tui.transcript.blocks import (
    Activity,
    AssistantText,
    Block,
    CompactionLine,
    EndLine,
    ErrorBlock,
    Figures,
    HookLine,
    NoticeLine,
    Phase,
    PromptKind,
    RetryCountdown,
    ThinkingText,
    ToolCard,
    UserMessage,
)
from tui.transcript.subagent_cards import SubagentCards
from tui.transcript.tool_cards import ToolCards
from tui.transcript.turn_facts import TurnFacts

if TYPE_CHECKING:
    # Creating the event classes takes longer than a frame, and the first frame needs none.
    from agent.events import (
        AgentEvent,
        Compacted,
        HookFinished,
        HookStarted,
        RetryScheduled,
        Terminal,
        TextDelta,
        ThinkingDelta,
        ToolResult,
        UsageUpdate,
    )
    from permissions.decision import Decision
    from tui.transcript.streaming_answer import StreamingAnswer

_CHARS_PER_TOKEN: Final = 4
_HOOK_UNNAMED_S: Final = 1.0
_QUIET_ENDS: Final = frozenset({"completed", "error", "prompt_too_long"})
"""Reasons for an end that need no line: completed, or reported by an `ErrorEvent` before."""


class TranscriptModel:
    """The transcript as data. Blocks are frozen: a changed block is replaced by another object."""

    def __init__(self, directory: str = "", home: str = "") -> None:
        """Start empty; `home` is shown as `~`."""
        self._home = home
        self.activity = Activity()
        self.figures = Figures()
        self.todos: tuple[TodoItem, ...] = ()
        self.last_answer = ""
        """Text of the latest finished answer; empty before the first."""
        self.directory = directory
        """The conversation's working directory; paths are shown relative to it."""
        self._list = BlockList()
        self._agents = SubagentCards(self._list)
        self._calls = ToolCards(self._list)
        self._pending_prompts: list[str] = []
        self._answers: dict[str, StreamingAnswer] = {}
        self._cleaners: dict[str, Sanitizer] = {}
        self._finished_tokens = 0
        self._facts = TurnFacts()
        self._last_end: tuple[str, float, float] | None = None
        """Key of the line at the last turn's end, and the numbers in its text."""

    @property
    def blocks(self) -> list[Block]:
        """The transcript from top to bottom."""
        return self._list.blocks

    def take_first_changed(self) -> int | None:
        """Return the index of the first block changed since the last call; None if none was."""
        return self._list.take_first_changed()

    def add_prompt(self, text: str, *, kind: PromptKind = "prompt", at_s: float) -> None:
        """Show a message of the user before the conversation has committed it."""
        key = self._list.fresh_key("prompt")
        if kind == "prompt":
            self._pending_prompts.append(key)
        if as_typed(text) == text:
            self._list.append(UserMessage(key, shown_prompt(text), kind, pasted_images(text)))
        if kind == "prompt":
            self._finished_tokens = 0
            self._facts = TurnFacts(self.figures.cost_usd)
            self._last_end = None
            self.activity = Activity("requesting", at_s)

    def add_notice(self, level: str, text: str) -> None:
        """Add a message of the program."""
        match level:
            case "warning" | "error":
                self._list.append(NoticeLine(self._list.fresh_key("notice"), level, text))
            case _:
                self._list.append(NoticeLine(self._list.fresh_key("notice"), "info", text))

    def is_asking(self, tool_use_id: str) -> bool:
        """Whether a call waits for the user."""
        card = self._list.get(tool_use_id)
        return isinstance(card, ToolCard) and card.state == "asking"

    def clear(self) -> None:
        """Remove all blocks and reset the context's size; other figures and todos stay."""
        self.figures = replace(self.figures, context_tokens=0)
        self._list.clear()
        self._answers.clear()
        self._pending_prompts.clear()

    def start_over(self) -> None:
        """Reset everything, because another conversation replaces this one."""
        self.clear()
        self.figures = Figures()
        self.todos = ()
        self.last_answer = ""

    def stop(self) -> None:
        """End all activity, because the turn has ended, with or without a `Terminal` event."""
        self.activity = Activity()
        self._cleaners.clear()
        self._calls.stop()
        for answer in self._answers.values():
            answer.finish()
        self._answers.clear()
        self._pending_prompts.clear()
        for position, block in enumerate(self.blocks):
            match block:
                case AssistantText() | ThinkingText() if block.is_streaming:
                    self._list.put(position, replace(block, is_streaming=False))
                case ToolCard(state="writing" | "running" | "asking"):
                    self._list.put(position, replace(block, state="interrupted"))
                case _:
                    pass

    def take_added_before(self) -> int:
        """Return the number of blocks that were added at the front since the last call."""
        return self._list.take_added_before()

    def add_past(self, older: BlockList, last_answer: str = "") -> None:
        """Add earlier blocks at the front."""
        self._list.add_before(older)
        self.last_answer = self.last_answer or last_answer

    def restore(self, messages: Iterable[Message]) -> None:
        """Show the messages of a resumed conversation."""
        for message in messages:
            self._commit(message, at_s=0.0)
        self.activity = Activity()

    def apply(self, event: AgentEvent, *, at_s: float) -> None:
        """Apply an event; `at_s` is the time of the screen's monotonic clock."""
        if waited_s := self._facts.end_wait(event, at_s):
            # The displayed time excludes waits for the user.
            started_at_s = self.activity.started_at_s + waited_s
            self.activity = replace(self.activity, started_at_s=started_at_s)
        # Failures of sub-agents' hooks are shown, too: a hook may protect something.
        if event.agent_id is not None and event.type != "hook_finished":
            self._agents.apply(event, event.agent_id)
            return
        match event.type:
            case "request_start":
                self.figures = replace(self.figures, model=event.model)
                self._set_phase("requesting", at_s)
            case "text_delta":
                self._set_phase("writing", at_s, more_chars=len(event.text))
                self._grow_text(event)
            case "thinking_delta":
                self._set_phase("thinking", at_s, more_chars=len(event.text))
                self._grow_thinking(event)
            case "tool_input_delta":
                self._set_phase("writing", at_s, more_chars=len(event.partial_json))
                self._calls.begin(event, at_s)
            case "tool_dispatch":
                self._set_phase("tools", at_s, detail=shown_line(event.identifier))
                self._calls.dispatch(event, at_s)
            case "tool_progress":
                self._calls.grow_output(event)
            case "tool_result":
                self._finish(event, at_s)
            case "permission_requested":
                self._set_phase("asking", at_s)
                self._calls.ask(event)
            case "permission_resolved":
                self._set_phase("tools", at_s)
                self._calls.resolve(event, self.reason_of)
            case "hook_started":
                self._start_hook(event, at_s)
            case "hook_finished":
                self._finish_hook(event)
            case "usage_update":
                self._count_usage(event)
            case "retry_scheduled":
                self._schedule_retry(event, at_s)
            case "model_fallback":
                reason = shown_line(event.reason)
                text = f"{event.to_model} is used instead of {event.from_model}: {reason}"
                self.add_notice("warning", text)
                self.figures = replace(self.figures, model=event.to_model)
            case "compacted":
                self._add_compaction(event)
            case "tombstone":
                self._list.forget_message(event.message_uid)
            case "notice":
                self.add_notice(event.level, sanitize(event.text))
            case "message_committed":
                self._commit(event.message, at_s)
            case "complete":
                self._finish_message(event.message_uid)
                if event.stop_reason == "max_tokens":
                    self.add_notice("info", "The answer reached the model's output limit here.")
            case "error":
                key = self._list.fresh_key("error")
                text = sanitize(event.message)
                self._list.append(ErrorBlock(key, event.kind, text, event.request_id))
            case "terminal":
                self._end(event, at_s)
            case _:
                assert_never(event)

    # Progress of the turn

    def _start_hook(self, event: HookStarted, at_s: float) -> None:
        if event.status_message:
            words, from_s = shown_line(event.status_message), at_s
        else:
            words, from_s = f"Running {event.event} hooks", at_s + _HOOK_UNNAMED_S
        self.activity = replace(self.activity, hook=words, hook_shown_from_s=from_s)

    def _finish_hook(self, event: HookFinished) -> None:
        self.activity = replace(self.activity, hook="", hook_shown_from_s=0.0)
        if event.notices:
            key = self._list.fresh_key("hook")
            notices = tuple(sanitize(text) for text in event.notices)
            self._list.append(HookLine(key, event.event, event.outcome, notices))

    def _count_usage(self, event: UsageUpdate) -> None:
        self._finished_tokens += event.usage.output_tokens
        self.activity = replace(self.activity, output_tokens=self._finished_tokens)
        self.figures = replace(
            self.figures,
            session_usage=event.session_usage,
            cost_usd=event.session_cost_usd,
            context_tokens=event.context_tokens,
            context_window=event.context_window,
        )

    def _schedule_retry(self, event: RetryScheduled, at_s: float) -> None:
        due_s, reason = at_s + event.delay_s, shown_line(event.reason)
        self._set_phase("retrying", at_s)
        countdown = RetryCountdown(event.attempt, event.max_attempts, due_s, reason)
        self.activity = replace(self.activity, retry=countdown)

    def _add_compaction(self, event: Compacted) -> None:
        self._list.append(
            CompactionLine(
                self._list.fresh_key("compaction"),
                event.trigger,
                event.tokens_before,
                event.tokens_after,
                sanitize(event.summary),
                event.kept_count,
                event.means,
            )
        )
        self.figures = replace(self.figures, context_tokens=event.tokens_after)

    def _end(self, event: Terminal, at_s: float) -> None:
        is_working, elapsed_s = self.activity.is_working, at_s - self.activity.started_at_s
        self.stop()
        if event.reason == "completed":
            line = self._end_line(self._list.fresh_key("end"), elapsed_s, self.figures.cost_usd)
            if is_working and line.detail:
                self._list.append(line)
                self._last_end = (line.key, elapsed_s, self.figures.cost_usd)
        elif event.reason not in _QUIET_ENDS and not event.is_refused:
            detail = shown_line(event.detail)
            self._list.append(EndLine(self._list.fresh_key("end"), event.reason, detail))

    def _end_line(self, key: str, elapsed_s: float, cost_usd: float) -> EndLine:
        text = self._facts.text(elapsed_s, cost_usd)
        return EndLine(key, "completed", text, self._facts.has_changes)

    def take_back(self, tool_use_ids: Iterable[str]) -> None:
        """Do not count changes that the user undid, also after their turn has ended."""
        if self._facts.take_back(tool_use_ids) and self._last_end is not None:
            line = self._end_line(*self._last_end)
            if line.detail:
                self._list.replace(line)
            else:
                self._list.remove({line.key})
                self._last_end = None

    # Streaming text

    def _grow_text(self, event: TextDelta) -> None:
        key = f"{event.message_uid}:{event.block_index}"
        block = self._list.get(key)
        text = self._clean_text(key, event.text)
        if block is None:
            from tui.transcript.streaming_answer import (
                StreamingAnswer,  # with the first answer, not the first frame
            )

            self._answers[key] = StreamingAnswer(self._list, event.message_uid, key)
        if (answer := self._answers.get(key)) is not None:
            answer.grow(text)
        elif isinstance(block, AssistantText):
            self._list.replace(replace(block, text=block.text + text))

    def _grow_thinking(self, event: ThinkingDelta) -> None:
        key = f"{event.message_uid}:{event.block_index}"
        block = self._list.get(key)
        text = self._clean_text(key, event.text)
        if isinstance(block, ThinkingText):
            self._list.replace(replace(block, text=block.text + text))
        elif block is None:
            self._list.remember(event.message_uid, key)
            self._list.append(ThinkingText(key, text, is_streaming=True))

    def _clean_text(self, key: str, text: str) -> str:
        """Return the sanitized text; a control sequence may span several deltas."""
        return self._cleaners.setdefault(key, Sanitizer()).feed(text)

    def _finish_message(self, uid: str) -> None:
        for key in self._list.keys_of(uid):
            self._cleaners.pop(key, None)
            if (answer := self._answers.pop(key, None)) is not None:
                answer.finish()
                self.last_answer = answer.whole
            block = self._list.get(key)
            if isinstance(block, ThinkingText) and block.is_streaming:
                self._list.replace(replace(block, is_streaming=False))

    # Committed messages

    def _commit(self, message: Message, at_s: float) -> None:
        # Imported with the first message, not with the first frame.
        from tui.transcript.committed_messages import (
            name_calls,
            show_answer,
            show_results,
            show_user_message,
        )

        match message.origin:
            case "person":
                if self._pending_prompts:
                    self._pending_prompts.pop(0)
                else:
                    show_user_message(self._list, message)
            case "model":
                if not self._list.knows_message(message.uid):
                    text = show_answer(self._list, message, at_s, self.directory)
                    self.last_answer = text or self.last_answer
                name_calls(self._list, message, self.directory)
                self._finish_message(message.uid)
            case "tool":
                show_results(self._list, message)
            case "reminder" | "interruption" | "continuation" | "hook" | "summary":
                pass

    # Tool calls

    def _finish(self, event: ToolResult, at_s: float) -> None:
        if not self._calls.finish(event, at_s):
            return
        if event.outcome != "denied":
            self._facts.take(event.display, event.tool_use_id)
        if isinstance(event.display, TodoDisplay):
            display = shown_display(event.display)
            self.todos = display.items if isinstance(display, TodoDisplay) else ()

    def reason_of(self, decision: Decision) -> str:
        """Return the reason of a decision, with files of rules as relative paths."""
        from permissions.explain.explain_decision import (  # with the first denial by a rule
            place_relative,
            reason_text,
        )

        return reason_text(decision, place_relative(self.directory, self._home))

    def _set_phase(
        self, phase: Phase, at_s: float, *, detail: str = "", more_chars: int = 0
    ) -> None:
        activity = self.activity
        tokens = activity.output_tokens
        if more_chars:
            tokens += max(1, more_chars // _CHARS_PER_TOKEN)
        started_at_s = activity.started_at_s if activity.is_working else at_s
        if not activity.is_working:
            self._finished_tokens = 0
        self.activity = Activity(phase, started_at_s, tokens, detail)
