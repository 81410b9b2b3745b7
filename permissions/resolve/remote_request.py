"""Requests and answers as JSON, for a remote user: the format of bridge and channel.

The answer is a user's: `{"behavior": "allow" | "deny", "message"?, "updated_input"?}`. As in the
dialog, a deny without a message ends the turn; with one it continues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.request import PermissionRequest

MAX_MESSAGE_CHARS: Final = 4_000
_FIELDS: Final = frozenset({"behavior", "message", "updated_input"})


class BadAnswer(ValueError):
    """An invalid answer; the message names what is expected."""


def request_json(request: PermissionRequest, pending: Decision) -> dict[str, object]:
    """Return what the dialog would show: the call as it would run, why it asks, part by part."""
    return {
        "id": request.request_id,
        "tool": request.tool,
        "input": dict(request.tool_input),
        "agent_id": request.agent_id,
        "agent_type": request.agent_type,
        "message": pending.message,
        "effects": list(pending.effects),
        "source": str(pending.source),
        "reason": str(pending.reason),
        "rule": None if pending.rule is None else pending.rule.as_json(),
        "parts": [
            {
                "text": part.text,
                "kind": part.kind,
                "behavior": str(part.behavior),
                "message": part.message,
                "detail": part.detail,
            }
            for part in pending.parts
        ],
    }


def decision_from(answer: object, source: DecisionSource) -> Decision:
    """Read an answer.

    Raises:
        BadAnswer: it is not an object of this format; unknown fields are invalid, too.
    """
    if not isinstance(answer, Mapping):
        raise BadAnswer('expected an object such as {"behavior": "allow"}')
    unknown = sorted(str(key) for key in answer.keys() - _FIELDS)
    if unknown:
        raise BadAnswer(f"unknown field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS))}")
    behavior = answer.get("behavior")
    if behavior not in ("allow", "deny"):
        raise BadAnswer('"behavior" must be "allow" or "deny"')
    is_yes = behavior == "allow"
    comment = _comment(answer)
    updated_input = _updated_input(answer, is_yes=is_yes)
    verb = "Allowed" if is_yes else "Declined"
    return Decision(
        behavior=Behavior.ALLOW if is_yes else Behavior.DENY,
        source=source,
        reason_type=ReasonType(str(source)),
        reason=Reason(str(source)),
        message=f"{verb} over the {source}.",
        updated_input=updated_input,
        feedback=comment,
        interrupt=not is_yes and comment is None,
    )


def _comment(answer: Mapping[str, object]) -> str | None:
    message = answer.get("message")
    if message is not None and not isinstance(message, str):
        raise BadAnswer('"message" must be a string')
    return (message or "").strip()[:MAX_MESSAGE_CHARS] or None


def _updated_input(answer: Mapping[str, object], *, is_yes: bool) -> dict[str, object] | None:
    value = answer.get("updated_input")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise BadAnswer('"updated_input" must be an object')
    if not is_yes:
        raise BadAnswer('"updated_input" goes with "allow" only')
    return dict(value)
