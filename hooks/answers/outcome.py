"""The result of all handlers of one event: a pure merge in configuration order, vetoes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from hooks.answers.answer import Answer
from hooks.answers.permission_updates import grant_of
from hooks.answers.response import (
    HandlerOutcome,
    HandlerResult,
    ReasonSource,
    error_line,
    first_line,
    handler_name,
    short_name,
)
from hooks.events.capabilities import EFFECTS
from hooks.events.effects import Audience, Effects, ExitTwo

T = TypeVar("T")

EventDecision = Literal["allow", "deny", "ask", "defer", "block", "none"]

PRECEDENCE: Final[tuple[EventDecision, ...]] = ("deny", "block", "defer", "ask", "allow")
"""Strictest first: the first of these that any handler gave decides the event."""


class OutcomeKind(StrEnum):
    """How an event ended."""

    SUCCESS = "success"
    BLOCKING = "blocking"
    NON_BLOCKING_ERROR = "non_blocking_error"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    """Nothing matched."""
    ASYNC = "async"
    """Only background handlers were started."""


class EventOutcome(Struct, frozen=True):
    """The merged result of one event's hooks. The defaults are those of an event without hooks."""

    event: str
    outcome: OutcomeKind = OutcomeKind.SKIPPED
    decision: EventDecision = "none"
    proceeds: bool | None = True
    """Whether the announced action proceeds; None where the user decides."""
    continue_: bool = True
    """False ends the turn, whatever the decision."""
    stop_reason: str | None = None
    """For the user, when `continue_` is False."""
    reason: str | None = None
    """All reasons of the decision, a line each; never None when something was blocked."""
    reason_source: str | None = None
    feedback_to: str | None = None
    """Who reads `reason`: `model`, `user` or `none`."""
    updated_input: Mapping[str, object] | None = None
    """The whole new tool input; decide it again before it runs."""
    updated_tool_output: object = None
    permission_updates: tuple[Mapping[str, object], ...] = ()
    interrupt: bool = False
    retry: bool = False
    additional_context: str | None = None
    overflow_file: Path | None = None
    """File with the whole of the first text that was too long."""
    system_messages: tuple[str, ...] = ()
    """For the user."""
    notices: tuple[str, ...] = ()
    """Lines for the user about the hooks themselves: failures, ignored answers."""
    config_warnings: tuple[str, ...] = ()
    status_message: str | None = None
    terminal_sequence: str | None = None
    watch_paths: tuple[str, ...] | None = None
    env_file: Path | None = None
    """A shell file to source before each command; None when no hook wrote to it."""
    worktree_path: str | None = None
    display_content: str | None = None
    action: str | None = None
    content: Mapping[str, object] | None = None
    classifier_context: tuple[str, ...] = ()
    initial_user_message: str | None = None
    session_title: str | None = None
    reload_skills: bool = False
    suppress_original_prompt: bool = False
    spawn_count: int = 0
    """Handlers that were started."""
    results: tuple[HandlerResult, ...] = field(default_factory=tuple)
    """Every handler that was started, in configuration order."""

    @property
    def is_blocked(self) -> bool:
        """Whether a hook vetoed the announced action."""
        return self.decision in ("deny", "block") or not self.continue_

    @property
    def decided_by(self) -> str:
        """Name the first handler that gave the decision, for users; empty when none did."""
        deciding = [r for r in self.results if r.answer.verdict == self.decision]
        return short_name(deciding[0].spec) if deciding else ""

    @property
    def rewritten_by(self) -> str:
        """Name the handler whose input applies, for users; empty when none rewrote it."""
        rewriting = [r for r in self.results if r.answer.updated_input is not None]
        return short_name(rewriting[-1].spec) if rewriting else ""

    def to_json(self) -> dict[str, object]:
        """Return the line that `hooks run` writes."""
        return {
            "event": self.event,
            "outcome": self.outcome.value,
            "decision": self.decision,
            "proceeds": self.proceeds,
            "continue": self.continue_,
            "stop_reason": self.stop_reason,
            "reason": self.reason,
            "reason_source": self.reason_source,
            "feedback_to": self.feedback_to,
            "updated_input": self.updated_input,
            "updated_tool_output": self.updated_tool_output,
            "permission_updates": list(self.permission_updates),
            "interrupt": self.interrupt,
            "retry": self.retry,
            "additional_context": self.additional_context,
            "overflow_file": _path(self.overflow_file),
            "system_messages": list(self.system_messages),
            "notices": list(self.notices),
            "config_warnings": list(self.config_warnings),
            "status_message": self.status_message,
            "terminal_sequence": self.terminal_sequence,
            "watch_paths": None if self.watch_paths is None else list(self.watch_paths),
            "env_file": _path(self.env_file),
            "worktree_path": self.worktree_path,
            "display_content": self.display_content,
            "action": self.action,
            "content": self.content,
            "spawned": self.spawn_count,
            "results": [result_json(result) for result in self.results],
        }


