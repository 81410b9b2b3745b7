"""A decision explained: every step in its order, what it answered, and which one decided.

The dialog, `permissions explain` and the documentation use the same words. For users who never saw
the cascade: a step that was not checked has its reason, instead of being absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from permissions.decision import (
    SOURCE_NAMES,
    Behavior,
    Decision,
    DecisionSource,
    PartVerdict,
    Reason,
    TraceEntry,
    TraceStep,
    place_of,
    source_name,
)
from permissions.explain.confinement_text import confinement_words
from permissions.rules.rule_set import RuleSet

Shorten = Callable[[str], str]
"""Returns a file as users write it, such as `~/.agent/settings.json`."""


class ExplainedStep(Struct, frozen=True):
    """One step of a decision."""

    name: str
    """In words: `Deny rules`, `Mode`, `You`."""
    words: str
    """What it answered, in words, with the rule and its place where there is one."""
    answer: str
    """`allow`, `ask`, `deny`, or `none`; for colors."""
    decides: bool = False


class ExplainedPart(Struct, frozen=True):
    """The steps of one part of a call, or, at the end, those that answer for the whole call."""

    title: str
    """Empty where the call is one part."""
    steps: tuple[ExplainedStep, ...]
    first: int = 1
    """The number of its first step."""


def home_relative(home: str) -> Shorten:
    """Return a function that writes paths below a home directory with `~`."""

    def short(file: str) -> str:
        return f"~{file[len(home) :]}" if home and file.startswith(f"{home}/") else file

    return short


def place_relative(directory: str, home: str) -> Shorten:
    """Return a function that writes paths relative to a directory, and those outside relative to
    home."""
    from_home = home_relative(home)
    if directory == home:
        return from_home

    def short(file: str) -> str:
        inside = file.removeprefix(f"{directory}/") if directory else file
        return inside if inside != file else from_home(file)

    return short


def decider_name(source: str) -> str:
    """Return who or what decided, as users call it."""
    return _DECIDERS.get(source) or source_name(source)


def with_rules(decision: Decision, rules: RuleSet) -> Decision:
    """Return the decision with the places of all rules that its trace names."""
    named_rules = {(entry.source, entry.rule) for entry in decision.trace if entry.rule is not None}
    if not named_rules:
        return decision
    results = [rule.ref for rule in rules.rules if (str(rule.source), rule.text) in named_rules]
    return replace(decision, rules=tuple(results))


def reason_text(decision: Decision | PartVerdict, short: Shorten = str) -> str:
    """Return the reason of a decision, places of rules in words."""
    text = decision.message
    rules = decision.rules if isinstance(decision, Decision) else ()
    for rule in (*rules, decision.rule):
        if rule is not None:
            text = text.replace(f"({place_of(rule)})", f"({place_of(rule, short)})")
    return text


def extra_detail(part: PartVerdict, ground: str) -> str:
    """Return the pieces of a part's detail that `ground` does not contain."""
    return "; ".join(piece for piece in part.detail.split("; ") if piece and piece not in ground)


def explain_steps(decision: Decision, short: Shorten = str) -> tuple[ExplainedPart, ...]:
    """Return every step in its order, part by part, then who answered for the whole call."""
    places = _Places(decision, short)
    groups, later = _split(decision.trace)
    if len(groups) == 1:
        return _merge_parts(_explained_parts(decision, groups, later, places))
    return tuple(_explained_parts(decision, groups, later, places))


def _explained_parts(
    decision: Decision,
    groups: Sequence[Sequence[TraceEntry]],
    later: Sequence[TraceEntry],
    places: _Places,
) -> list[ExplainedPart]:
    is_matched = len(groups) == len(decision.parts)
    parts: list[ExplainedPart] = []
    strictest = _strictest(decision)
    for number, entries in enumerate(groups):
        verdict = decision.parts[number] if is_matched else None
        steps = _part_steps(entries, verdict, places)
        if decision.source in _ANSWERERS:
            steps = _undecided_steps(steps)
        part_name = in_one_line(entries[0].part or "")
        if verdict is not None:
            part_name = in_one_line(verdict.text) + _title_note(verdict, strictest, decision)
        title = f"Part {number + 1} of {len(groups)}: {part_name}" if len(groups) > 1 else ""
        parts.append(ExplainedPart(title, tuple(steps)))
    if whole := _whole_steps(later, decision):
        title = "Then, about the whole call" if len(groups) > 1 else ""
        first = max((len(part.steps) for part in parts), default=len(_CHECKS)) + 1
        parts.append(ExplainedPart(title, whole, first))
    return parts


