"""Fires hook events of one agent, and applies the effects that every event may have.

Messages of hooks become agent events; titles, watch lists, terminal sequences and the like go to
the listeners. An event without a handler costs one dictionary lookup. The events themselves:
`agent.hook_events.hook_dispatch`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.events import AgentEvent, HookFinished, HookRun, HookStarted, Notice
from hooks.answers.outcome import EventOutcome
from hooks.answers.response import HandlerOutcome, first_line
from hooks.config.select import matcher_value
from hooks.config.spec import CallbackHandler, HandlerSpec
from hooks.events import HookEventPayload
from hooks.events.capabilities import EFFECTS
from hooks.ports import HookSession
from hooks.runner import HookRunner
from permissions.base.text.late_pattern import compile_late
from permissions.explain.explain_decision import place_relative

CLASSIFIER_NOTES: Final = 10
"""How many of the latest notes for the classifier are kept."""
AFTER_TOOLS: Final = frozenset({"PostToolUse", "PostToolUseFailure"})
PLACE: Final = compile_late(r"(?<= \()[a-z]+ (?P<file>/[^\n]*?)(?=\)(?: would fail)?: )")
"""The part of a notice that names the file of a hook."""


class HookListeners(Struct, frozen=True):
    """Receivers of what hooks request; shared by the agents of one conversation."""

    watch_paths: Callable[[Sequence[str]], None] = lambda _: None
    """Receives the files that a hook wants watched from now on."""
    session_title: Callable[[str], None] = lambda _: None
    reload_skills: Callable[[], None] = lambda: None
    terminal: Callable[[str], None] = lambda _: None
    """Receives a terminal sequence, always one from the closed list of the contract."""
    notify: Callable[[str, str], None] | None = None
    """Shows a line at once, at level `info` or `warning`; None shows it with the next turn."""
    live: Callable[[HookStarted | HookFinished], None] | None = None
    """Receives the start and end of hooks at once; the events of the turn come later."""
    background_tasks: Callable[[], list[dict[str, object]]] = list
    """Returns the commands that still run, in the form of the Stop payload."""


class HookFiring:
    """Fires events of one agent."""

    def __init__(
        self,
        runner: HookRunner,
        session: HookSession,
        *,
        env_files: list[Path] | None = None,
        cwd: Callable[[], Path] | None = None,
        agent_id: str | None = None,
        agent_type: str | None = None,
        listeners: HookListeners | None = None,
    ) -> None:
        """Fire events of one agent.

        Args:
            runner: the engine.
            session: what the runner passes to every hook.
            env_files: updated with the shell files that hooks wrote.
            cwd: returns the shell's directory, which changes between two events of a turn; None is
                the session's.
            agent_id: None is the main agent.
            agent_type: of a sub-agent.
            listeners: those of the conversation.
        """
        self.listeners = listeners if listeners is not None else HookListeners()
        self._env_files = env_files if env_files is not None else []
        self.runner = runner
        self.session = session
        self.agent_id = agent_id
        self.agent_type = agent_type
        self._turn_id = ""
        self._events: list[AgentEvent] = []
        self._late: list[str] = []
        self._shown_texts: set[str] = set()
        self._classifier_notes: deque[str] = deque(maxlen=CLASSIFIER_NOTES)
        self._events_in_flight: set[asyncio.Future[None]] = set()
        self._one_by_one = asyncio.Lock()
        self.abort: AbortSignal | None = None
        """Aborts hooks of the work in progress; None while there is none."""
        self._cwd = cwd if cwd is not None else lambda: session.cwd

    def for_subagent(
        self,
        agent_id: str,
        agent_type: str,
        turn_id: str,
        *,
        cwd: Callable[[], Path] | None = None,
    ) -> HookFiring:
        """Return the same for a sub-agent: its own identity in the payloads."""
        child = HookFiring(
            self.runner,
            self.session,
            cwd=cwd,
            agent_id=agent_id,
            agent_type=agent_type,
            listeners=self.listeners,
        )
        child._turn_id = turn_id
        child.abort = self.abort
        return child

    def turn_id(self) -> str:
        """Return the id of the turn that events belong to now."""
        return self._turn_id

    def begin_turn(self, turn_id: str, prompt_id: str | None) -> None:
        """Set the turn that the next events belong to; a `prompt_id` of None keeps the previous
        one."""
        self._turn_id = turn_id
        if prompt_id is not None:
            self.session.prompt_id = prompt_id
        self._shown_texts.clear()
        self.runner.begin_prompt()

    def notices(self) -> list[AgentEvent]:
        """Return the events for the user since the last call, and clear them."""
        events, self._events = self._events, []
        return events

    def late_context(self) -> list[str]:
        """Return the context that background hooks added for the model since the last call."""
        if self.agent_id is not None:
            return []
        texts, self._late = self._late, []
        late = self.runner.take_background()
        for text in late.system_messages:
            self._show(Notice(self._turn_id, "info", text, agent_id=self.agent_id))
        for text in late.notices:
            self._show(Notice(self._turn_id, "warning", text, agent_id=self.agent_id))
        return [*texts, *late.additional_context, *late.wake]

    def classifier_context(self) -> tuple[str, ...]:
        """Return the latest notes that hooks left for the permission classifier, oldest first."""
        return tuple(self._classifier_notes)

    def show_outcome(self, outcome: EventOutcome) -> None:
        """Show the outcome of an event that was fired elsewhere (the permission race)."""
        self._finish(outcome, None)

    async def aclose(self, *, wait_s: float = 2.0) -> None:
        """Wait at most `wait_s` seconds for background events, then cancel the rest."""
        if self._events_in_flight:
            await asyncio.wait(set(self._events_in_flight), timeout=wait_s)
        for task in self._events_in_flight:
            task.cancel()
        if self._events_in_flight:
            await asyncio.wait(set(self._events_in_flight))

    def fire_later(self, fire: Callable[[], Awaitable[None]]) -> None:
        """Fire an event in the background, after the background events before it."""

        async def run() -> None:
            async with self._one_by_one:
                await fire()

        task = asyncio.ensure_future(run())
        self._events_in_flight.add(task)
        task.add_done_callback(self._events_in_flight.discard)

    def warn(self, text: str) -> None:
        """Show a warning about hooks in general, at once if possible."""
        text = self._nearer(text)
        if self.listeners.notify is not None:
            self.listeners.notify(text, "warning")
        else:
            self._show(Notice(self._turn_id, "warning", text, agent_id=self.agent_id))

    async def fire(
        self,
        payload: HookEventPayload,
        abort: AbortSignal | None = None,
        tool_use_id: str | None = None,
    ) -> EventOutcome | None:
        """Fire an event; return its outcome, or None if no handler applies."""
        name = payload.event_name
        if not self.runner.has(name):
            return None
        if abort is None and not EFFECTS[name].is_beside_turns and name != "SessionEnd":
            abort = self.abort
        who = self._who() if payload.agent_id is None else {}
        payload = replace(payload, cwd=str(self._cwd()), **who)

        live: Callable[[HookStarted | HookFinished], None] | None = None

        def show_start(specs: Sequence[HandlerSpec]) -> None:
            nonlocal live
            words = next((spec.status_message for spec in specs if spec.status_message), None)
            event = HookStarted(self._turn_id, name, words, tool_use_id, agent_id=self.agent_id)
            if self.agent_id is None and self.abort is not None and self._turn_id:
                live = self.listeners.live
            if live is not None:
                live(event)
                event = replace(event, status_message=None)
            self._show(event)

        try:
            outcome = await self.runner.run(payload, abort=abort, on_start=show_start)
        finally:
            if live is not None:
                live(HookFinished(self._turn_id, name, "", (), tool_use_id=tool_use_id))
        if outcome.outcome == "skipped":
            return None
        self._finish(outcome, tool_use_id, matcher_value(name, payload.to_json()) or "")
        return outcome

    def _who(self) -> dict[str, object]:
        return {"agent_id": self.agent_id, "agent_type": self.agent_type}

    def add_late_context(self, outcome: EventOutcome | None) -> None:
        """Give the model an event's context with its next request."""
        if outcome is not None and outcome.additional_context:
            self._late.append(outcome.additional_context)

    def _finish(self, outcome: EventOutcome, tool_use_id: str | None, subject: str = "") -> None:
        self._carry_out(outcome)
        notices = self._news((*outcome.notices, *outcome.config_warnings), outcome.event)
        notify = self.listeners.notify
        if notify is not None and EFFECTS[outcome.event].is_beside_turns:
            for text in notices:
                notify(text, "warning")
            for text in outcome.system_messages:
                notify(text, "info")
            notices = ()
            outcome = replace(outcome, system_messages=())
        self._show(
            HookFinished(
                self._turn_id,
                outcome.event,
                str(outcome.outcome),
                notices,
                subject,
                _runs(outcome),
                tool_use_id=tool_use_id,
                agent_id=self.agent_id,
            )
        )
        for text in (*outcome.system_messages, *_feedback_lines(outcome)):
            self._show(Notice(self._turn_id, "info", text, agent_id=self.agent_id))

    def _news(self, notices: Sequence[str], event: str) -> tuple[str, ...]:
        """Return notices for display: those already shown in this turn are shortened, or dropped
        for frequent events."""
        lines: list[str] = []
        for text in map(self._nearer, notices):
            if text not in self._shown_texts:
                self._shown_texts.add(text)
                lines.append(text)
            elif not EFFECTS[event].is_frequent:
                name, parenthesis, _ = text.partition("): ")
                lines.append(f"{name}{parenthesis}the same again" if parenthesis else text)
        return tuple(lines)

    def _nearer(self, text: str) -> str:
        """Shorten the path in a notice, relative to the project or to home."""
        match = PLACE.search(text)
        if match is None:
            return text
        short = place_relative(str(self.session.project_dir), str(self.session.home))
        return f"{text[: match.start('file')]}{short(match['file'])}{text[match.end() :]}"

    def _carry_out(self, outcome: EventOutcome) -> None:
        if outcome.env_file is not None:
            self._env_files[:] = self.runner.env_files.written_files()
        if outcome.watch_paths is not None:
            self.listeners.watch_paths(outcome.watch_paths)
        if outcome.session_title is not None:
            self.listeners.session_title(outcome.session_title)
        if outcome.reload_skills:
            self.listeners.reload_skills()
        if outcome.terminal_sequence is not None:
            self.listeners.terminal(outcome.terminal_sequence)
        self._classifier_notes.extend(outcome.classifier_context)

    def _show(self, event: AgentEvent) -> None:
        self._events.append(event)