def result_json(result: HandlerResult) -> dict[str, object]:
    """Return one entry of `results`."""
    return {
        "type": result.spec.handler.type,
        "source": result.spec.source.value,
        "command": result.spec.label,
        "outcome": result.outcome.value,
        "exit_code": result.exit_code,
        "duration_ms": round(result.duration_ms, 1),
        "stdout": result.stdout,
        "stderr": result.stderr,
    }


def aggregate(event: str, results: Sequence[HandlerResult]) -> EventOutcome:
    """Merge the results of one event's handlers, given in configuration order.

    One veto suffices; contexts and reasons are joined; of several rewrites the last configured one
    applies and the others are reported. The result does not depend on the order of completion.
    """
    rules = EFFECTS[event]
    answers = [result.answer for result in results]
    outcome = _with_flags(
        _with_last_values(_with_texts(EventOutcome(event), answers), answers), answers
    )
    decision = _decision(answers)
    deciding = [r for r in results if decision != "none" and r.answer.verdict == decision]
    reason, reason_source = _reason(rules, decision, deciding, results)
    notices = [line for result in results for line in notices_of(result)]
    worktree_path = outcome.worktree_path
    if event == "WorktreeCreate" and decision == "none" and worktree_path is None and results:
        decision, reason = "block", "no hook printed the path of the new worktree"
        reason_source = ReasonSource.GENERATED.value
        notices.append(f"{event}: {reason}")
    updates = _permission_updates(decision, deciding)
    notices.extend(grant_of(updates)[1])
    updated_input = _rewritten(event, decision, results, notices)
    action = _action(rules, decision, answers)
    has_context = outcome.additional_context is not None
    return replace(
        outcome,
        outcome=_kind(decision, outcome.continue_, results),
        decision=decision,
        proceeds=_proceeds(event, rules, decision, outcome.continue_, action, has_context),
        reason=reason,
        reason_source=reason_source,
        feedback_to=_audience(rules, decision, reason, has_context),
        updated_input=updated_input,
        permission_updates=tuple(updates),
        interrupt=decision == "deny" and outcome.interrupt,
        notices=tuple(notices),
        status_message=next(filter(None, (one.spec.status_message for one in results)), None),
        worktree_path=None if decision == "block" else worktree_path,
        action=action,
        content=None if action == "decline" else outcome.content,
        spawn_count=len(results),
        results=tuple(results),
    )


def _with_texts(outcome: EventOutcome, answers: Sequence[Answer]) -> EventOutcome:
    """Add the texts that are collected from all answers."""
    return replace(
        outcome,
        stop_reason=_join_texts([a.stop_reason for a in answers if not a.proceed]),
        additional_context=_join_texts([a.additional_context for a in answers], "\n\n"),
        system_messages=tuple(a.system_message for a in answers if a.system_message),
        terminal_sequence=_join_texts([a.terminal_sequence for a in answers], ""),
        classifier_context=tuple(a.classifier_context for a in answers if a.classifier_context),
        watch_paths=_watch_paths(answers),
    )


def _with_last_values(outcome: EventOutcome, answers: Sequence[Answer]) -> EventOutcome:
    """Add the values for which the last configured answer applies."""
    return replace(
        outcome,
        updated_tool_output=_last([answer.updated_tool_output for answer in answers]),
        worktree_path=_last([answer.worktree_path for answer in answers]),
        display_content=_last([answer.display_content for answer in answers]),
        content=_last([answer.content for answer in answers]),
        initial_user_message=_last([answer.initial_user_message for answer in answers]),
        session_title=_last([answer.session_title for answer in answers]),
    )


def _with_flags(outcome: EventOutcome, answers: Sequence[Answer]) -> EventOutcome:
    """Add the flags that a single answer can set."""
    return replace(
        outcome,
        continue_=all(answer.proceed for answer in answers),
        interrupt=any(answer.interrupt for answer in answers),
        retry=any(answer.retry for answer in answers),
        reload_skills=any(answer.reload_skills for answer in answers),
        suppress_original_prompt=any(answer.suppress_original_prompt for answer in answers),
    )


def _permission_updates(
    decision: EventDecision, deciding: Sequence[HandlerResult]
) -> list[Mapping[str, object]]:
    if decision != "allow":
        return []
    return [update for result in deciding for update in result.answer.permission_updates]


