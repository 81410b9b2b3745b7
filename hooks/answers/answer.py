"""What a hook answered, in one vocabulary: every spelling of the contract read into one value.

`read_answer` takes a parsed JSON object and the event's row of effects. A field of the wrong type
makes the whole answer unusable (`AnswerError`); a field that the event does not honor becomes a
note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from hooks.events.capabilities import GUARDS
from hooks.events.effects import Effects
from permissions.base.text.late_pattern import compile_late

Verdict = Literal["allow", "deny", "ask", "defer", "block"]

TOP_LEVEL: Final = frozenset(
    """
    continue stopReason suppressOutput systemMessage terminalSequence decision reason
    hookSpecificOutput async asyncTimeout suppressOriginalPrompt
    """.split()
)
SPECIFIC: Final = frozenset(
    """
    additionalContext initialUserMessage sessionTitle watchPaths reloadSkills suppressOriginalPrompt
    permissionDecision permissionDecisionReason updatedInput decision retry updatedToolOutput
    updatedMCPToolOutput classifierContext displayContent worktreePath action content
    """.split()
)
PERMISSION_WORDS: Final[Mapping[str, Verdict]] = {
    "allow": "allow",
    "approve": "allow",
    "deny": "deny",
    "block": "deny",
    "ask": "ask",
    "defer": "defer",
}
DECISION_WORDS: Final = frozenset({"block", "deny", "allow", "approve"})
TERMINAL_SEQUENCE: Final = compile_late(
    r"(?:\x07|\x1b\](?:0|1|2|9|99|777);[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\))+"
)
CLASSIFIER_CONTEXT_LIMIT: Final = 2_000


class AnswerError(ValueError):
    """The answer has the wrong shape; none of it applies."""


class Answer(Struct, frozen=True):
    """One handler's answer; None or empty for absent fields."""

    verdict: Verdict | None = None
    reason: str | None = None
    proceed: bool = True
    """`continue`."""
    stop_reason: str | None = None
    updated_input: Mapping[str, object] | None = None
    updated_tool_output: object = None
    permission_updates: tuple[Mapping[str, object], ...] = ()
    interrupt: bool = False
    retry: bool = False
    additional_context: str | None = None
    system_message: str | None = None
    terminal_sequence: str | None = None
    watch_paths: tuple[str, ...] | None = None
    worktree_path: str | None = None
    display_content: str | None = None
    action: str | None = None
    content: Mapping[str, object] | None = None
    classifier_context: str | None = None
    initial_user_message: str | None = None
    session_title: str | None = None
    reload_skills: bool = False
    suppress_original_prompt: bool = False
    notes: tuple[str, ...] = ()
    """Parts of the answer that are ignored, for users."""
    unknown_fields: tuple[str, ...] = ()
    """Unknown field names, in order."""


def read_answer(
    event: str,
    rules: Effects,
    raw: Mapping[str, object],
    *,
    payload: Mapping[str, object] | None = None,
) -> Answer:
    """Read an answer. Raises AnswerError with what was found and what is expected.

    Args:
        payload: The handler's input, to tell fields that a filter added from those that it passed
            through. None: all were passed through.
    """
    if raw.get("hook_event_name") == event and "session_id" in raw:
        # The handler echoed its input, as filters do: neither an answer nor an error.
        raw = _find_added(raw, payload)
        if not raw:
            return Answer()
    if not rules.reads_json:
        return Answer(notes=_ignored_notes(event, raw))
    return _Reader(event, rules, raw).read()


def _find_added(
    raw: Mapping[str, object], payload: Mapping[str, object] | None
) -> Mapping[str, object]:
    """Return the fields of an answer that a filter added to an echoed payload."""
    if payload is None:
        return {}
    return {
        name: value
        for name, value in raw.items()
        if name in TOP_LEVEL and not (name in payload and payload[name] == value)
    }


