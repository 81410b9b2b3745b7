"""The instructions of the agent that extracts facts."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Final

from agent.memory.facts import FactStore
from agent.messages import Message, user_message

_ASK: Final = """\
<system-note>
Between two prompts: the user does not see this. Look at the last {count} messages and store what \
of them is worth keeping. You have at most {turns} answers, and Read, Edit and Write on the files \
of the memory only; every other call is refused. In the first answer make all the reads you need, \
in the second all the writes; then say "done".

{project}/NAME.md: a fact of this project, of type feedback, project or reference
{everywhere}/NAME.md: a fact about the user, of type user
NAME is short, of lower case, digits and dashes. Such a file is one fact, in at most 60 words:
---
type: feedback
---
Commit messages in English.

Keep what later sessions need and what stands nowhere else. user: who the user is and what they \
know. feedback: what they corrected, and also what they confirmed. project: decisions, goals, \
deadlines; absolute dates only, today is {today}. reference: where to look outside of the project. \
Never what code, its history or a file says, never a secret, nothing that only matters today. Most \
of the time there is nothing. Write an empty file to remove a fact that turned out to be wrong or \
that the user wants forgotten.

{notes}: always, the state of this whole conversation, in at most 500 words: goal with every \
constraint the user stated, what is done, files that matter, findings, next step.

Facts there are, each whole in its line:
{facts}</system-note>"""


def ask_for(
    store: FactStore, notes: Path, index: str, *, count: int, turns: int, today: date
) -> Message:
    """Return the instruction message; `count` messages are new, `index` lists the known facts."""
    text = _ASK.format(
        count=count,
        turns=turns,
        project=store.directory,
        everywhere=store.everywhere,
        notes=notes,
        today=today.isoformat(),
        facts=index or "(none)\n",
    )
    return user_message(text, origin="reminder")