def notices_of(result: HandlerResult) -> list[str]:
    """Return the lines for users about one handler's run: its failure, and what was ignored."""
    name = handler_name(result.spec)
    lines = [f"{name}: {note}" for note in result.answer.notes]
    lines += [
        f"{name}: {field} is not part of an answer; ignored"
        for field in result.answer.unknown_fields
    ]
    return list(filter(None, (error_line(result), *lines)))


def _decision(answers: Sequence[Answer]) -> EventDecision:
    verdicts = {answer.verdict for answer in answers}
    return next((word for word in PRECEDENCE if word in verdicts), "none")


def _kind(
    decision: EventDecision, continue_: bool, results: Sequence[HandlerResult]
) -> OutcomeKind:
    outcomes = {result.outcome for result in results}
    if decision in ("deny", "block") or not continue_ or HandlerOutcome.BLOCKING in outcomes:
        return OutcomeKind.BLOCKING
    for kind in (
        HandlerOutcome.NON_BLOCKING_ERROR,
        HandlerOutcome.CANCELLED,
        HandlerOutcome.SUCCESS,
        HandlerOutcome.ASYNC,
    ):
        if kind in outcomes:
            return OutcomeKind(kind.value)
    return OutcomeKind.SKIPPED


def _reason(
    rules: Effects,
    decision: EventDecision,
    deciding: Sequence[HandlerResult],
    results: Sequence[HandlerResult],
) -> tuple[str | None, str | None]:
    with_reason = [result for result in deciding if result.answer.reason]
    if with_reason:
        source = with_reason[0].reason_source
        reasons = _join_texts([result.answer.reason for result in with_reason])
        return reasons, None if source is None else source.value
    if decision == "none" and rules.exit_two is ExitTwo.NOTICE:
        return _reported_failures(results)
    return None, None


def _reported_failures(results: Sequence[HandlerResult]) -> tuple[str | None, str | None]:
    failures = [result for result in results if result.exit_code == 2 and result.error]
    if not failures:
        return None, None
    texts = [result.stderr.strip() or result.error for result in failures]
    return _join_texts(texts), ReasonSource.STDERR.value


def _rewritten(
    event: str, decision: EventDecision, results: Sequence[HandlerResult], notices: list[str]
) -> Mapping[str, object] | None:
    rewrites = [result for result in results if result.answer.updated_input is not None]
    if not rewrites or decision in ("deny", "block"):
        return None
    *others, last = rewrites
    notices.extend(
        f"{handler_name(result.spec)}: "
        f"its updatedInput was replaced by that of {first_line(last.spec.label)[:120]!r}"
        for result in others
        if result.answer.updated_input != last.answer.updated_input
    )
    return last.answer.updated_input


def _proceeds(
    event: str,
    rules: Effects,
    decision: EventDecision,
    continue_: bool,
    action: str | None,
    has_context: bool,
) -> bool | None:
    if not continue_:
        return rules.ends_turn_is_the_point
    if decision in ("deny", "block"):
        return not rules.block_prevents
    if rules.is_stop and has_context:
        return False
    if event == "PermissionRequest":
        return True if decision == "allow" else None
    if rules.declines_when_blocked:
        default = None if event == "Elicitation" else True
        return default if action is None else action == "accept"
    return None if decision in ("ask", "defer") else True


def _audience(
    rules: Effects, decision: EventDecision, reason: str | None, has_context: bool
) -> str | None:
    if decision in ("deny", "block"):
        return rules.feedback_to.value
    if decision in ("ask", "defer"):
        return Audience.USER.value
    if rules.is_stop and has_context:
        return Audience.MODEL.value
    if reason is not None:
        return Audience.USER.value
    return None


def _action(rules: Effects, decision: EventDecision, answers: Sequence[Answer]) -> str | None:
    if rules.declines_when_blocked and decision in ("deny", "block"):
        return "decline"
    actions = [answer.action for answer in answers if answer.action]
    # The strictest wins, as with every other decision.
    return next((word for word in ("decline", "cancel", "accept") if word in actions), None)


def _watch_paths(answers: Sequence[Answer]) -> tuple[str, ...] | None:
    path_lists = [answer.watch_paths for answer in answers if answer.watch_paths is not None]
    if not path_lists:
        return None
    return tuple(dict.fromkeys(path for paths in path_lists for path in paths))


def _last(values: Sequence[T | None]) -> T | None:
    return next((value for value in reversed(values) if value is not None), None)


def _join_texts(texts: Sequence[str | None], separator: str = "\n") -> str | None:
    return separator.join(text for text in texts if text) or None


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)