def explanation_lines(decision: Decision, short: Shorten = str) -> list[str]:
    """Return the steps as lines of plain text; the one that decides begins with `»`."""
    lines: list[str] = []
    for part in explain_steps(decision, short):
        if part.title:
            lines.append(f"  {part.title}")
        for number, step in enumerate(part.steps, part.first):
            mark = "»" if step.decides else " "
            lines.append(f"  {mark} {number}. {step.name:<{NAME_CELLS}} {step.words}")
    return lines


_TITLE_CHARS: Final = 100
HOW_TO_READ: Final = "how this was decided (» = deciding step):"
NAME_CELLS: Final = 11
"""Length of the longest name of a step that is in every decision."""


class _Places:
    """Where the rules of a decision are written."""

    def __init__(self, decision: Decision, short: Shorten) -> None:
        self._short = short
        refs = [*decision.rules, *(part.rule for part in decision.parts), decision.rule]
        self._refs = {(ref.source, ref.text): ref for ref in refs if ref is not None}

    def rule_name(self, entry: TraceEntry) -> str:
        """Return the rule of a step with its place."""
        ref = self._refs.get((entry.source or "", entry.rule or ""))
        place = place_of(ref, self._short) if ref else source_name(entry.source or "")
        return f"{entry.rule} ({place})"


def in_one_line(text: str) -> str:
    """Return a command or rule as a title: its first line, bounded."""
    first = text.partition("\n")[0][:_TITLE_CHARS]
    return first if first == text else f"{first} …"


def _split(trace: Sequence[TraceEntry]) -> tuple[list[list[TraceEntry]], list[TraceEntry]]:
    """Return the checks of each part, and the steps that came after them."""
    groups: list[list[TraceEntry]] = []
    later: list[TraceEntry] = []
    for entry in trace:
        if entry.step not in _CHECKS and entry.step is not TraceStep.SANDBOX:
            later.append(entry)
        elif entry.step is TraceStep.SCOPE or not groups:
            groups.append([entry])
        else:
            groups[-1].append(entry)
    return groups, later


def _is_known_to_read(verdict: PartVerdict, decision: Decision) -> bool:
    """Whether it is a part of an ask but none of the reasons for it."""
    is_known = verdict.source is DecisionSource.CLASSIFIER
    return is_known and decision.behavior is Behavior.ASK


def _strictest(decision: Decision) -> PartVerdict | None:
    return next(
        (
            part
            for part in decision.parts
            if (part.behavior, part.reason, part.rule, part.message)
            == (decision.behavior, decision.reason, decision.rule, decision.message)
        ),
        None,
    )


def _undecided_steps(steps: Iterable[ExplainedStep]) -> list[ExplainedStep]:
    """Return the steps without a deciding one: the answer to the ask decided."""
    return [replace(step, decides=False) for step in steps]


def _title_note(verdict: PartVerdict, strictest: PartVerdict | None, decision: Decision) -> str:
    if verdict is strictest:
        return " — the strictest part, so it decides"
    if _is_known_to_read(verdict, decision):
        return " — only reads: alone it would run without asking"
    return ""


def _part_steps(
    entries: Iterable[TraceEntry], verdict: PartVerdict | None, places: _Places
) -> list[ExplainedStep]:
    by_step = {entry.step: entry for entry in entries}
    decisive = _decisive(by_step, verdict)
    steps = [_check(step, by_step, verdict, places, step is decisive) for step in _CHECKS]
    sandbox = by_step.get(TraceStep.SANDBOX)
    if sandbox is not None:
        decides = decisive is TraceStep.SANDBOX
        steps.append(
            ExplainedStep("Sandbox", _SANDBOX_WORDS[sandbox.answer], sandbox.answer, decides)
        )
    return steps


