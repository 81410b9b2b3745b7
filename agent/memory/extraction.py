"""What one answer of the model finds worth storing: facts for later sessions, and notes on this
one. Pure: the request goes out in `agent.memory.extractor`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Final, get_args

from msgspec import Struct

from agent.memory.facts import Fact, FactType
from agent.messages import Message, user_message

MAX_NOTES: Final = 8_000
MAX_CHANGES: Final = 20

_ASK: Final = """\
<system-note>
Between two prompts: nobody reads this answer but the program. Call no tools. Look at the last \
{count} messages and say what of them is worth keeping, as lines of JSON and nothing else:
{{"op": "save", "type": "user|feedback|project|reference", "name": "short-name", "text": "…"}}
{{"op": "forget", "name": "short-name"}}
{{"op": "notes", "text": "…"}}
save: a fact that later sessions need and that stands nowhere else, in at most 60 words. user: who \
the person is and what they know. feedback: what they corrected, and also what they confirmed. \
project: decisions, goals, deadlines; absolute dates only, today is {today}. reference: where to \
look outside of the project. Never what code, its history or a file says, never a secret, nothing \
that only matters today. A name that exists is replaced. Most of the time there is nothing.
forget: a fact that turned out to be wrong or that the person wants forgotten.
notes: always, once: the state of this whole conversation, in at most 500 words: goal with every \
constraint the person stated, what is done, files that matter, findings, next step.
Facts there are:
{facts}</system-note>"""


class Extraction(Struct, frozen=True):
    """The content of an answer."""

    save: tuple[Fact, ...] = ()
    forget: tuple[str, ...] = ()
    notes: str = ""


def ask_for(index: str, *, count: int, today: date) -> Message:
    """Return the message that asks; `count` messages are new, `index` lists the facts there are."""
    text = _ASK.format(count=count, today=today.isoformat(), facts=index or "(none)\n")
    return user_message(text, origin="reminder")


def read_answer(text: str) -> Extraction:
    """Return the content of the lines; other lines are ignored."""
    save: list[Fact] = []
    forget: list[str] = []
    notes = ""
    for line in text.splitlines():
        data = _object(line)
        match data.get("op"):
            case "save":
                fact = _fact(data)
                if fact is not None:
                    save.append(fact)
            case "forget" if isinstance(data.get("name"), str):
                forget.append(str(data["name"]))
            case "notes" if isinstance(data.get("text"), str):
                notes = str(data["text"]).strip()[:MAX_NOTES]
            case _:
                continue
    return Extraction(tuple(save[:MAX_CHANGES]), tuple(forget[:MAX_CHANGES]), notes)


def _fact(data: Mapping[str, object]) -> Fact | None:
    name, text = data.get("name"), data.get("text")
    types: tuple[FactType, ...] = get_args(FactType)
    kind = next((each for each in types if each == data.get("type")), None)
    if kind is None or not isinstance(name, str) or not isinstance(text, str):
        return None
    return Fact(kind, name, text)


def _object(line: str) -> Mapping[str, object]:
    line = line.strip().strip("`,")
    if not line.startswith("{"):
        return {}
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
