"""The answer to one request, with everything needed to explain it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from permissions.confinement import Confinement


class Behavior(StrEnum):
    """What happens to the call."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


STRICTNESS = {Behavior.ALLOW: 0, Behavior.ASK: 1, Behavior.DENY: 2}
"""Order of behaviors, from loosest to strictest."""


class DecisionSource(StrEnum):
    """Who decided: one of the six rule sources, or another step."""

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
    SANDBOX = "sandbox"


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
    SANDBOX = "sandbox"


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
    WANTS_USER = "wants_user"
    HOOK = "hook"
    CLASSIFIER = "classifier"
    USER = "user"
    BRIDGE = "bridge"
    CHANNEL = "channel"
    SANDBOXED = "sandboxed"
    UNSANDBOXED = "unsandboxed"


class TraceStep(StrEnum):
    """A step of the decision, in the order in which they are asked."""

    SCOPE = "scope"
    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"
    MODE = "mode"
    SANDBOX = "sandbox"
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


SOURCE_NAMES: Final = {
    "policySettings": "managed settings",
    "projectSettings": "project settings",
    "localSettings": "local settings",
    "userSettings": "your settings",
    "cliArg": "command line",
    "session": "this session",
}
"""The six sources of rules as users call them."""


def source_name(source: str) -> str:
    """Return one of the six sources of rules as users call it; anything else as it is."""
    return SOURCE_NAMES.get(source, source)


def place_of(rule: RuleRef, short: Callable[[str], str] = str) -> str:
    """Return where a rule is written: its source, with file and line where there are any.

    `short` writes the path of the file.
    """
    line = f":{rule.line}" if rule.line else ""
    file = f", {short(rule.file)}{line}" if rule.file else ""
    return f"{source_name(rule.source)}{file}"


class TraceEntry(Struct, frozen=True):
    """What one step answered about one part."""

    step: TraceStep
    answer: str
    """`allow`, `ask`, `deny`, or `none` when the step had no opinion."""
    source: str | None = None
    rule: str | None = None
    part: str | None = None
    """The part of a compound command that was asked about; None is the whole call."""
    is_enforceable: bool | None = None
    """False for an allow whose confinement this machine cannot enforce; None everywhere else."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form of `permissions check`; with `held` only if it is set."""
        fields: dict[str, object] = {
            "step": str(self.step),
            "answer": self.answer,
            "source": self.source,
            "rule": self.rule,
            "part": self.part,
        }
        return fields if self.is_enforceable is None else {**fields, "held": self.is_enforceable}


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
    """The wrappers and assignments around the command, or the accesses; may be empty."""
    kind: str = "command"
    """`command`, `write` (redirect), `read` (redirect) or `tool`."""
    confinement: Confinement | None = None
    """What must be enforced for this part's allow to be true; None unless it is one."""


class GrantChoice(Struct, frozen=True):
    """Rules that an answer asks to store; only those of a race's winner are stored."""

    rules: tuple[str, ...]
    destination: str
    """A rule source: `session`, `localSettings`, `projectSettings` or `userSettings`."""
    behavior: Behavior = Behavior.ALLOW
    directories: tuple[str, ...] = ()
    """Directories that become working directories for the session; canonical."""


class Decision(Struct, frozen=True):
    """The answer to a request. For a compound command, source and reason are those of its strictest
    part."""

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
    """An input that replaces the requested one; it is decided again before it runs."""
    feedback: str | None = None
    """The user's comment on an allow or a deny."""
    interrupt: bool = False
    """Whether a deny also ends the turn."""
    grant: GrantChoice | None = None
    """The rules and directories to store; None applies the answer to this call only."""
    stored_rules: tuple[str, ...] = ()
    """Rules that were stored together with this answer."""
    effects: tuple[str, ...] = ()
    """What the call would do, for users; set when a user is asked."""
    rules: tuple[RuleRef, ...] = ()
    """Where the rules of the trace are written; set for display to a user."""
    confinement: Confinement | None = None
    """What the operating system must enforce while the call runs; None unless it is an allow.

    File tools run in this process and comply by opening files without following links; for other
    tools it is information, and nothing enforces it.
    """
    write_dirs: tuple[str, ...] = ()
    """Existing directories outside the working directories that the call provably writes to;
    canonical. An allow adds them to what this one call may write."""

    @property
    def ask_reasons(self) -> frozenset[Reason]:
        """The reasons of all parts that ask; empty for an allow or a deny."""
        if self.behavior is not Behavior.ASK:
            return frozenset()
        reasons = {self.reason}
        for part in self.parts:
            if part.behavior is Behavior.ASK:
                reasons.add(part.reason)
        return frozenset(reasons)

    @property
    def is_mode_default_ask(self) -> bool:
        """Whether it asks only because nothing matched (which hooks and the classifier may
        lift)."""
        return self.ask_reasons == {Reason.MODE_DEFAULT}

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
            "confinement": None if self.confinement is None else str(self.confinement),
            "trace": [entry.as_json() for entry in self.trace],
        }
