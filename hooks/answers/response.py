"""Turns a handler's output or return value into its result: exit codes and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from hooks.answers.answer import Answer, AnswerError, Verdict, read_answer
from hooks.answers.hidden_answer import ends_with_answer, has_answer_inside
from hooks.config.spec import HandlerSpec
from hooks.events.capabilities import EFFECTS
from hooks.events.effects import Effects, ExitTwo, PlainStdout
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.strict_json import load_json

ANSI: Final = compile_late(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
MISSING_SCRIPT: Final = "can't open file"
"""Python's message for a missing script; the exit status is 2, which blocks."""
NO_MESSAGE: Final = compile_late(r"Traceback \(most recent call last\)|(?:node:|file:|/)\S*:\d+$")
"""The first line of an error of Python or Node.js, which is only a location."""
NAMED_ERROR: Final = compile_late(r"(?:[A-Za-z_][\w.]*)?(?:Error|Exception|Interrupt|Exit)\b")
SHOWN_LIMIT_CHARS: Final = 10_000
"""How much of a stream a result keeps for users."""


class HandlerOutcome(StrEnum):
    """How one handler ended."""

    SUCCESS = "success"
    BLOCKING = "blocking"
    NON_BLOCKING_ERROR = "non_blocking_error"
    CANCELLED = "cancelled"
    ASYNC = "async"
    """Started in the background."""


class ReasonSource(StrEnum):
    """Where the text of a reason comes from."""

    JSON = "json"
    STDERR = "stderr"
    STDOUT = "stdout"
    """Of a handler that blocks by its exit status and writes nothing to standard error."""
    FAILURE = "failure"
    """The handler failed, and its configuration makes failures block."""
    GENERATED = "generated"
    """The handler gave no reason; the text only names the handler."""


class HandlerResult(Struct, frozen=True):
    """One handler's run."""

    spec: HandlerSpec
    outcome: HandlerOutcome
    answer: Answer = field(default_factory=Answer)
    reason_source: ReasonSource | None = None
    error: str | None = None
    """One line for users: what went wrong and the likely cause."""
    exit_code: int | None = None
    duration_ms: float = 0.0
    stdout: str = ""
    stderr: str = ""
    is_not_found: bool = False
    """Whether the program to start was not found."""
    notice: str | None = None
    """Replaces the line about the error for users; empty suppresses it."""

    def to_failure(self, outcome: HandlerOutcome, error: str) -> HandlerResult:
        """Return this run as a failure without its answer, except for the notes."""
        return replace(self, outcome=outcome, error=error, answer=Answer(notes=self.answer.notes))


def handler_name(spec: HandlerSpec) -> str:
    """Return a handler's name for users: event, command, source and file."""
    return f"{spec.event} hook {first_line(spec.label)[:120]!r} ({spec.where})"


def short_name(spec: HandlerSpec) -> str:
    """Return a handler's name where its event is known: command and source."""
    return f"hook {first_line(spec.label)[:80]!r} ({spec.source.value})"


def error_line(result: HandlerResult) -> str:
    """Return the line that users read about a failure; empty for none."""
    if result.notice is not None:
        return result.notice
    return f"{handler_name(result.spec)}: {result.error}" if result.error is not None else ""


