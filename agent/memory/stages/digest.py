"""A summary that costs nothing: what the person said, what was touched, how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from agent.messages import Message

OWN_WORDS_CHARACTERS: Final = 12_000
ONE_PROMPT_CHARACTERS: Final = 4_000
MAX_PATHS: Final = 60
MAX_COMMANDS: Final = 20
LAST_ANSWER_CHARACTERS: Final = 3_000
_CHANGING: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})


def own_words(messages: Iterable[Message]) -> str:
    """Return the person's prompts word for word, oldest first; over the limit the middle is cut.

    The first prompt and the latest ones stay: they hold the task and where it stands.
    """
    prompts = [_short(m.text.strip()) for m in messages if m.origin == "person" and m.text.strip()]
    numbered = [f"{number}. {text}" for number, text in enumerate(prompts, 1)]
    if not numbered:
        return ""
    room = OWN_WORDS_CHARACTERS - len(numbered[0])
    latest: list[str] = []
    for text in reversed(numbered[1:]):
        room -= len(text)
        if room < 0:
            break
        latest.insert(0, text)
    left_out = len(numbered) - 1 - len(latest)
    middle = [f"[{left_out} prompts left out]"] if left_out else []
    return "\n".join([numbered[0], *middle, *latest])


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
