"""The verdict on one part of a call: floor, deny, ask, allow, mode and its cap, in that order.

An allow names the confinement that makes its reason true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from permissions.confinement import Confinement
from permissions.decision import (
    Behavior,
    DecisionSource,
    PartVerdict,
    Reason,
    ReasonType,
    TraceEntry,
    TraceStep,
    place_of,
)
from permissions.evaluate.call_view import CallView
from permissions.evaluate.confine import confinement_of_rule, is_enforced, is_whole, narrow
from permissions.mode import Mode, mode_name
from permissions.rules.rule_set import Rule, RuleBehavior
from permissions.scope.scope import Floor

Find = Callable[[RuleBehavior], Rule | None]
"""Returns the first rule of a behavior that is about a part."""


class Part(Struct, frozen=True):
    """One thing that gets a verdict of its own: a tool call, a simple command, a redirect."""

    text: str
    kind: str
    """`tool`, `command`, `write` or `read`."""
    floor: Floor | None = None
    is_write: bool = False
    """Whether it provably writes; plan mode then denies it, whatever the rules."""
    is_free: bool = False
    """Needs no permission: allowed in every mode unless a rule or the floor decides otherwise."""
    is_edit: bool = False
    """Whether acceptEdits may allow it."""
    is_read_only: bool = True
    """Whether plan mode may ask about it without a rule that names it."""
    is_provably_harmless: bool = False
    """Whether the local classifier may allow it: it only reads, and only in scope."""
    is_small: bool = False
    """Whether it is plain enough to count as read-only without enforcement."""
    runs_configured: bool = False
    """Whether it runs what a repository names, even if it only reads."""
    is_elsewhere: bool = False
    """Whether it runs outside the launch directory, or in an untrusted one: the same words may run
    other files there."""
    reads_credentials: bool = False
    """Whether it reads usual locations of credentials, which no wildcard for a program covers."""
    write_dirs: tuple[str, ...] = ()
    """Existing directories outside the working directories that it provably writes to."""
    target: str = ""
    """The file of a tool call, links resolved; empty where there is none."""
    detail: str = ""
    needs: str = ""
    """What would allow it, for users; may be empty."""
    beyond: str = ""
    """What it needs that confined commands do not have on this machine; may be empty."""


class PreparedPart(Struct, frozen=True):
    """A part and the function that finds the rules about it."""

    part: Part
    find: Find


def part_verdict(
    prepared_part: PreparedPart, view: CallView
) -> tuple[PartVerdict, list[TraceEntry]]:
    """Return the verdict on one part and what each step answered. Pure."""
    part, floor = prepared_part.part, prepared_part.part.floor
    # The one part of another tool is the whole call.
    name = None if part.kind == "tool" else part.text
    trace = [
        TraceEntry(_SCOPE_STEP, "none", None, None, name)
        if floor is None or floor.reason is _UNSANDBOXED
        else TraceEntry(_SCOPE_STEP, floor.behavior, _SCOPE_CHECK, None, name)
    ]
    if floor is not None and floor.behavior is _DENY:
        return _from_floor(part, floor), trace
    by_rule = _cascade(prepared_part, view, name, trace)
    if by_rule is not None and by_rule.behavior is _DENY:
        return by_rule, trace
    verdict = _not_below(floor, by_rule or _default(part, view), prepared_part)
    final = _require_enforcement(part, _cap_verdict(part, verdict, view), view)
    leaves = final.source is _BY_SANDBOX and verdict.source is not _BY_SANDBOX
    by_mode = final.source is _BY_MODE or (final.behavior is not verdict.behavior and not leaves)
    answer = final.behavior if by_mode else "none"
    trace.append(TraceEntry(_MODE_STEP, answer, _MODE, None, name))
    if leaves or verdict.source is _BY_SANDBOX:
        sandbox_verdict = final if leaves else verdict
        trace.append(
            TraceEntry(_SANDBOX_STEP, sandbox_verdict.behavior, str(_BY_SANDBOX), None, name)
        )
    return final, trace


def asked_together(
    part: Part, verdict: PartVerdict, trace: Sequence[TraceEntry], mode: Mode
) -> tuple[PartVerdict, list[TraceEntry]]:
    """Return the verdict in place of a read-only allow, beside a part that may do more than
    read."""
    behavior = _DENY if mode is _DONT_ASK else _ASK
    message = (
        f"{verdict.message}; beside a part that may write, only plain read commands are treated "
        "as reading"
    )
    mode_verdict = _by_mode(part, behavior, message)
    return mode_verdict, [
        replace(entry, answer=str(behavior)) if entry.step is _MODE_STEP else entry
        for entry in trace
    ]


def _require_enforcement(part: Part, verdict: PartVerdict, view: CallView) -> PartVerdict:
    """Return the verdict, or an ask or deny if this machine cannot enforce what an allow
    assumes."""
    confinement = verdict.confinement
    if verdict.behavior is not _ALLOW or confinement is None:
        return verdict
    if confinement is Confinement.PROJECT_FILES and part.beyond:
        return _beyond(part, view)
    if is_enforced(confinement, view):
        return verdict
    if confinement is Confinement.READ_ONLY and part.is_small:
        return verdict
    if confinement is Confinement.PROJECT_FILES and verdict.rule is not None:
        # The static analysis cleared it; the trace says that nothing enforces it.
        return verdict
    return _left_of_allow(part, verdict, confinement, view)


def _beyond(part: Part, view: CallView) -> PartVerdict:
    """Return the verdict on a command that a rule allows but that cannot work confined."""
    if view.mode is _BYPASS:
        return _mode_default(part, view)
    message = f"{part.beyond}; the sandbox here keeps that from what a rule allows"
    floor = Floor(_DENY if view.mode is _DONT_ASK else _ASK, _UNSANDBOXED, message)
    return _from_floor(part, floor)


def _left_of_allow(
    part: Part, verdict: PartVerdict, confinement: Confinement, view: CallView
) -> PartVerdict:
    if view.mode is _DONT_ASK:
        return _by_mode(part, _DENY, f"{mode_name(view.mode)} denies what no rule allows")
    if confinement is Confinement.READ_ONLY:
        question = _mode_question(part, view.mode) if verdict.rule is None else verdict.message
        return _by_mode(part, _ASK, f"{question}; no sandbox here limits it to reading")
    return _by_mode(part, _ASK, f"{verdict.message}, but no sandbox here limits it to the project")


def _not_below(
    floor: Floor | None, verdict: PartVerdict, prepared_part: PreparedPart
) -> PartVerdict:
    """Return the verdict, or the floor's if that is stricter and not lifted."""
    part = prepared_part.part
    if floor is None:
        return verdict
    is_lifted = (
        floor.lifted_by_allow
        and verdict.reason is Reason.ALLOW_RULE
        and (not part.reads_credentials or _names_command(prepared_part))
    )
    if not is_lifted and verdict.behavior is not _DENY:
        return _from_floor(part, floor)
    if verdict.source is _BY_MODE:
        # Keep the reason of the floor, which the mode's own denial would hide.
        return replace(_from_floor(part, floor), behavior=verdict.behavior)
    return verdict


