"""Fold agent events into frozen view data: pure, without a clock, a terminal or a toolkit.

`Document.apply` is total (any event in any order) and deterministic: the same events at the same
times give the same blocks. Time comes in as a number. Source: streaming-and-events, "The Output
Rendering Model".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, assert_never

from agent.display import TodoDisplay, TodoItem
from agent.messages import Message
from agent.sanitize import Sanitizer, sanitize
from tui.shown import shown_display, shown_line
from tui.view import (
    Activity,
    AgentActivity,
    AssistantText,
    Block,
    CompactionLine,
    EndLine,
    ErrorBlock,
    Figures,
    HookLine,
    NoticeLine,
    PersonMessage,
    Phase,
    PromptKind,
    RetryCountdown,
    ThinkingText,
    ToolCard,
)

if TYPE_CHECKING:
    # To make the events' classes takes longer than a frame, and the first frame shows none.
    from agent.events import (
        AgentEvent,
        PermissionResolved,
        TextDelta,
        ThinkingDelta,
        ToolDispatch,
        ToolProgress,
        ToolResult,
    )

LIVE_OUTPUT_CHARS: Final = 16_000
"""How much of a running call's output is kept for the screen; the result has the rest."""

SHELL_NOTE: Final = "<bash-input>"
"""How a message begins that tells the model of a command the person ran."""

_AGENT_TOOLS: Final = frozenset({"Agent", "Task"})
_CHARS_PER_TOKEN: Final = 4
_QUIET_ENDS: Final = frozenset({"completed", "error", "prompt_too_long"})
"""Ends that need no line: done, or told by the `ErrorEvent` before them."""


