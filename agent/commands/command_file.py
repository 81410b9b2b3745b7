"""One Markdown file as a command: its head as metadata, its body as what is said.

Field names are those of the skills documentation. What a head gets wrong is reported and left out;
the rest of the file counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent.commands.arguments import first_number
from agent.commands.spec import CommandSource, Metadata, Template
from agent.prompt.frontmatter import read_head
from agent.sanitize import sanitize

MAX_FILE_BYTES: Final = 1_000_000
MAX_DESCRIPTION: Final = 1_000
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
RESERVED: Final = frozenset({"exit", "quit", "help", "permissions", "hooks", "trust", "doctor"})
"""Names that a project may not take: they are how a person looks at what it does, and leaves."""
_NAME_PART: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a command file that its owner should know."""

    file: Path
    message: str

    def __str__(self) -> str:
        return f"{sanitize(str(self.file))}: {self.message}"


@dataclass(frozen=True, slots=True)
class CommandFile:
    """A file that was read."""

    meta: Metadata
    template: Template
    for_model: bool
    problems: tuple[Problem, ...] = ()


def command_name(parts: tuple[str, ...]) -> str | None:
    """Return the name people type for a file below a commands folder; None where none is possible.

    White space becomes `-`; names with control characters or bytes that are no UTF-8 have none.
    """
    joined = ":".join(_NAME_PART.sub("-", part.strip()) for part in parts)
    is_typeable = joined.isprintable() and not any(0xD800 <= ord(c) < 0xE000 for c in joined)
    return joined if joined.strip(":") and is_typeable and "/" not in joined else None


def parse_command_file(
    data: bytes, *, name: str, file: Path, source: CommandSource, is_skill: bool
) -> CommandFile:
    """Return the command a file describes. Raises nothing."""
    text = data.decode("utf-8-sig", "replace")
    head = read_head(text)
    reader = _HeadReader(head.values, file)
    if head.problem:
        reader.say(head.problem)
    body = head.body.strip("\n")
    names = reader.words("arguments")
    effort = reader.text("effort") or None
    if effort is not None and effort not in EFFORTS:
        reader.say(f"effort is {effort!r}; known: {', '.join(EFFORTS)}")
        effort = None
    model = reader.text("model") or None
    meta = Metadata(
        name=name,
        description=(reader.text("description") or _first_line(body))[:MAX_DESCRIPTION],
        argument_hint=reader.hint("argument-hint") or " ".join(f"[{n}]" for n in names),
        source=source,
        when_to_use=reader.text("when_to_use")[:MAX_DESCRIPTION],
        is_listed=reader.flag("user-invocable", default=True),
        file=file,
    )
    template = Template(
        body=body,
        first_argument=first_number(body, 0 if is_skill else 1),
        folder=file.parent if is_skill else None,
        argument_names=names,
        allowed_tools=reader.rules("allowed-tools"),
        disallowed_tools=reader.rules("disallowed-tools"),
        model=None if model in {None, "inherit", "default"} else model,
        effort=effort,
        hooks=reader.mapping("hooks"),
    )
    for_model = not reader.flag("disable-model-invocation", default=False)
    if not is_skill and not reader.text("description"):
        # The model is told of commands by their description; without one it cannot choose.
        for_model = False
    return CommandFile(meta, template, for_model, tuple(reader.problems))


def split_rules(text: str) -> tuple[str, ...]:
    """Return the rules of one line: parted by commas or spaces, but not inside parentheses."""
    rules: list[str] = []
    current = ""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")" and depth > 0)
        if depth == 0 and (char == "," or char.isspace()):
            rules.append(current)
            current = ""
        else:
            current += char
    return tuple(rule for rule in (r.strip() for r in (*rules, current)) if rule)


class _HeadReader:
    def __init__(self, values: Mapping[str, Any], file: Path) -> None:
        self._values = values
        self._file = file
        self.problems: list[Problem] = []

    def say(self, message: str) -> None:
        self.problems.append(Problem(self._file, message))

    def text(self, key: str) -> str:
        value = self._value(key)
        if value is None:
            return ""
        if isinstance(value, str | int | float):
            return " ".join(sanitize(str(value)).split())
        self.say(f"{key} should be text")
        return ""

    def hint(self, key: str) -> str:
        """`argument-hint: [file]` is a list to YAML, and meant as it is written."""
        value = self._value(key)
        if isinstance(value, list):
            return " ".join(f"[{sanitize(str(part))}]" for part in value)
        return self.text(key)

    def words(self, key: str) -> tuple[str, ...]:
        value = self._value(key)
        if isinstance(value, list):
            return tuple(sanitize(str(part)) for part in value)
        return tuple(self.text(key).replace(",", " ").split())

    def rules(self, key: str) -> tuple[str, ...]:
        value = self._value(key)
        if isinstance(value, list):
            return tuple(str(part).strip() for part in value if str(part).strip())
        if value is None or isinstance(value, str):
            return split_rules(value or "")
        self.say(f"{key} should be text or a list")
        return ()

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._value(key)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        if str(value).lower() in {"true", "false"}:
            return str(value).lower() == "true"
        self.say(f"{key} should be true or false")
        return default

    def mapping(self, key: str) -> Mapping[str, object] | None:
        value = self._value(key)
        if value is None or isinstance(value, dict):
            return {str(name): entry for name, entry in value.items()} if value else None
        self.say(f"{key} should be a list of keys")
        return None

    def _value(self, key: str) -> Any:
        other = key.replace("-", "_") if "-" in key else key.replace("_", "-")
        return self._values.get(key, self._values.get(other))


def _first_line(body: str) -> str:
    for line in body.splitlines():
        words = sanitize(line).strip().lstrip("#").strip()
        if words:
            return words[:200]
    return ""
