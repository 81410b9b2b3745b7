"""Decides, without a request, whether new messages may contain facts to extract.

They may if the user corrected, preferred or decided something: in a prompt, in the comment on a
declined call, or by answering a question. A false positive costs a short request; a false negative
only delays, as the next extraction includes these messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.messages import Block, Message
from agent.tools.decline_text import comment_in
from permissions.base.text.late_pattern import compile_late

ASKING: Final = "AskUserQuestion"

_MARKS: Final = compile_late(
    r"\b("
    r"always|never|every|from now on|don['’]?t|do not|stop|prefer|instead|rather|actually|wrong"
    r"|incorrect|remember|forget|note that|decided|agreed|let['’]s|deadline|due|must|should"
    r"|i am|i['’]m|my name|we use|we are|until|by (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|immer|nie|niemals|lieber|statt|stattdessen|falsch|merke|bitte nicht|ab jetzt|wir nutzen"
    r"|toujours|jamais|plutôt|faux|retiens|désormais|siempre|nunca|prefiero|mejor|recuerda"
    r")\b",
    re.IGNORECASE,
)
_FOREIGN_SCRIPT: Final = compile_late(r"[^\W\d_\x00-\u024f]")
"""A letter of a script other than that of the words above."""


def may_contain_facts(new: Sequence[Message]) -> bool:
    """Return whether the messages since the last extraction may contain a fact."""
    question_ids = {use.id for message in new for use in message.tool_uses() if use.name == ASKING}
    for message in new:
        if message.origin == "person" and _is_marked(message.text):
            return True
        if message.origin == "tool" and any(
            _is_answer(each, question_ids) for each in message.content
        ):
            return True
    return False


def _is_marked(text: str) -> bool:
    return bool(_MARKS.search(text) or _FOREIGN_SCRIPT.search(text))


def _is_answer(block: Block, question_ids: set[str]) -> bool:
    """Return whether a result is the user's answer to a question, or comment on a call."""
    if block.get("tool_use_id") in question_ids:
        return not block.get("is_error")
    content = block.get("content")
    return isinstance(content, str) and bool(comment_in(content))
