"""The answer to one request, with everything needed to explain it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class Behavior(StrEnum):
    """What happens to the call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


STRICTNESS = {Behavior.ALLOW: 0, Behavior.ASK: 1, Behavior.DENY: 2}
"""Order of behaviours, from loosest to strictest."""


class DecisionSource(StrEnum):
    """Who decided: one of the six rule sources, or a step beside them."""

    POLICY = "policySettings"
    PROJECT = "projectSettings"
    LOCAL = "localSettings"
    USER_SETTINGS = "userSettings"
    CLI = "cliArg"
    SESSION = "session"
    SCOPE_CHECK = "scope_check"
    MODE = "mode"
    HOOK = "hook"
    CLASSIFIER = "classifier"
    USER = "user"
    BRIDGE = "bridge"
    CHANNEL = "channel"


class ReasonType(StrEnum):
    """The kind of step that decided."""

    RULE = "rule"
    HOOK = "hook"
    CLASSIFIER = "classifier"
    MODE = "mode"
    SAFETY_CHECK = "safety_check"
    USER = "user"
    BRIDGE = "bridge"
    CHANNEL = "channel"


class Reason(StrEnum):
    """Why the deciding step answered as it did."""

    DENY_RULE = "deny_rule"
    ASK_RULE = "ask_rule"
    ALLOW_RULE = "allow_rule"
    MODE_DEFAULT = "mode_default"
    SCOPE_BOUNDS_VIOLATION = "scope_bounds_violation"
    PROTECTED_PATH = "protected_path"
    BUDGET_EXCEEDED = "budget_exceeded"
    BLOCKED_HOST = "blocked_host"
    UNPARSABLE = "unparsable"
    UNKNOWN_TOOL = "unknown_tool"
    HOOK = "hook"
    CLASSIFIER = "classifier"
    USER = "user"
    BRIDGE = "bridge"
    CHANNEL = "channel"


class TraceStep(StrEnum):
    """A step of the decision, in the order in which they are asked."""

    SCOPE = "scope"
    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"
    MODE = "mode"
    CLASSIFIER = "classifier"
    HOOK = "hook"
    USER = "user"
    BRIDGE = "bridge"
    CHANNEL = "channel"


class RuleRef(Struct, frozen=True):
    """Where a rule that matched is written."""

    text: str
    """As written in its source."""
    source: str
    file: str | None = None
    line: int | None = None
    """1-based; None when the source has no file."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form of `permissions check`."""
        return {"text": self.text, "source": self.source, "file": self.file, "line": self.line}


class TraceEntry(Struct, frozen=True):
    """What one step answered about one part."""

    step: TraceStep
    answer: str
    """`allow`, `ask`, `deny`, or `none` when the step had no opinion."""
    source: str | None = None
    rule: str | None = None
    part: str | None = None
    """The part of a compound command that was asked about; None is the whole call."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form of `permissions check`."""
        return {
            "step": str(self.step),
            "answer": self.answer,
            "source": self.source,
            "rule": self.rule,
            "part": self.part,
        }


class WarningType(StrEnum):
    """Something about the configuration that a user should know."""

    MALFORMED_RULE = "malformed_rule"
    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_MODE = "unknown_mode"
    MODE_IGNORED = "mode_ignored"
    BYPASS_UNAVAILABLE = "bypass_unavailable"
    UNTRUSTED_SOURCE = "untrusted_source"
    SHADOWED_RULE = "shadowed_rule"


class DecisionWarning(Struct, frozen=True):
    """One warning; it never changes the answer by itself."""

    type: WarningType
    source: str | None
    rule: str | None
    message: str

    def as_json(self) -> dict[str, object]:
        """Return the JSON form of `permissions check`."""
        return {
            "type": str(self.type),
            "source": self.source,
            "rule": self.rule,
            "message": self.message,
        }


class PartVerdict(Struct, frozen=True):
    """The verdict on one part of a command, for the dialog's table."""

    text: str
    """The part as written in the command."""
    behavior: Behavior
    source: DecisionSource
    reason_type: ReasonType
    reason: Reason
    message: str
    rule: RuleRef | None = None
    detail: str = ""
    """What was looked through (wrappers, assignments) or what is accessed; may be empty."""
    kind: str = "command"
    """`command`, `write` (redirect), `read` (redirect) or `tool`."""


class GrantChoice(Struct, frozen=True):
    """Rules that the answer wants stored; only the winner of a race gets them stored."""

    rules: tuple[str, ...]
    destination: str
    """A rule source: `session`, `localSettings`, `projectSettings` or `userSettings`."""
    behavior: Behavior = Behavior.ALLOW


class Decision(Struct, frozen=True):
    """The answer to a request. For a compound, origin fields are those of its strictest part."""

    behavior: Behavior
    source: DecisionSource
    reason_type: ReasonType
    reason: Reason
    message: str
    rule: RuleRef | None = None
    warnings: tuple[DecisionWarning, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    parts: tuple[PartVerdict, ...] = ()
    """In source order; one entry for tools other than Bash."""
    updated_input: Mapping[str, object] | None = None
    """An input somebody put in place of the requested one; it is decided again before it runs."""
    feedback: str | None = None
    """The user's comment on a yes or a no."""
    interrupt: bool = False
    """A bare no: the turn ends."""
    grant: GrantChoice | None = None
    """What to remember beyond this call; None is "only this once"."""
    stored: tuple[str, ...] = ()
    """Rules that were stored together with this answer."""
    effects: tuple[str, ...] = ()
    """What the call would do, for users; filled in where somebody is asked."""
    rules: tuple[RuleRef, ...] = ()
    """Where the rules of the trace are written; filled in where a user reads it."""

    @property
    def is_mode_default_ask(self) -> bool:
        """Is this an ask only because nothing matched (what hooks and the classifier may lift)?"""
        return self.behavior is Behavior.ASK and self.reason is Reason.MODE_DEFAULT

    def as_json(self) -> dict[str, object]:
        """Return the JSON form of `permissions check`, without the id."""
        return {
            "behavior": str(self.behavior),
            "source": str(self.source),
            "reason_type": str(self.reason_type),
            "reason": str(self.reason),
            "message": self.message,
            "rule": None if self.rule is None else self.rule.as_json(),
            "warnings": [warning.as_json() for warning in self.warnings],
            "trace": [entry.as_json() for entry in self.trace],
        }