def _decisive(
    by_step: dict[TraceStep, TraceEntry], verdict: PartVerdict | None
) -> TraceStep | None:
    """Return the check that decided about a part."""
    if verdict is None or verdict.source is DecisionSource.CLASSIFIER:
        return None
    mode = by_step.get(TraceStep.MODE)
    if verdict.source is DecisionSource.SANDBOX and (mode is None or mode.answer == "none"):
        return TraceStep.SANDBOX
    if verdict.source is DecisionSource.MODE or (mode is not None and mode.answer != "none"):
        return TraceStep.MODE
    step = _STEP_OF_REASON.get(verdict.reason)
    if step is None and verdict.source is DecisionSource.SCOPE_CHECK:
        return _decisive_of_scope(by_step.get(TraceStep.SCOPE), verdict)
    return step


def _decisive_of_scope(entry: TraceEntry | None, verdict: PartVerdict) -> TraceStep:
    # A mode that never asks has turned the ask into its own answer.
    is_unchanged = entry is None or entry.answer == str(verdict.behavior)
    return TraceStep.SCOPE if is_unchanged else TraceStep.MODE


def _check(
    step: TraceStep,
    by_step: dict[TraceStep, TraceEntry],
    verdict: PartVerdict | None,
    places: _Places,
    decides: bool,
) -> ExplainedStep:
    entry = by_step.get(step)
    name = _NAMES[step]
    if entry is None:
        return ExplainedStep(name, _unasked_reason(step, by_step), "none", decides)
    answer = entry.answer
    if entry.rule is not None:
        return ExplainedStep(name, f"{_VERBS[answer]}: {places.rule_name(entry)}", answer, decides)
    if step is TraceStep.SCOPE:
        return ExplainedStep(name, _scope_words(entry, verdict), answer, decides)
    if step is TraceStep.MODE:
        words = _mode_words(entry, verdict, decides=decides)
        return ExplainedStep(
            name, words, str(verdict.behavior) if decides and verdict else answer, decides
        )
    return ExplainedStep(name, f"no match in any of the {len(SOURCE_NAMES)} sources", answer)


def _unasked_reason(step: TraceStep, by_step: dict[TraceStep, TraceEntry]) -> str:
    def is_answer(step: TraceStep, answer: str) -> bool:
        entry = by_step.get(step)
        return entry is not None and entry.answer == answer

    if is_answer(TraceStep.SCOPE, "deny"):
        return "not checked: nothing lifts what the scope denies"
    if is_answer(TraceStep.DENY, "deny"):
        return "not checked: a deny rule comes before everything else"
    if step is TraceStep.ALLOW:
        return "not checked: an ask rule comes before them"
    return "not checked"


def _scope_words(entry: TraceEntry, verdict: PartVerdict | None) -> str:
    if entry.answer == "none":
        return "stays inside your folders; no protected files"
    is_its_own = verdict is not None and verdict.source is DecisionSource.SCOPE_CHECK
    if is_its_own and verdict is not None:
        return f"{_VERBS[entry.answer]}: {verdict.message.partition('; ')[0]}"
    if entry.answer == "ask":
        return "asks about reads outside your folders, unless a rule allows them"
    return _VERBS[entry.answer]


def _mode_words(entry: TraceEntry, verdict: PartVerdict | None, *, decides: bool) -> str:
    if not decides or verdict is None:
        return (
            "nothing to add"
            if entry.answer == "none"
            else f"{_VERBS[entry.answer]}, since no rule covers this"
        )
    if verdict.source is DecisionSource.MODE:
        # The message of an allow rule comes first where the mode overrules it.
        return verdict.message.rpartition("); ")[2]
    if entry.answer == "none":
        return f"{_VERBS[str(verdict.behavior)]}: this mode says no where others would ask"
    return verdict.message.rpartition("; ")[2]