class Printed(Struct, frozen=True):
    """The output and exit status of a program that ended by itself."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    stdout_dropped: int = 0
    payload: Mapping[str, object] | None = None
    """The payload it was given."""
    suspicion: str = ""
    """A known problem of the command; reported when it fails."""


class NotAnAnswer(ValueError):
    """Output that starts as JSON is not one valid document."""


def judge_printed(spec: HandlerSpec, output: Printed) -> HandlerResult:
    """Apply the contract's rules for exit codes, JSON and plain text to a command's output."""
    rules = EFFECTS[spec.event]
    stdout = decode(output.stdout)
    stderr = decode(output.stderr)
    run = HandlerResult(
        spec,
        HandlerOutcome.SUCCESS,
        exit_code=output.exit_code,
        stdout=stdout[:SHOWN_LIMIT_CHARS],
        stderr=stderr[:SHOWN_LIMIT_CHARS],
    )
    answer: Answer | None = None
    problem: str | None = None
    try:
        raw = parse_stdout(stdout, truncated_bytes=output.stdout_dropped)
        if raw is not None:
            answer = read_answer(spec.event, rules, raw, payload=output.payload)
    except (NotAnAnswer, AnswerError) as error:
        problem = str(error)
    if output.exit_code == 2 and not rules.any_failure_blocks:
        return _exit_two(run, rules, answer, problem, stderr, output.suspicion)
    if rules.any_failure_blocks and output.exit_code != 0:
        failure = f"{short_name(spec)} failed: {_exit_text(output, stderr)}"
        return _to_blocking(run, rules, answer, stderr, failure)
    status = _exit_text(output, stderr) if output.exit_code != 0 else None
    if problem is not None:
        return run.to_failure(HandlerOutcome.NON_BLOCKING_ERROR, problem)
    if answer is not None:
        if status is not None:
            note = f"{status}; its JSON output is used anyway"
            answer = replace(answer, notes=(*answer.notes, note))
        return settle(replace(run, answer=answer), rules)
    if status is not None:
        return run.to_failure(HandlerOutcome.NON_BLOCKING_ERROR, status)
    return _judge_plain(run, rules, stdout)


def _judge_plain(run: HandlerResult, rules: Effects, stdout: str) -> HandlerResult:
    spec = run.spec
    plain = _plain(spec.event, rules, stdout)
    if plain.notes and spec.blocks_on_failure and rules.plain_stdout is PlainStdout.IGNORED:
        # With `onFailure: "block"`, an answer that was not read is a failure.
        return run.to_failure(HandlerOutcome.NON_BLOCKING_ERROR, plain.notes[0])
    return settle(replace(run, answer=plain), rules)


def judge_json(
    spec: HandlerSpec,
    raw: Mapping[str, object] | None,
    *,
    payload: Mapping[str, object] | None = None,
) -> HandlerResult:
    """Judge an answer that is given as a value, by a server or a callable."""
    rules = EFFECTS[spec.event]
    run = HandlerResult(spec, HandlerOutcome.SUCCESS)
    if raw is None:
        return run
    try:
        answer = read_answer(spec.event, rules, raw, payload=payload)
        return settle(replace(run, answer=answer), rules)
    except AnswerError as error:
        return run.to_failure(HandlerOutcome.NON_BLOCKING_ERROR, str(error))


def settle(run: HandlerResult, rules: Effects) -> HandlerResult:
    """Set the outcome of a readable answer, and the reason of a blocking one."""
    answer = run.answer
    blocks = answer.verdict in ("deny", "block") or not answer.proceed
    if answer.verdict in ("deny", "block"):
        source = ReasonSource.JSON
        if not (answer.reason or "").strip():
            answer = replace(answer, reason=_without_reason(run.spec, answer.system_message))
            source = ReasonSource.GENERATED
        run = replace(run, answer=answer, reason_source=source)
    elif answer.reason:
        run = replace(run, reason_source=ReasonSource.JSON)
    outcome = HandlerOutcome.BLOCKING if blocks else HandlerOutcome.SUCCESS
    return replace(run, outcome=outcome)


def block_on_failure(run: HandlerResult) -> HandlerResult:
    """Return a failed run as a veto, for `onFailure: "block"` and events whose failures block."""
    rules = EFFECTS[run.spec.event]
    verdict = _exit_two_verdict(rules)
    if verdict is None:
        return run
    # Names the handler as decisions do, so that it is not named twice.
    reason = f"{short_name(run.spec)} failed: {run.error}"
    return replace(
        run,
        outcome=HandlerOutcome.BLOCKING,
        answer=replace(run.answer, verdict=verdict, reason=reason),
        reason_source=ReasonSource.FAILURE,
    )


def parse_stdout(stdout: str, *, truncated_bytes: int = 0) -> Mapping[str, object] | None:
    """Parse standard output as a JSON object; return None for plain text.

    Raises:
        NotAnAnswer: it starts as JSON but is not one complete document.
    """
    text = stdout.strip().removeprefix("\ufeff").strip()
    if not text.startswith("{"):
        return None
    looks_like_json = text.endswith("}") or re.match(r"\{\s*\"", text) is not None
    try:
        document = load_json(text)
    except ValueError as error:
        if not looks_like_json:
            return None
        raise NotAnAnswer(_json_problem(text, error, truncated_bytes)) from error
    return document if isinstance(document, Mapping) else None


def decode(raw: bytes) -> str:
    """Decode UTF-8 with replacement characters for invalid bytes."""
    return raw.decode("utf-8", errors="replace")


def first_line(text: str) -> str:
    """Return the first line that is not blank, without escape sequences, at most 300 characters."""
    for line in text.splitlines():
        visible = ANSI.sub("", line).strip()
        if visible:
            return "".join(c if c.isprintable() else "�" for c in visible[:300])
    return ""


def informative_line(stderr: str) -> str:
    """Return the first line; if it is only a location, with the line that names the error."""
    first = first_line(stderr)
    if not NO_MESSAGE.match(first):
        return first
    error_lines = [line for line in stderr.splitlines() if NAMED_ERROR.match(line)]
    return f"{first} … {first_line(error_lines[-1])}" if error_lines else first


def _exit_two(
    run: HandlerResult,
    rules: Effects,
    answer: Answer | None,
    problem: str | None,
    stderr: str,
    suspicion: str,
) -> HandlerResult:
    if rules.declines_when_blocked:
        answer = None
    if not suspicion and MISSING_SCRIPT in stderr:
        suspicion = "a script is not where the command says"
    cause = f" ({suspicion})" if suspicion else ""
    if rules.exit_two in (ExitTwo.NOTICE, ExitTwo.IGNORED):
        return _report_unsupported_block(
            run, answer, _unsupported_block_text(run, rules, stderr) + cause
        )
    blocking = _to_blocking(run, rules, answer, stderr, "")
    has_reason = blocking.reason_source is not ReasonSource.GENERATED
    stdout = run.stdout.strip()
    if stdout and not has_reason and answer is None and problem is None:
        # Guards often print their reason instead of writing it to standard error.
        printed_answer = replace(blocking.answer, reason=stdout)
        blocking = replace(blocking, answer=printed_answer, reason_source=ReasonSource.STDOUT)
    if suspicion and answer is None:
        problem = f"blocks, but probably because it is broken, not because it decided to{cause}"
    if problem is not None:
        notes = (*blocking.answer.notes, problem)
        return replace(blocking, answer=replace(blocking.answer, notes=notes))
    return blocking


def _unsupported_block_text(run: HandlerResult, rules: Effects, stderr: str) -> str:
    first = first_line(stderr)
    if rules.exit_two is ExitTwo.NOTICE:
        return f"exit status 2: {first}" if stderr.strip() else "exit status 2"
    detail = f" ({first})" if first else ""
    return f"exit status 2 has no effect on {run.spec.event}{detail}"


def _report_unsupported_block(
    run: HandlerResult, answer: Answer | None, error: str
) -> HandlerResult:
    """Report a block that the event does not support; the rest of the answer applies, but no
    allow."""
    answer = answer or Answer()
    if answer.verdict == "allow":
        answer = replace(answer, verdict=None, updated_input=None, permission_updates=())
    return replace(run, outcome=HandlerOutcome.NON_BLOCKING_ERROR, error=error, answer=answer)


def _to_blocking(
    run: HandlerResult, rules: Effects, answer: Answer | None, stderr: str, fallback: str
) -> HandlerResult:
    answer = answer or Answer()
    text = stderr.strip()
    if answer.verdict in ("deny", "block") and (answer.reason or "").strip():
        reason, source = answer.reason, ReasonSource.JSON
    elif text:
        reason, source = text, ReasonSource.STDERR
    else:
        reason = fallback or _without_reason(run.spec, answer.system_message)
        source = ReasonSource.GENERATED
    verdict = _exit_two_verdict(rules)
    action = "decline" if rules.declines_when_blocked else answer.action
    return replace(
        run,
        outcome=HandlerOutcome.BLOCKING,
        answer=replace(answer, verdict=verdict, reason=reason, updated_input=None, action=action),
        reason_source=source,
    )


def _exit_two_verdict(rules: Effects) -> Verdict | None:
    match rules.exit_two:
        case ExitTwo.DENY:
            return "deny"
        case ExitTwo.BLOCK | ExitTwo.FEEDBACK:
            return "block"
        case ExitTwo.NOTICE | ExitTwo.IGNORED:
            return None


def _plain(event: str, rules: Effects, stdout: str) -> Answer:
    text = stdout.strip()
    match rules.plain_stdout:
        case PlainStdout.CONTEXT:
            notes = _unread(event, text) if ends_with_answer(text) else ()
            return Answer(additional_context=text or None, notes=notes)
        case PlainStdout.PATH:
            lines = [
                line for line in (ANSI.sub("", li).strip() for li in text.splitlines()) if line
            ]
            return Answer(worktree_path=lines[-1] if lines else None)
        case PlainStdout.IGNORED:
            is_unread = has_answer_inside(ANSI.sub("", text))
            return Answer(notes=_unread(event, text) if is_unread else ())


def _unread(event: str, text: str) -> tuple[str, ...]:
    return (
        f"printed other words around its JSON (starts {first_line(text)[:80]!r}), so the JSON was "
        f"not read as an answer to {event}: print nothing else on standard output",
    )


def _json_problem(text: str, error: ValueError, truncated_bytes: int) -> str:
    start = first_line(text)[:60]
    if truncated_bytes:
        return f"answer of more than {len(text)} characters was cut off and not read: {start!r}…"
    if isinstance(error, json.JSONDecodeError):
        if error.msg == "Extra data":
            rest = first_line(text[error.pos :])[:60]
            return f"printed more than one JSON document (then: {rest!r}); all of it is ignored"
        return (
            f"printed invalid JSON: {error.msg} at line {error.lineno} column {error.colno} "
            f"(starts {start!r}); all of it is ignored"
        )
    return f"printed JSON that cannot be read: {error}"


def _exit_text(output: Printed, stderr: str) -> str:
    line = informative_line(stderr)
    code = output.exit_code
    ending = f"ended by signal {-code}" if code < 0 else f"exit status {code}"
    cause = output.suspicion or _likely_cause(code, stderr)
    return ": ".join(part for part in (ending, line) if part) + (f" ({cause})" if cause else "")


def _likely_cause(code: int, stderr: str) -> str:
    is_missing = MISSING_SCRIPT in stderr or "No such file or directory" in stderr
    if code == 127 and not is_missing:
        return "a program is not on the PATH of hooks"
    if code == 126:
        return "the file is not executable: chmod +x makes it so"
    if is_missing:
        return "a script is not where the command says"
    return ""


def _without_reason(spec: HandlerSpec, message: str | None) -> str:
    """Return a reason for a veto without one: its message to the user, or a generic text."""
    who = f"Blocked by hook {first_line(spec.label)[:80]!r} ({spec.source.value})"
    if message and message.strip():
        return f"{who}: {message.strip()}"
    return f"{who}, which gave no reason."