class _Reader:
    """Reads one answer field by field."""

    def __init__(self, event: str, rules: Effects, raw: Mapping[str, object]) -> None:
        self._event = event
        self._rules = rules
        self._raw = raw
        self._notes: list[str] = []
        self._unknown_fields: list[str] = []

    def read(self) -> Answer:
        """Return the answer."""
        specific = self._specific()
        self._note_unknown(specific)
        verdict, reason = self._verdict(specific)
        request = self._permission_answer(specific)
        context = self._text(specific, "additionalContext")
        message = _text(self._raw, "systemMessage")
        if message and self._event == "DirectoryAdded":
            # The contract sends this event's message to the model, with the next turn.
            context, message = message, None
        if message and not self._rules.honors_system_message:
            self._notes.append(f"systemMessage has no effect on {self._event}")
            message = None
        return Answer(
            verdict=verdict if request is None else request.verdict,
            reason=reason if request is None else request.reason,
            proceed=self._continue(),
            stop_reason=_text(self._raw, "stopReason"),
            updated_input=request.updated_input
            if request is not None
            else self._object(specific, "updatedInput"),
            updated_tool_output=self._tool_output(specific),
            permission_updates=() if request is None else request.permission_updates,
            interrupt=request is not None and request.interrupt,
            retry=self._flag(specific, "retry"),
            additional_context=context,
            system_message=message,
            terminal_sequence=self._terminal_sequence(),
            watch_paths=self._watch_paths(specific),
            worktree_path=self._text(specific, "worktreePath"),
            display_content=self._text(specific, "displayContent", allow_empty=True),
            action=self._action(specific),
            content=self._object(specific, "content"),
            classifier_context=_cut(self._text(specific, "classifierContext")),
            initial_user_message=self._text(specific, "initialUserMessage"),
            session_title=self._text(specific, "sessionTitle"),
            reload_skills=self._flag(specific, "reloadSkills"),
            suppress_original_prompt=self._suppress(specific),
            notes=tuple(self._notes),
            unknown_fields=tuple(self._unknown_fields),
        )

    def _specific(self) -> Mapping[str, object]:
        raw = self._raw.get("hookSpecificOutput")
        if raw is None:
            return {}
        if not isinstance(raw, Mapping):
            raise AnswerError("hookSpecificOutput must be an object")
        name = raw.get("hookEventName")
        if name is None:
            raise AnswerError(
                f'hookSpecificOutput needs "hookEventName": "{self._event}"; all of it is ignored'
            )
        if name != self._event:
            raise AnswerError(
                f"hookSpecificOutput is for {name!r}, but {self._event} fired; all of it is ignored"
            )
        return raw

    def _note_unknown(self, specific: Mapping[str, object]) -> None:
        for name in self._raw:
            if name in TOP_LEVEL:
                continue
            if name in SPECIFIC:
                self._notes.append(
                    f"{name} belongs in hookSpecificOutput; at the top level it is ignored"
                )
            elif not name.startswith("_"):
                self._unknown_fields.append(name)
        for name in specific:
            if name == "hookEventName" or name in self._rules.honors:
                continue
            self._notes.append(f"{name} has no effect on {self._event}")

    def _verdict(self, specific: Mapping[str, object]) -> tuple[Verdict | None, str | None]:
        word = _text(self._raw, "decision")
        reason = _text(self._raw, "reason")
        if word is not None and word not in DECISION_WORDS:
            raise AnswerError(f'decision must be "block", found {word!r}')
        if "permissionDecision" in self._rules.honors:
            return self._permission_verdict(specific, word, reason)
        if word is not None and not self._rules.decision_block:
            self._notes.append(f"decision has no effect on {self._event}")
            return None, reason
        return ("block" if word in ("block", "deny") else None), reason

    def _permission_verdict(
        self, specific: Mapping[str, object], word: str | None, reason: str | None
    ) -> tuple[Verdict | None, str | None]:
        own = self._permission_decision(specific)
        own_reason = self._text(specific, "permissionDecisionReason")
        if own is not None:
            return own, own_reason or reason
        if word is not None and self._event == "PreToolUse":
            return ("deny" if word in ("block", "deny") else "allow"), reason
        if word is not None:
            self._notes.append(f"decision has no effect on {self._event}")
        return None, own_reason or reason

    def _permission_decision(self, specific: Mapping[str, object]) -> Verdict | None:
        word = self._text(specific, "permissionDecision")
        if word is None:
            return None
        verdict = PERMISSION_WORDS.get(word)
        if verdict is None:
            raise AnswerError(
                f"permissionDecision must be allow, deny, ask or defer, found {word!r}"
            )
        if verdict == "defer" and self._event not in GUARDS:
            raise AnswerError(f"permissionDecision must be allow, deny or ask, found {word!r}")
        return verdict

    def _permission_answer(self, specific: Mapping[str, object]) -> Answer | None:
        """Read PermissionRequest's `decision` object."""
        if "decision" not in self._rules.honors:
            return None
        raw = specific.get("decision")
        if raw is None:
            return Answer()
        if not isinstance(raw, Mapping):
            raise AnswerError('decision must be an object with "behavior"')
        behavior = raw.get("behavior")
        if behavior not in ("allow", "deny"):
            raise AnswerError(f"decision.behavior must be allow or deny, found {behavior!r}")
        allows = behavior == "allow"
        return Answer(
            verdict="allow" if allows else "deny",
            reason=_text(raw, "message"),
            updated_input=_object(raw, "updatedInput") if allows else None,
            permission_updates=_updates(raw.get("updatedPermissions")) if allows else (),
            interrupt=not allows and _flag(raw, "interrupt"),
        )

    def _continue(self) -> bool:
        value = self._raw.get("continue", True)
        if value is None:
            return True
        if not isinstance(value, bool):
            raise AnswerError(f"continue must be true or false, found {value!r}")
        if not value and not self._rules.honors_continue:
            self._notes.append(f"continue: false has no effect on {self._event}")
            return True
        return value

    def _terminal_sequence(self) -> str | None:
        sequence = _text(self._raw, "terminalSequence")
        if not sequence:
            return None
        if not TERMINAL_SEQUENCE.fullmatch(sequence):
            self._notes.append(
                "terminalSequence may only be BEL or OSC 0, 1, 2, 9, 99, 777; ignored"
            )
            return None
        return sequence

    def _watch_paths(self, specific: Mapping[str, object]) -> tuple[str, ...] | None:
        value = self._honored_value(specific, "watchPaths")
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise AnswerError("watchPaths must be a list of paths")
        return tuple(value)

    def _tool_output(self, specific: Mapping[str, object]) -> object:
        general = self._honored_value(specific, "updatedToolOutput")
        return (
            general
            if general is not None
            else self._honored_value(specific, "updatedMCPToolOutput")
        )

    def _action(self, specific: Mapping[str, object]) -> str | None:
        action = self._text(specific, "action")
        if action not in (None, "accept", "decline", "cancel"):
            raise AnswerError(f"action must be accept, decline or cancel, found {action!r}")
        return action

    def _suppress(self, specific: Mapping[str, object]) -> bool:
        if "suppressOriginalPrompt" not in self._rules.honors:
            return False
        return _flag(self._raw, "suppressOriginalPrompt") or _flag(
            specific, "suppressOriginalPrompt"
        )

    def _honored_value(self, specific: Mapping[str, object], name: str) -> object:
        return specific.get(name) if name in self._rules.honors else None

    def _text(
        self, specific: Mapping[str, object], name: str, *, allow_empty: bool = False
    ) -> str | None:
        if name not in self._rules.honors:
            return None
        text = _text(specific, name)
        return text if text or allow_empty else None

    def _flag(self, specific: Mapping[str, object], name: str) -> bool:
        return name in self._rules.honors and _flag(specific, name)

    def _object(self, specific: Mapping[str, object], name: str) -> Mapping[str, object] | None:
        return _object(specific, name) if name in self._rules.honors else None


def _updates(raw: object) -> tuple[Mapping[str, object], ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list) or not all(isinstance(entry, Mapping) for entry in raw):
        raise AnswerError("updatedPermissions must be a list of objects")
    return tuple(raw)


def _text(raw: Mapping[str, object], name: str) -> str | None:
    value = raw.get(name)
    if value is None or isinstance(value, str):
        return value
    raise AnswerError(f"{name} must be text, found {type(value).__name__}")


def _flag(raw: Mapping[str, object], name: str) -> bool:
    value = raw.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise AnswerError(f"{name} must be true or false, found {value!r}")


def _object(raw: Mapping[str, object], name: str) -> Mapping[str, object] | None:
    value = raw.get(name)
    if value is None or isinstance(value, Mapping):
        return value
    raise AnswerError(f"{name} must be an object, found {type(value).__name__}")


def _ignored_notes(event: str, raw: Mapping[str, object]) -> tuple[str, ...]:
    names = [name for name in raw if name not in ("suppressOutput",)]
    return (f"{event} does not use an answer; {', '.join(names)} ignored",) if names else ()


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:CLASSIFIER_CONTEXT_LIMIT]
