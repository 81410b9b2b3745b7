"""A summary that costs nothing: what the user said, what was touched, how it ended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from agent.messages import Message

OWN_WORDS_CHARACTERS: Final = 12_000
ONE_PROMPT_CHARACTERS: Final = 4_000
WORDS_HEAD: Final = "The person's messages so far, word for word:\n"
WORDS_END: Final = "\n\nFiles may have changed since:"
MAX_PATHS: Final = 60
MAX_COMMANDS: Final = 20
LAST_ANSWER_CHARACTERS: Final = 3_000
_LEFT_OUT: Final = re.compile(r"\[(\d{1,6}) prompts left out\]")
_CHANGING: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})


def own_words(messages: Iterable[Message]) -> str:
    """Return the user's prompts word for word, oldest first; over the limit the middle is cut.

    The first prompt and the latest ones stay: they hold the task and where it stands. Words that
    an earlier summary carried are carried on.
    """
    prompts: list[str | None] = []  # None: left out by an earlier compaction
    for message in messages:
        if message.origin == "summary":
            prompts += _said_before(message.text)
        elif message.origin == "person" and message.text.strip():
            prompts.append(_short(message.text.strip()))
    if not prompts:
        return ""
    first = f"1. {prompts[0] or ''}"
    room = OWN_WORDS_CHARACTERS - len(first)
    latest: list[str] = []
    for number, text in reversed(list(enumerate(prompts, 1))[1:]):
        room -= len(text or "")
        if room < 0 or text is None:
            break
        latest.insert(0, f"{number}. {text}")
    left_out = len(prompts) - 1 - len(latest)
    middle = [f"[{left_out} prompts left out]"] if left_out else []
    return "\n".join([first, *middle, *latest])


def _said_before(summary: str) -> list[str | None]:
    """Return the prompts that a summary message carries."""
    _, found, rest = summary.partition(WORDS_HEAD)
    if not found:
        return []
    text = rest.rpartition(WORDS_END)[0]
    prompts: list[str | None] = []
    for line in text.strip("\n").split("\n"):
        start = f"{len(prompts) + 1}. "
        left_out = _LEFT_OUT.fullmatch(line)
        if line.startswith(start):
            prompts.append(line.removeprefix(start))
        elif left_out is not None:
            prompts += [None] * int(left_out[1])
        elif prompts and prompts[-1] is not None:
            prompts[-1] += f"\n{line}"
    return prompts


def digest(messages: Sequence[Message]) -> str:
    """Return what can be told of a history without asking a model."""
    read: dict[str, None] = {}
    changed: dict[str, None] = {}
    commands: list[str] = []
    todos = ""
    for message in messages:
        for use in message.tool_uses():
            path = use.input.get("file_path") or use.input.get("notebook_path")
            if isinstance(path, str):
                (changed if use.name in _CHANGING else read)[path] = None
            command = use.input.get("command")
            if use.name == "Bash" and isinstance(command, str):
                commands.append(command.strip().splitlines()[0][:200] if command.strip() else "")
            if use.name == "TodoWrite":
                todos = json.dumps(use.input.get("todos"), ensure_ascii=False)[:4_000]
    answers = [m.text.strip() for m in messages if m.role == "assistant" and m.text.strip()]
    parts = [
        ("Files changed", "\n".join(list(changed)[-MAX_PATHS:])),
        ("Files read", "\n".join([p for p in read if p not in changed][-MAX_PATHS:])),
        ("Last commands", "\n".join(filter(None, commands[-MAX_COMMANDS:]))),
        ("Task list", todos),
        ("Last answer", answers[-1][-LAST_ANSWER_CHARACTERS:] if answers else ""),
    ]
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts if text)


def _short(text: str) -> str:
    if len(text) <= ONE_PROMPT_CHARACTERS:
        return text
    half = ONE_PROMPT_CHARACTERS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"
