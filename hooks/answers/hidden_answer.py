"""Detects an answer that was not read because other text surrounds its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import Final

from hooks.answers.answer import SPECIFIC, TOP_LEVEL
from permissions.base.text.late_pattern import compile_late

OPENING: Final = compile_late(r"\{\s*\"")
TRIED: Final = 20
"""How many places are checked; output may be long."""
ANSWER_KEYS: Final = frozenset(
    """
    continue decision hookSpecificOutput permissionDecision stopReason systemMessage updatedInput
    """.split()
)
"""Field names that seldom occur outside of answers."""


def has_answer_inside(text: str) -> bool:
    """Return whether an object anywhere in a text, given without escape sequences, is an answer."""
    decoder = json.JSONDecoder()
    for opening in islice(OPENING.finditer(text), TRIED):
        try:
            value, _ = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping) and value.keys() & ANSWER_KEYS:
            return True
    return False


def ends_with_answer(text: str) -> bool:
    """Return whether the last lines of a text, which may contain other JSON, are an answer."""
    brace = text.find("\n{")
    if brace < 0 or not text.endswith("}"):
        return False
    try:
        value = json.loads(text[brace:])
    except (ValueError, RecursionError):
        return False
    return isinstance(value, Mapping) and bool(value.keys() & (TOP_LEVEL | SPECIFIC))