def _names_command(prepared_part: PreparedPart) -> bool:
    """Whether the rule that allows a command covers all of Bash, or has no wildcard."""
    from permissions.matching.match_bash import is_without_wildcard  # with the first command

    rule = prepared_part.find(RuleBehavior.ALLOW)
    return rule is None or rule.is_tool_wide or is_without_wildcard(rule, prepared_part.part.text)


def _cascade(
    prepared_part: PreparedPart, view: CallView, name: str | None, trace: list[TraceEntry]
) -> PartVerdict | None:
    part = prepared_part.part
    for behavior, step in _STEPS:
        rule = prepared_part.find(behavior)
        if rule is None:
            trace.append(TraceEntry(step, "none", None, None, name))
            continue
        answer = _ANSWERS[rule.behavior]
        confinement = None
        if answer is _ALLOW:
            is_named = part.kind == "command" and not part.is_elsewhere
            stands_for = confinement_of_rule(rule, part.text if is_named else None)
            confinement = narrow(stands_for, view)
        is_enforceable = None if confinement is None or is_whole(confinement, view) else False
        trace.append(TraceEntry(step, answer, str(rule.source), rule.text, name, is_enforceable))
        return _from_rule(part, rule, confinement)
    return None


# Module-level names: access to an enum member through its class takes ten times as long.
_ALLOW, _ASK, _DENY = Behavior.ALLOW, Behavior.ASK, Behavior.DENY
_BY_MODE, _BY_SANDBOX = DecisionSource.MODE, DecisionSource.SANDBOX
_SCOPE_STEP, _MODE_STEP, _SANDBOX_STEP = TraceStep.SCOPE, TraceStep.MODE, TraceStep.SANDBOX
_UNSANDBOXED = Reason.UNSANDBOXED
_MODE_TYPE, _MODE_DEFAULT = ReasonType.MODE, Reason.MODE_DEFAULT
_PLAN, _DONT_ASK, _BYPASS = Mode.PLAN, Mode.DONT_ASK, Mode.BYPASS
_ACCEPT_EDITS, _AUTO = Mode.ACCEPT_EDITS, Mode.AUTO
_SCOPE_CHECK = str(DecisionSource.SCOPE_CHECK)
_MODE = str(DecisionSource.MODE)


_STEPS = (
    (RuleBehavior.DENY, TraceStep.DENY),
    (RuleBehavior.ASK, TraceStep.ASK),
    (RuleBehavior.ALLOW, TraceStep.ALLOW),
)
_ANSWERS = {
    RuleBehavior.DENY: Behavior.DENY,
    RuleBehavior.ASK: Behavior.ASK,
    RuleBehavior.ALLOW: Behavior.ALLOW,
}
_RULE_REASONS = {
    RuleBehavior.DENY: Reason.DENY_RULE,
    RuleBehavior.ASK: Reason.ASK_RULE,
    RuleBehavior.ALLOW: Reason.ALLOW_RULE,
}