class Document:
    """The transcript as data. Blocks are frozen; a changed block is another object in its place."""

    def __init__(self) -> None:
        """Start empty."""
        self.blocks: list[Block] = []
        self.activity = Activity()
        self.figures = Figures()
        self.todos: tuple[TodoItem, ...] = ()
        self.last_answer = ""
        """Text of the latest finished answer; empty before the first."""
        self._index: dict[str, int] = {}
        self._uids: dict[str, list[str]] = {}
        self._pending_prompts: list[str] = []
        self._agents: dict[str, str] = {}
        self._cleaners: dict[str, Sanitizer] = {}
        self._counter = 0
        self._finished_tokens = 0
        self._first_changed: int | None = None

    def take_first_changed(self) -> int | None:
        """Return the index from which blocks differ since the last call; None if none does."""
        first, self._first_changed = self._first_changed, None
        return first

    def add_prompt(self, text: str, *, kind: PromptKind = "prompt", at_s: float) -> None:
        """Show what the person sent before the conversation has confirmed it."""
        key = self._fresh_key("prompt")
        if kind == "prompt":
            self._pending_prompts.append(key)
        if not text.startswith(SHELL_NOTE):
            self._append(PersonMessage(key, sanitize(text), kind))
        if kind == "prompt":
            self._finished_tokens = 0
            self.activity = Activity("requesting", at_s)

    def add_notice(self, level: str, text: str) -> None:
        """Add a line of the screen's own."""
        match level:
            case "warning" | "error":
                self._append(NoticeLine(self._fresh_key("notice"), level, text))
            case _:
                self._append(NoticeLine(self._fresh_key("notice"), "info", text))

    def is_asking(self, tool_use_id: str) -> bool:
        """Whether a call waits for the person."""
        card = self._block(tool_use_id)
        return isinstance(card, ToolCard) and card.state == "asking"

    def clear(self) -> None:
        """Forget every block; figures and todos stay."""
        self.blocks.clear()
        self._index.clear()
        self._uids.clear()
        self._pending_prompts.clear()
        self._agents.clear()
        self._first_changed = 0

    def start_over(self) -> None:
        """Forget all of this conversation: another one takes its place."""
        self.clear()
        self.figures = Figures()
        self.todos = ()
        self.last_answer = ""

    def stop(self) -> None:
        """The run has ended, with or without its `Terminal`: nothing moves any more."""
        self.activity = Activity()
        self._cleaners.clear()
        self._pending_prompts.clear()
        for position, block in enumerate(self.blocks):
            match block:
                case AssistantText() | ThinkingText() if block.is_streaming:
                    self._put(position, replace(block, is_streaming=False))
                case ToolCard(state="writing" | "running" | "asking"):
                    self._put(position, replace(block, state="interrupted"))
                case _:
                    pass

    def restore(self, messages: Iterable[Message]) -> None:
        """Show the messages of a resumed conversation."""
        for message in messages:
            self._commit(message, at_s=0.0)
        self.activity = Activity()

    def apply(self, event: AgentEvent, *, at_s: float) -> None:
        """Fold one event in; `at_s` is the reading of the screen's monotonic clock."""
        if event.agent_id is not None:
            self._apply_to_agent(event, event.agent_id)
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
                self._remember(event.message_uid, event.tool_use_id)
                if event.tool_use_id not in self._index:
                    name = shown_line(event.name)
                    self._append(ToolCard(event.tool_use_id, name, name, "writing", {}, at_s))
            case "tool_dispatch":
                self._set_phase("tools", at_s, detail=shown_line(event.identifier))
                self._dispatch(event, at_s)
            case "tool_progress":
                self._grow_output(event)
            case "tool_result":
                self._finish(event, at_s)
            case "permission_requested":
                self._set_phase("asking", at_s)
                display = shown_display(event.display)
                self._update_card(event.tool_use_id, state="asking", display=display)
            case "permission_resolved":
                self._set_phase("tools", at_s)
                self._resolve(event)
            case "hook_started":
                if event.status_message:
                    self._set_phase("hooks", at_s, detail=shown_line(event.status_message))
            case "hook_finished":
                if event.notices:
                    key = self._fresh_key("hook")
                    notices = tuple(sanitize(text) for text in event.notices)
                    self._append(HookLine(key, event.event, event.outcome, notices))
            case "usage_update":
                self._finished_tokens += event.usage.output_tokens
                self.activity = replace(self.activity, output_tokens=self._finished_tokens)
                self.figures = replace(
                    self.figures,
                    session_usage=event.session_usage,
                    cost_usd=event.session_cost_usd,
                    context_tokens=event.context_tokens,
                    context_window=event.context_window,
                )
            case "retry_scheduled":
                countdown = RetryCountdown(
                    event.attempt,
                    event.max_attempts,
                    at_s + event.delay_s,
                    shown_line(event.reason),
                )
                self._set_phase("retrying", at_s)
                self.activity = replace(self.activity, retry=countdown)
            case "model_fallback":
                reason = shown_line(event.reason)
                text = f"{event.to_model} takes over from {event.from_model}: {reason}"
                self._append(NoticeLine(self._fresh_key("notice"), "warning", text))
                self.figures = replace(self.figures, model=event.to_model)
            case "compacted":
                self._append(
                    CompactionLine(
                        self._fresh_key("compaction"),
                        event.trigger,
                        event.tokens_before,
                        event.tokens_after,
                        sanitize(event.summary),
                    )
                )
            case "tombstone":
                self._withdraw(event.message_uid)
            case "notice":
                self._append(
                    NoticeLine(self._fresh_key("notice"), event.level, sanitize(event.text))
                )
            case "message_committed":
                self._commit(event.message, at_s)
            case "complete":
                self._settle(event.message_uid)
            case "error":
                key = self._fresh_key("error")
                self._append(ErrorBlock(key, event.kind, sanitize(event.message), event.request_id))
            case "terminal":
                self.stop()
                if event.reason not in _QUIET_ENDS:
                    self._append(
                        EndLine(self._fresh_key("end"), event.reason, shown_line(event.detail))
                    )
            case _:
                assert_never(event)

    # Streaming text

    def _grow_text(self, event: TextDelta) -> None:
        key = f"{event.message_uid}:{event.block_index}"
        block = self._block(key)
        text = self._cleaned(key, event.text)
        if isinstance(block, AssistantText):
            self._replace(replace(block, text=block.text + text))
        elif block is None:
            self._remember(event.message_uid, key)
            self._append(AssistantText(key, text, is_streaming=True))

    def _grow_thinking(self, event: ThinkingDelta) -> None:
        key = f"{event.message_uid}:{event.block_index}"
        block = self._block(key)
        text = self._cleaned(key, event.text)
        if isinstance(block, ThinkingText):
            self._replace(replace(block, text=block.text + text))
        elif block is None:
            self._remember(event.message_uid, key)
            self._append(ThinkingText(key, text, is_streaming=True))

    def _cleaned(self, key: str, text: str) -> str:
        """Return the text as it may be shown; a control sequence may span several deltas."""
        return self._cleaners.setdefault(key, Sanitizer()).feed(text)

    def _settle(self, uid: str) -> None:
        for key in self._uids.get(uid, ()):
            self._cleaners.pop(key, None)
            block = self._block(key)
            if isinstance(block, AssistantText | ThinkingText) and block.is_streaming:
                self._replace(replace(block, is_streaming=False))
                if isinstance(block, AssistantText):
                    self.last_answer = block.text

    def _withdraw(self, uid: str) -> None:
        gone = set(self._uids.pop(uid, ()))
        positions = sorted(self._index[key] for key in gone if key in self._index)
        if not positions:
            return
        self.blocks = [block for block in self.blocks if block.key not in gone]
        self._index = {block.key: position for position, block in enumerate(self.blocks)}
        self._mark(positions[0])

    # Committed messages: confirm what streamed, or show what was never seen (resume, no streaming)

    def _commit(self, message: Message, at_s: float) -> None:
        match message.origin:
            case "person":
                if self._pending_prompts:
                    self._pending_prompts.pop(0)
                elif message.text.strip():
                    self._append(_person_message(self._unseen(message.uid), message.text))
            case "model":
                if message.uid not in self._uids:
                    self._show_message(message, at_s)
                self._name_calls(message)
                self._settle(message.uid)
            case "tool":
                self._show_results(message)
            case "reminder" | "interruption" | "continuation" | "hook" | "summary":
                pass

    def _show_message(self, message: Message, at_s: float) -> None:
        for position, part in enumerate(message.content):
            key = f"{message.uid}:{position}"
            match part.get("type"):
                case "text" if str(part.get("text", "")).strip() and key not in self._index:
                    self._remember(message.uid, key)
                    text = sanitize(str(part["text"]))
                    self._append(AssistantText(key, text, is_streaming=False))
                    self.last_answer = text
                case "thinking" if part.get("thinking") and key not in self._index:
                    self._remember(message.uid, key)
                    text = sanitize(str(part["thinking"]))
                    self._append(ThinkingText(key, text, is_streaming=False))
                case "tool_use" if str(part.get("id")) not in self._index:
                    tool_use_id, name = str(part.get("id")), str(part.get("name"))
                    self._remember(message.uid, tool_use_id)
                    tool_input = part.get("input")
                    raw: dict[str, Any] = tool_input if isinstance(tool_input, dict) else {}
                    identifier = shown_line(_identifier(name, raw))
                    self._append(ToolCard(tool_use_id, name, identifier, "running", raw, at_s))
                case _:
                    pass

    def _name_calls(self, message: Message) -> None:
        """Say on the cards of calls that wait for their turn, or never get one, what they are."""
        for part in message.content:
            card = self._block(str(part.get("id")))
            tool_input = part.get("input")
            waits = isinstance(card, ToolCard) and card.state == "writing"
            if isinstance(card, ToolCard) and waits and isinstance(tool_input, dict):
                identifier = shown_line(_identifier(card.name, tool_input))
                self._replace(replace(card, identifier=identifier, input=tool_input))

    def _show_results(self, message: Message) -> None:
        for part in message.content:
            if part.get("type") != "tool_result":
                continue
            card = self._block(str(part.get("tool_use_id")))
            if isinstance(card, ToolCard) and card.state in ("writing", "running", "asking"):
                state = "failed" if part.get("is_error") else "ok"
                text = sanitize(_result_text(part.get("content")))
                self._replace(
                    replace(card, state="failed" if state == "failed" else "ok", result=text)
                )

    # Tool calls

    def _dispatch(self, event: ToolDispatch, at_s: float) -> None:
        identifier = shown_line(event.identifier)
        card = ToolCard(event.tool_use_id, event.name, identifier, "running", event.input, at_s)
        if isinstance(self._block(event.tool_use_id), ToolCard):
            self._replace(card)
        else:
            self._append_if_new(card)

    def _grow_output(self, event: ToolProgress) -> None:
        card = self._block(event.tool_use_id)
        if not isinstance(card, ToolCard):
            return
        output = card.output + self._cleaned(event.tool_use_id, event.text)
        dropped = card.dropped_lines
        if len(output) > LIVE_OUTPUT_CHARS:
            cut = output.rfind("\n", 0, len(output) - LIVE_OUTPUT_CHARS // 2) + 1
            cut = cut or len(output) - LIVE_OUTPUT_CHARS // 2
            dropped += output.count("\n", 0, cut)
            output = output[cut:]
        self._replace(replace(card, output=output, dropped_lines=dropped))

    def _finish(self, event: ToolResult, at_s: float) -> None:
        card = self._block(event.tool_use_id)
        if not isinstance(card, ToolCard):
            identifier = shown_line(event.identifier or event.name)
            card = ToolCard(event.tool_use_id, event.name, identifier, "running", {}, at_s)
            if not self._append_if_new(card):
                return
        self._cleaners.pop(event.tool_use_id, None)
        preview = card.display if event.outcome == "denied" else None
        self._replace(
            replace(
                card,
                identifier=shown_line(event.identifier) or card.identifier,
                state=event.outcome,
                result=sanitize(event.text),
                display=shown_display(event.display) or preview,
                elapsed_s=event.elapsed_s,
            )
        )
        if isinstance(event.display, TodoDisplay):
            shown = shown_display(event.display)
            self.todos = shown.items if isinstance(shown, TodoDisplay) else ()

    def _resolve(self, event: PermissionResolved) -> None:
        card = self._block(event.tool_use_id)
        if isinstance(card, ToolCard):
            state = "running" if card.state == "asking" else card.state
            self._replace(replace(card, decision=event.decision, state=state))

    def _update_card(self, tool_use_id: str, **changes: Any) -> None:
        card = self._block(tool_use_id)
        if isinstance(card, ToolCard):
            self._replace(replace(card, **changes))

    # Sub-agents: their work is summed up on the card of the call that started them

    def _apply_to_agent(self, event: AgentEvent, agent_id: str) -> None:
        card = self._agent_card(agent_id)
        if card is None:
            return
        agent = card.agent or AgentActivity(agent_id)
        match event.type:
            case "tool_dispatch":
                agent = replace(
                    agent, tool_count=agent.tool_count + 1, last_line=shown_line(event.identifier)
                )
            case "usage_update":
                agent = replace(
                    agent, output_tokens=agent.output_tokens + event.usage.output_tokens
                )
            case "notice":
                agent = replace(agent, last_line=shown_line(event.text))
            case "error":
                agent = replace(agent, last_line=shown_line(event.message))
            case _:
                if card.agent is not None:
                    return
        self._replace(replace(card, agent=agent))

    def _agent_card(self, agent_id: str) -> ToolCard | None:
        bound = self._agents.get(agent_id)
        if bound is not None:
            block = self._block(bound)
            return block if isinstance(block, ToolCard) else None
        for block in self.blocks:
            if (
                isinstance(block, ToolCard)
                and block.name in _AGENT_TOOLS
                and block.state in ("running", "asking")
                and block.key not in self._agents.values()
            ):
                self._agents[agent_id] = block.key
                return block
        return None

    # The list of blocks

    def _block(self, key: str) -> Block | None:
        position = self._index.get(key)
        return None if position is None else self.blocks[position]

    def _append(self, block: Block) -> None:
        self._index[block.key] = len(self.blocks)
        self.blocks.append(block)
        self._mark(len(self.blocks) - 1)

    def _append_if_new(self, block: Block) -> bool:
        if block.key in self._index:
            return False
        self._append(block)
        return True

    def _replace(self, block: Block) -> None:
        self._put(self._index[block.key], block)

    def _put(self, position: int, block: Block) -> None:
        self.blocks[position] = block
        self._mark(position)

    def _mark(self, position: int) -> None:
        if self._first_changed is None or position < self._first_changed:
            self._first_changed = position

    def _remember(self, uid: str, key: str) -> None:
        keys = self._uids.setdefault(uid, [])
        if key not in keys:
            keys.append(key)

    def _fresh_key(self, prefix: str) -> str:
        self._counter += 1
        return f"{prefix}#{self._counter}"

    def _unseen(self, key: str) -> str:
        return self._fresh_key(key) if key in self._index else key

    def _set_phase(
        self, phase: Phase, at_s: float, *, detail: str = "", more_chars: int = 0
    ) -> None:
        activity = self.activity
        tokens = activity.output_tokens
        if more_chars:
            tokens += max(1, more_chars // _CHARS_PER_TOKEN)
        started = activity.started_at_s if activity.is_working else at_s
        if not activity.is_working:
            self._finished_tokens = 0
        self.activity = Activity(phase, started, tokens, detail)


def _person_message(key: str, text: str) -> PersonMessage:
    if text.startswith(SHELL_NOTE):
        command = text.removeprefix(SHELL_NOTE).partition("</")[0]
        return PersonMessage(key, "!" + sanitize(command), "shell")
    return PersonMessage(key, sanitize(text))


def _identifier(name: str, tool_input: dict[str, Any]) -> str:
    """Return a card's line for a call whose dispatch was not seen (a resumed conversation)."""
    for field in ("command", "file_path", "path", "pattern", "url", "description"):
        value = tool_input.get(field)
        if isinstance(value, str) and value:
            first_line = value.splitlines()[0] if value.splitlines() else value
            return f"{name} {first_line}"
    return name


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts: list[str] = []
    for part in content:
        if isinstance(part, dict):
            parts.append(str(part.get("text", f"[{part.get('type', 'content')}]")))
    return "\n".join(parts)
