"""One Markdown file as a command: its frontmatter as metadata, its body as the prompt.

Field names are those of the skills documentation. Invalid fields are reported and ignored; the rest
of the file applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from agent.commands.arguments import first_number
from agent.commands.spec import CommandSource, Metadata, Template
from agent.prompt.frontmatter import read_head, split_rules
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import sanitize

MAX_FILE_BYTES: Final = 1_000_000
MAX_DESCRIPTION: Final = 1_000
KNOWN_KEYS: Final = (
    "name", "description", "when-to-use", "argument-hint", "arguments", "allowed-tools",
    "disallowed-tools", "model", "effort", "context", "agent", "background", "hooks", "paths",
    "shell", "disable-model-invocation", "user-invocable", "license", "metadata", "compatibility",
    "version",
)  # fmt: skip
"""Frontmatter keys, spelled with dashes; some are for other programs and have no effect here."""
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
RESERVED: Final = frozenset({"exit", "quit", "help", "permissions", "hooks", "trust", "doctor"})
"""Names that a project may not use: users need these commands to inspect it and to leave."""
_AGENT: Final = compile_late(r"[A-Za-z0-9_:.-]{1,100}")
_NAME_PART: Final = compile_late(r"\s+")
_PLAIN_NAME: Final = compile_late(r"[A-Za-z0-9][A-Za-z0-9_:.-]*")
"""Fast path for nearly all names: a thousand may be checked before the first prompt is sent."""


class FileProblem(Struct, frozen=True):
    """A problem of a command file, for its owner."""

    file: Path
    message: str

    def __str__(self) -> str:
        return f"{sanitize(str(self.file))}: {self.message}"


class Heading(Struct, frozen=True):
    """What lists show of a file; it depends only on the content, not on the path."""

    description: str
    argument_hint: str = ""
    when_to_use: str = ""
    is_listed: bool = True
    for_model: bool = False
    problems: tuple[str, ...] = ()
    """What is wrong with the file, for users."""

    def metadata(self, name: str, source: CommandSource, path: str) -> Metadata:
        """Return the metadata of a command with this heading."""
        return Metadata(
            name=name,
            description=self.description,
            argument_hint=self.argument_hint,
            source=source,
            when_to_use=self.when_to_use,
            is_listed=self.is_listed,
            path=path,
        )


class CommandFile(Struct, frozen=True):
    """A file that was read."""

    heading: Heading
    template: Template


def command_name(parts: tuple[str, ...]) -> str | None:
    """Return the name users type for a file below a commands directory; None if it has no name.

    White space becomes `-`; files with control characters or invalid UTF-8 in their name have none.
    """
    name = ":".join(parts)
    if _PLAIN_NAME.fullmatch(name) is not None:
        return name
    name = ":".join(_NAME_PART.sub("-", part.strip()) for part in parts)
    # Surrogates, which represent bytes that are not UTF-8, are not printable either.
    return name if name.strip(":") and name.isprintable() and "/" not in name else None


def parse_command_file(data: bytes, *, directory: Path | None) -> CommandFile:
    """Return the command that a file describes; `directory` is that of a skill. Raises nothing."""
    text = data.decode("utf-8-sig", "replace")
    head = read_head(text)
    reader = _FrontmatterReader(head.values)
    if head.problem:
        reader.report(head.problem)
    else:
        reader.report_mistyped_keys()
    body = head.body.strip("\n")
    names = reader.words("arguments")
    effort = _effort(reader)
    model = reader.text("model") or None
    description_text = reader.text("description")
    description = (description_text or _first_line(body))[:MAX_DESCRIPTION]
    argument_hint = reader.hint("argument-hint") or " ".join(f"[{n}]" for n in names)
    when_to_use = reader.text("when_to_use")[:MAX_DESCRIPTION]
    is_listed = reader.flag("user-invocable", default=True)
    template = Template(
        body=body,
        first_argument=first_number(body, 1 if directory is None else 0),
        directory=directory,
        argument_names=names,
        allowed_tools=reader.rules("allowed-tools"),
        disallowed_tools=reader.rules("disallowed-tools"),
        model=None if model in {None, "inherit", "default"} else model,
        effort=effort,
        agent=_agent(reader),
        hooks=reader.mapping("hooks"),
    )
    # The model chooses commands by their description, so it needs one.
    can_choose = directory is not None or bool(description_text)
    for_model = not reader.flag("disable-model-invocation", default=False) and can_choose
    heading = Heading(
        description, argument_hint, when_to_use, is_listed, for_model, tuple(reader.problems)
    )
    return CommandFile(heading, template)


def _effort(reader: _FrontmatterReader) -> str | None:
    effort = reader.text("effort") or None
    if effort is None or effort in EFFORTS:
        return effort
    reader.report(f"effort is {effort!r}; known: {', '.join(EFFORTS)}")
    return None


class _FrontmatterReader:
    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values
        self.problems: list[str] = []

    def report(self, message: str) -> None:
        self.problems.append(message)

    def report_mistyped_keys(self) -> None:
        """Report unknown keys that resemble a known one; other programs have keys of their own."""
        for key in self._values:
            if key.replace("_", "-") in KNOWN_KEYS:
                continue
            import difflib  # few files need it

            matches = difflib.get_close_matches(key.lower(), KNOWN_KEYS, n=1, cutoff=0.8)
            if matches:
                self.report(f"{sanitize(key)} is not a known key; did you mean {matches[0]}?")

    def text(self, key: str) -> str:
        value = self._value(key)
        if value is None:
            return ""
        if isinstance(value, str | int | float):
            return " ".join(sanitize(str(value)).split())
        self.report(f"{key} should be text")
        return ""

    def hint(self, key: str) -> str:
        """Return a hint as written: YAML parses `argument-hint: [file]` as a list."""
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
        self.report(f"{key} should be text or a list")
        return ()

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._value(key)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        if str(value).lower() in {"true", "false"}:
            return str(value).lower() == "true"
        self.report(f"{key} should be true or false")
        return default

    def mapping(self, key: str) -> Mapping[str, object] | None:
        value = self._value(key)
        if value is None or isinstance(value, dict):
            return {str(name): entry for name, entry in value.items()} if value else None
        self.report(f"{key} should be a list of keys")
        return None

    def _value(self, key: str) -> Any:
        if key in self._values:
            return self._values[key]
        return self._values.get(key.replace("-", "_") if "-" in key else key.replace("_", "-"))


def _agent(reader: _FrontmatterReader) -> str | None:
    """Return the kind of sub-agent in `agent` if `context` is `fork`, else None."""
    context = reader.text("context")
    if context not in {"", "fork", "inline"}:
        reader.report(f"context is {context!r}; known: fork")
    kind = reader.text("agent") or "general-purpose"
    if _AGENT.fullmatch(kind) is None:
        reader.report("agent should be the name of a kind of sub-agent")
        kind = "general-purpose"
    return kind if context == "fork" else None


def _first_line(body: str) -> str:
    for line in body.splitlines():
        words = sanitize(line).strip().lstrip("#-").strip()
        if words:
            return words[:200]
    return ""
