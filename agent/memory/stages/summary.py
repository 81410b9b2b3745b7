"""Replaces the past by a summary, with the latest exchanges unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from agent.history import drop_thinking
from agent.memory.stages.digest import WORDS_END, WORDS_HEAD, own_words
from agent.messages import Message, user_message

CONTENTS = """\
Write, in at most 1,500 words and in this order:
1. Goal: what the user wants, with every constraint and preference they stated, also early ones.
2. State: what is done, what is being worked on at this moment, what is left.
3. Files: each file that matters by path, what is in it or was changed in it, with the names of \
functions and the few lines of code that are needed to go on.
4. Findings: facts learned, commands that work, errors met and what solved them, approaches that \
failed.
5. Next step: the very next thing to do, and how its success will be seen."""
INSTRUCTION = f"""\
<system-note>
The conversation is about to be compacted: everything up to here will be replaced by what you \
write now, and nothing else of it will be remembered. Call no tools. {CONTENTS}
{{focus}}</system-note>"""


def instruction(focus: str = "") -> Message:
    """Return the message that requests a summary; `focus` is what the user wants it to cover."""
    line = f"The user asks to keep in particular: {focus.strip()}\n" if focus.strip() else ""
    return user_message(INSTRUCTION.format(focus=line), origin="reminder")


def replace_past(messages: Sequence[Message], start: int, summary: str) -> tuple[Message, ...]:
    """Return a history of one summary message and the messages from `start` on.

    The user's prompts of the replaced part follow the summary verbatim; thinking in the
    remaining part is dropped, because the prefix that it was bound to is gone.
    """
    own_text = own_words(messages[:start])
    words = f"\n\n{WORDS_HEAD}{own_text}" if own_text else ""
    text = (
        "<system-note>\nThis conversation continues an earlier one that was compacted to save "
        f"room. What matters of it:\n\n{summary.strip()}{words}"
        f"{WORDS_END} read before you edit.\n</system-note>"
    )
    return (user_message(text, origin="summary"), *drop_thinking(messages[start:]))
