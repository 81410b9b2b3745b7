"""A summary without a model: the user's prompts, the files touched, and the latest state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, field

from agent.messages import Message, ToolUse
from permissions.base.text.late_pattern import compile_late

OWN_WORDS_CHARACTERS: Final = 12_000
ONE_PROMPT_CHARACTERS: Final = 4_000
WORDS_HEAD: Final = "The user's messages so far, word for word:\n"
_ANY_HEAD: Final = compile_late(r"The (?:user|person)'s messages so far, word for word:\n")
"""Sessions of earlier versions have `person` here."""
WORDS_END: Final = "\n\nFiles may have changed since:"
MAX_PATHS: Final = 60
MAX_COMMANDS: Final = 20
LAST_ANSWER_CHARACTERS: Final = 3_000
_LEFT_OUT: Final = compile_late(r"\[(\d{1,6}) prompts left out\]")
_CHANGING: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})


def own_words(messages: Iterable[Message]) -> str:
    """Return the user's prompts verbatim, oldest first; beyond the limit the middle is cut.

    The first prompt and the latest ones, with the task and its state, stay. Prompts quoted in
    an earlier summary are included.
    """
    prompts = _prompts(messages)
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


def _quoted_prompts(summary: str) -> list[str | None]:
    """Return the prompts that a summary message quotes."""
    head = _ANY_HEAD.search(summary)
    if head is None:
        return []
    text = summary[head.end() :].rpartition(WORDS_END)[0]
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


def _prompts(messages: Iterable[Message]) -> list[str | None]:
    """Return the user's prompts; None for those that an earlier compaction omitted."""
    prompts: list[str | None] = []
    for message in messages:
        if message.origin == "summary":
            prompts += _quoted_prompts(message.text)
        elif message.origin == "person" and message.text.strip():
            prompts.append(_shorten(message.text.strip()))
    return prompts


def digest(messages: Sequence[Message]) -> str:
    """Return a summary of a history, made without a model."""
    work = _Work()
    for message in messages:
        for use in message.tool_uses():
            work.add(use)
    answers = [m.text.strip() for m in messages if m.role == "assistant" and m.text.strip()]
    only_read = [path for path in work.read_files if path not in work.changed_files]
    parts = [
        ("Files changed", "\n".join(list(work.changed_files)[-MAX_PATHS:])),
        ("Files read", "\n".join(only_read[-MAX_PATHS:])),
        ("Last commands", "\n".join(filter(None, work.commands[-MAX_COMMANDS:]))),
        ("Task list", work.todos),
        ("Last answer", answers[-1][-LAST_ANSWER_CHARACTERS:] if answers else ""),
    ]
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts if text)


class _Work(Struct):
    """The effects of a history's calls, in order and without duplicates."""

    read_files: dict[str, None] = field(default_factory=dict)
    changed_files: dict[str, None] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    todos: str = ""

    def add(self, use: ToolUse) -> None:
        """Add the next call."""
        path = use.input.get("file_path") or use.input.get("notebook_path")
        if isinstance(path, str):
            (self.changed_files if use.name in _CHANGING else self.read_files)[path] = None
        command = use.input.get("command")
        if use.name == "Bash" and isinstance(command, str):
            self.commands.append(command.strip().splitlines()[0][:200] if command.strip() else "")
        if use.name == "TodoWrite":
            self.todos = json.dumps(use.input.get("todos"), ensure_ascii=False)[:4_000]


def _shorten(text: str) -> str:
    if len(text) <= ONE_PROMPT_CHARACTERS:
        return text
    half = ONE_PROMPT_CHARACTERS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"
