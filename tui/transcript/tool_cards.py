"""The cards of tool calls, updated from the start of their input to their result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agent.tools.shell.refused_tags import without_tags
from permissions.base.text.sanitize import Sanitizer, sanitize
from tui.text.safe_text import shown_display, shown_line
from tui.transcript.block_list import BlockList
from tui.transcript.blocks import USER_SHELL, ToolCard

if TYPE_CHECKING:
    # Creating the event classes takes longer than a frame, and the first frame needs none.
    from agent.events import (
        PermissionRequested,
        PermissionResolved,
        ToolDispatch,
        ToolInputDelta,
        ToolProgress,
        ToolResult,
    )
    from permissions.decision import Decision

LIVE_OUTPUT_CHARS: Final = 16_000
"""Maximum length of a running call's output that is stored for the screen."""


class ToolCards:
    """Applies the events of calls to their cards, which are blocks of the list."""

    def __init__(self, blocks: BlockList) -> None:
        """`blocks` is the transcript's list."""
        self._list = blocks
        self._cleaners: dict[str, Sanitizer] = {}
        """Sanitizers by call id: a control sequence may span several pieces of output."""

    def begin(self, event: ToolInputDelta, at_s: float) -> None:
        """Show a call whose input is still being written."""
        self._list.remember(event.message_uid, event.tool_use_id)
        if event.tool_use_id not in self._list:
            name = shown_line(event.name)
            self._list.append(ToolCard(event.tool_use_id, name, name, "writing", {}, at_s))

    def dispatch(self, event: ToolDispatch, at_s: float) -> None:
        """Show that a call runs."""
        identifier = shown_line(event.identifier)
        card = ToolCard(
            event.tool_use_id,
            event.name,
            identifier,
            "running",
            event.input,
            at_s,
            is_users=event.turn_id == USER_SHELL,
        )
        if isinstance(self._list.get(event.tool_use_id), ToolCard):
            self._list.replace(card)
        else:
            self._list.append_if_new(card)

    def grow_output(self, event: ToolProgress) -> None:
        """Append output of a running call."""
        card = self._list.get(event.tool_use_id)
        if not isinstance(card, ToolCard):
            return
        cleaner = self._cleaners.setdefault(event.tool_use_id, Sanitizer())
        output = card.output + cleaner.feed(event.text)
        dropped_count = card.dropped_lines
        if len(output) > LIVE_OUTPUT_CHARS:
            cut = output.rfind("\n", 0, len(output) - LIVE_OUTPUT_CHARS // 2) + 1
            cut = cut or len(output) - LIVE_OUTPUT_CHARS // 2
            dropped_count += output.count("\n", 0, cut)
            output = output[cut:]
        self._list.replace(replace(card, output=output, dropped_lines=dropped_count))

    def finish(self, event: ToolResult, at_s: float) -> bool:
        """Show a result; False if there is no card for the call."""
        card = self._list.get(event.tool_use_id)
        if not isinstance(card, ToolCard):
            identifier = shown_line(event.identifier or event.name)
            card = ToolCard(event.tool_use_id, event.name, identifier, "running", {}, at_s)
            if not self._list.append_if_new(card):
                return False
        self._cleaners.pop(event.tool_use_id, None)
        preview = card.display if event.outcome == "denied" else None
        self._list.replace(
            replace(
                card,
                identifier=shown_line(event.identifier) or card.identifier,
                state=event.outcome,
                result=sanitize(without_tags(event.text)),
                display=shown_display(event.display) or preview,
                elapsed_s=event.elapsed_s,
            )
        )
        return True

    def ask(self, event: PermissionRequested) -> None:
        """Show that a call waits for the user."""
        card = self._list.get(event.tool_use_id)
        if isinstance(card, ToolCard):
            self._list.replace(replace(card, state="asking", display=shown_display(event.display)))

    def resolve(self, event: PermissionResolved, reason_of: Callable[[Decision], str]) -> None:
        """Show a decision; for a denial by a rule, with the reason from `reason_of`."""
        card = self._list.get(event.tool_use_id)
        if not isinstance(card, ToolCard):
            return
        decision = event.decision
        if decision.behavior == "deny" and decision.rule is not None:
            decision = replace(decision, message=reason_of(decision))
        state = "running" if card.state == "asking" else card.state
        self._list.replace(replace(card, decision=decision, state=state))

    def stop(self) -> None:
        """Forget the state of running calls, because the turn has ended."""
        self._cleaners.clear()