def _whole_steps(entries: Sequence[TraceEntry], decision: Decision) -> tuple[ExplainedStep, ...]:
    winner = next(
        (
            entry
            for entry in reversed(entries)
            if str(entry.step) == _STEP_OF_SOURCE.get(str(decision.source))
            and entry.answer == str(decision.behavior)
        ),
        None,
    )
    steps = [
        ExplainedStep(
            _NAMES[entry.step],
            _whole_words(entry) + (_IN_VAIN if _is_in_vain(entry, decision) else ""),
            entry.answer,
            entry is winner,
        )
        for entry in entries
    ]
    if decision.behavior is Behavior.ASK:
        steps.append(ExplainedStep("You", _ASKED, "ask"))
    if decision.confinement is not None:
        steps.append(ExplainedStep("Confined", confinement_words(decision), "none"))
    return tuple(steps)


def _is_in_vain(entry: TraceEntry, decision: Decision) -> bool:
    """Whether a hook allowed what only a user may allow."""
    is_yes = entry.step is TraceStep.HOOK and entry.answer == "allow"
    return is_yes and decision.source is not DecisionSource.HOOK


def _whole_words(entry: TraceEntry) -> str:
    source = entry.source or ""
    verb = _VERBS.get(entry.answer, entry.answer)
    part_note = f": {entry.part}" if entry.part else ""
    match entry.step:
        case TraceStep.CLASSIFIER if source == "classifier":
            # The table of commands that only read; it never denies.
            return f"{_KNOWN if entry.answer == 'allow' else _UNKNOWN}{part_note}"
        case TraceStep.USER if source in {"", "dialog"}:
            return {"allow": "said yes", "deny": "said no"}.get(entry.answer, verb)
        case _ if ": " in source:
            return source
        case _ if entry.answer == "none":
            return f"{source}: no opinion"
        case _:
            return f"{verb} ({source}){part_note}" if source else f"{verb}{part_note}"


def _merge_parts(parts: Sequence[ExplainedPart]) -> tuple[ExplainedPart, ...]:
    return (ExplainedPart("", tuple(step for part in parts for step in part.steps)),)


_SANDBOX_WORDS: Final = {
    "allow": "allows: the command runs inside the sandbox",
    "ask": "asks: it would run outside the sandbox, which only you allow",
}
_IN_VAIN: Final = ", which does not lift this"
_ASKED: Final = "are asked (with -p: denied)"
_KNOWN: Final = "allows: known to only read, inside your folders"
_UNKNOWN: Final = "not known to only read"
_CHECKS: Final = (TraceStep.SCOPE, TraceStep.DENY, TraceStep.ASK, TraceStep.ALLOW, TraceStep.MODE)
_NAMES: Final = {
    TraceStep.SCOPE: "Scope",
    TraceStep.DENY: "Deny rules",
    TraceStep.ASK: "Ask rules",
    TraceStep.ALLOW: "Allow rules",
    TraceStep.MODE: "Mode",
    TraceStep.CLASSIFIER: "Classifier",
    TraceStep.HOOK: "Hook",
    TraceStep.USER: "You",
    TraceStep.BRIDGE: "Bridge",
    TraceStep.CHANNEL: "Channel",
}
_VERBS: Final = {"allow": "allows", "ask": "asks", "deny": "denies", "none": "no opinion"}
_DECIDERS: Final = {
    "scope_check": "the scope",
    "mode": "the mode",
    "hook": "a hook",
    "classifier": "the classifier",
    "user": "you",
    "bridge": "the bridge",
    "channel": "the channel",
    "sandbox": "the sandbox",
}
_STEP_OF_REASON: Final = {
    Reason.DENY_RULE: TraceStep.DENY,
    Reason.ASK_RULE: TraceStep.ASK,
    Reason.ALLOW_RULE: TraceStep.ALLOW,
}
_ANSWERERS: Final = frozenset(
    {DecisionSource.HOOK, DecisionSource.USER, DecisionSource.BRIDGE, DecisionSource.CHANNEL}
)
_STEP_OF_SOURCE: Final = {
    "hook": "hook",
    "classifier": "classifier",
    "user": "user",
    "bridge": "bridge",
    "channel": "channel",
}