_RUN_OUTCOMES: Final[Mapping[HandlerOutcome, Literal["success", "error", "cancelled"]]] = {
    HandlerOutcome.SUCCESS: "success",
    HandlerOutcome.BLOCKING: "success",
    HandlerOutcome.NON_BLOCKING_ERROR: "error",
    HandlerOutcome.CANCELLED: "cancelled",
}


def _runs(outcome: EventOutcome) -> tuple[HookRun, ...]:
    return tuple(
        HookRun(
            "error" if result.exit_code else _RUN_OUTCOMES[result.outcome],
            result.stdout,
            result.stderr or result.error or "",
            result.exit_code,
        )
        for result in outcome.results
        if result.outcome in _RUN_OUTCOMES and not isinstance(result.spec.handler, CallbackHandler)
    )


def _feedback_lines(outcome: EventOutcome) -> tuple[str, ...]:
    """Return a line about a hook's feedback to the model after a call; usually none."""
    if outcome.event not in AFTER_TOOLS or outcome.decision != "block" or not outcome.reason:
        return ()
    # The model reacts to it, so the user must see it, too.
    first = first_line(outcome.reason)
    more = "" if first == outcome.reason.strip() else " …"
    return (f"{outcome.decided_by or 'A hook'} to the model: {first}{more}",)