def _from_rule(part: Part, rule: Rule, confinement: Confinement | None) -> PartVerdict:
    what = (
        f"the rule {rule.text} could not be read, so it asks"
        if rule.is_cap
        else f"the {rule.behavior} rule {rule.text} applies"
    )
    return PartVerdict(
        part.text,
        _ANSWERS[rule.behavior],
        DecisionSource(str(rule.source)),
        ReasonType.RULE,
        _RULE_REASONS[rule.behavior],
        f"{what} ({place_of(rule.ref)})",
        rule.ref,
        part.detail,
        part.kind,
        confinement,
    )


def _from_floor(part: Part, floor: Floor) -> PartVerdict:
    by_sandbox = floor.reason is _UNSANDBOXED
    return PartVerdict(
        part.text,
        floor.behavior,
        _BY_SANDBOX if by_sandbox else DecisionSource.SCOPE_CHECK,
        ReasonType.SANDBOX if by_sandbox else ReasonType.SAFETY_CHECK,
        floor.reason,
        floor.message,
        None,
        part.detail,
        part.kind,
    )


def _by_mode(
    part: Part, behavior: Behavior, message: str, confinement: Confinement | None = None
) -> PartVerdict:
    return PartVerdict(
        part.text,
        behavior,
        _BY_MODE,
        _MODE_TYPE,
        _MODE_DEFAULT,
        message,
        None,
        part.detail,
        part.kind,
        confinement,
    )


def _default(part: Part, view: CallView) -> PartVerdict:
    """Return the answer where no rule matched."""
    if view.works_inside and view.mode is not _BYPASS:
        return PartVerdict(
            part.text,
            _ALLOW,
            _BY_SANDBOX,
            ReasonType.SANDBOX,
            Reason.SANDBOXED,
            "runs inside the sandbox, which limits it to the project",
            None,
            part.detail,
            part.kind,
            narrow(Confinement.PROJECT, view),
        )
    verdict = _mode_default(part, view)
    if verdict.confinement is None:
        return verdict
    return replace(verdict, confinement=narrow(verdict.confinement, view))


def _mode_default(part: Part, view: CallView) -> PartVerdict:
    mode = view.mode
    if part.is_free:
        message = "needs no permission inside the working directories"
        confinement = Confinement.NONE if mode is _BYPASS else Confinement.READ_ONLY
        return _by_mode(part, _ALLOW, message, confinement)
    if mode is _BYPASS:
        return _by_mode(part, _ALLOW, f"{mode_name(mode)} allows it", Confinement.NONE)
    if mode is _ACCEPT_EDITS and part.is_edit:
        return _by_mode(part, _ALLOW, f"{mode_name(mode)} allows file edits", Confinement.PROJECT)
    if mode is _DONT_ASK:
        return _by_mode(part, _DENY, f"{mode_name(mode)} denies what no rule allows")
    if mode is _PLAN and not part.is_write:
        return _plan_default(part, view)
    return _by_mode(part, _ASK, _mode_question(part, mode))


def _plan_default(part: Part, view: CallView) -> PartVerdict:
    if view.plan_runs:
        message = "plan mode runs it, confined to reading"
        return _by_mode(part, _ALLOW, message, Confinement.READ_ONLY)
    if not part.is_read_only:
        return _by_mode(part, _DENY, "plan mode denies commands that are not provably read-only")
    return _by_mode(part, _ASK, _mode_question(part, view.mode))


def _mode_question(part: Part, mode: Mode) -> str:
    hint = f"; {part.needs}" if part.needs else ""
    asks = "asks its classifier, then you" if mode is _AUTO else "asks"
    return f"no rule covers this, so {mode_name(mode)} {asks}{hint}"


def _cap_verdict(part: Part, verdict: PartVerdict, view: CallView) -> PartVerdict:
    mode = view.mode
    if mode is _DONT_ASK and verdict.behavior is _ASK:
        return replace(
            verdict,
            behavior=Behavior.DENY,
            message=f"{verdict.message}; {mode_name(mode)} denies instead of asking",
        )
    if mode is not _PLAN or verdict.behavior is _DENY:
        return verdict
    if part.is_write:
        if verdict.reason is Reason.ASK_RULE:
            return replace(
                verdict, behavior=Behavior.DENY, message=f"{verdict.message}; {_PLAN_WRITES}"
            )
        return _by_mode(part, Behavior.DENY, _PLAN_WRITES)
    if not (part.is_read_only or view.plan_runs) and verdict.behavior is Behavior.ALLOW:
        return _by_mode(
            part,
            Behavior.ASK,
            f"{verdict.message}; plan mode asks about commands that are not provably read-only",
        )
    return verdict


_PLAN_WRITES = "plan mode denies writes"
