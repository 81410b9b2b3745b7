"""Parse an agent definition from the frontmatter of a Markdown file, or from JSON.

Invalid fields are reported and ignored; without a valid name and description there is no agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, cast, get_args

from agent.model.client import Effort
from agent.prompt.frontmatter import read_head, split_rules
from agent.settings.servers.mcp_entry import entry_mistake
from agent.subagents.definition import (
    MAX_TURNS,
    MOST_TURNS,
    AgentDefinition,
    AgentSource,
    MemoryScope,
)
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import sanitize
from permissions.mode import Mode, parse_mode

MAX_DESCRIPTION: Final = 4_000
NAME: Final = compile_late(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
COLORS: Final = ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")
_LIMITS: Final = ("tools", "disallowedTools", "permissionMode")
_UNREADABLE: Final = object()
_UNTRUSTED_FOR_PLUGINS: Final = ("hooks", "mcpServers", "permissionMode")


_FIELDS: Final = (
    "tools", "disallowedTools", "model", "effort", "permissionMode", "maxTurns", "skills",
    "mcpServers", "hooks", "memory", "background", "isolation", "color", "initialPrompt",
    "omitClaudeMd",
)  # fmt: skip


class NoAgent(Exception):
    """A file or entry defines no agent; the text says why, and is empty if none was intended."""


def agent_from_markdown(
    data: bytes, *, source: AgentSource, path: Path, prefix: str = ""
) -> AgentDefinition:
    """Return the agent of a Markdown file. Raises NoAgent."""
    head = read_head(data.decode("utf-8-sig", "replace"))
    name = head.values.get("name")
    if name is None:
        raise NoAgent("is not UTF-8 text" if b"\0" in data[:100] else head.problem)
    # A limit that cannot be parsed must not be treated as no limit.
    unreadable = {key: _UNREADABLE for key in _LIMITS if key.lower() in head.unread}
    fields = DefinitionFields({**head.values, **unreadable}, source)
    if head.problem:
        fields.problems.append(head.problem)
    return fields.definition(str(name), head.body.strip(), path, prefix)


def agent_from_json(name: str, raw: object, *, source: AgentSource) -> AgentDefinition:
    """Return the agent of one entry of `--agents`. Raises NoAgent."""
    if not isinstance(raw, Mapping):
        raise NoAgent("is not an object")
    prompt = raw.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        raise NoAgent("has no prompt")
    return DefinitionFields(raw, source).definition(name, prompt.strip(), None, "")


class DefinitionFields:
    """The fields of one definition; `problems` collects what is wrong with them."""

    def __init__(self, values: Mapping[str, object], source: AgentSource) -> None:
        """Take these values, except those that a plugin must not set for its agents."""
        key_names = {_fold_key(key): key for key in _FIELDS}
        self._values = {key_names.get(_fold_key(key), key): value for key, value in values.items()}
        self._source = source
        self.problems: list[str] = []
        if "tools" not in self._values and "allowedtools" in map(_fold_key, values):
            self.problems.append("allowed-tools has no effect in an agent; the field is `tools`")
        if source is AgentSource.PLUGIN:
            for key in _UNTRUSTED_FOR_PLUGINS:
                if self._values.pop(key, None) is not None:
                    self.problems.append(f"{key} has no effect in a plugin")

    def definition(self, name: str, prompt: str, path: Path | None, prefix: str) -> AgentDefinition:
        """Return the definition. Raises NoAgent."""
        name = name.strip()
        if NAME.fullmatch(name) is None:
            raise NoAgent(f"name is {sanitize(name)!r}; allowed are letters, digits, -, _ and .")
        description = self._text("description", MAX_DESCRIPTION)
        if not description:
            raise NoAgent("has no description")
        servers, own = self._servers()
        return AgentDefinition(
            name=prefix + name,
            description=description,
            prompt=prompt,
            source=self._source,
            path=path,
            tools=self._tools(),
            disallowed_tools=self._entries("disallowedTools") or (),
            model=self._model(),
            effort=self._effort(),
            permission_mode=self._mode(),
            max_turns=self._max_turns(),
            skills=self._entries("skills") or (),
            mcp_servers=servers,
            own_servers=own,
            hooks=self._hooks(),
            memory=cast(MemoryScope | None, self._choice("memory", get_args(MemoryScope))),
            background=self._flag("background"),
            isolation=cast(Literal["worktree"] | None, self._choice("isolation", ("worktree",))),
            color=self._choice("color", COLORS),
            initial_prompt=self._text("initialPrompt", MAX_DESCRIPTION),
            omits_instructions=self._flag("omitClaudeMd"),
            problems=tuple(self.problems),
        )

    def _text(self, key: str, limit: int) -> str:
        value = self._values.get(key)
        if value is None or isinstance(value, str | int | float):
            return sanitize(str(value if value is not None else "")).strip()[:limit]
        self.problems.append(f"{key} should be text")
        return ""

    def _tools(self) -> tuple[str, ...] | None:
        """Return the tools; none if `disallowedTools` cannot be parsed."""
        left_out = self._values.get("disallowedTools")
        is_clear = left_out is None or isinstance(left_out, str) or _is_list_of_texts(left_out)
        tools = self._entries("tools")
        return tools if is_clear else ()

    def _entries(self, key: str) -> tuple[str, ...] | None:
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, list) and _is_list_of_texts(value):
            return tuple(text for part in value for text in (str(part).strip(),) if text)
        if isinstance(value, str):
            return split_rules(value)
        self.problems.append(f"{key} should be a list")
        # A list that cannot be parsed must not be treated as every tool.
        return ()

    def _model(self) -> str | None:
        model = self._text("model", 200)
        return model if model.lower() not in {"", "inherit", "default"} else None

    def _effort(self) -> Effort | None:
        return cast(Effort | None, self._choice("effort", get_args(Effort)))

    def _mode(self) -> Mode | None:
        text = self._text("permissionMode", 40)
        if not text and isinstance(self._values.get("permissionMode"), str | None):
            return None
        mode = Mode.DEFAULT if text == "manual" else parse_mode(text)
        if mode is None:
            self.problems.append(
                f"permissionMode is {text!r}; known: {', '.join(Mode)}. Plan applies until then"
            )
            # An unknown mode was requested, so the strictest one applies.
            return Mode.PLAN
        return mode

    def _max_turns(self) -> int:
        value = self._values.get("maxTurns")
        if value is None:
            return MAX_TURNS
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return min(value, MOST_TURNS)
        self.problems.append("maxTurns should be a number above 0")
        return MAX_TURNS

    def _servers(self) -> tuple[tuple[str, ...], dict[str, Mapping[str, object]]]:
        """Return the names of all servers, and the entries of those that are configured here."""
        value = self._values.get("mcpServers")
        if isinstance(value, str):
            return split_rules(value), {}
        names: list[str] = []
        own: dict[str, Mapping[str, object]] = {}
        for part in value if isinstance(value, list) else [] if value is None else [value]:
            if isinstance(part, str):
                names.append(part)
            elif isinstance(part, Mapping):
                own.update(self._own_servers(part))
            else:
                self.problems.append("mcpServers should be a list of names and of configurations")
        return (*names, *own), own

    def _own_servers(
        self, entries: Mapping[object, object]
    ) -> Iterator[tuple[str, Mapping[str, object]]]:
        for key, raw in entries.items():
            name = str(key)
            mistake = entry_mistake(name, raw)
            if mistake is not None:
                where = ".".join(["mcpServers", sanitize(name), *map(str, mistake.path)])
                self.problems.append(f"{where}: {mistake.message}; the server is ignored")
            elif isinstance(raw, Mapping):
                yield name, raw

    def _hooks(self) -> Mapping[str, object] | None:
        value = self._values.get("hooks")
        if value is None or isinstance(value, dict):
            return value
        self.problems.append("hooks should be a list of events")
        return None

    def _flag(self, key: str) -> bool:
        value = self._values.get(key, False)
        if isinstance(value, bool) or str(value).lower() in {"true", "false"}:
            return str(value).lower() == "true"
        self.problems.append(f"{key} should be true or false")
        return False

    def _choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        text = self._text(key, 40)
        if not text or text in choices:
            return text or None
        self.problems.append(f"{key} is {text!r}; known: {', '.join(choices)}")
        return None


def _fold_key(key: str) -> str:
    """Normalize a key for comparison: users write `disallowed-tools` and `Tools`."""
    return key.lower().replace("-", "").replace("_", "")


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, str | int) for part in value)
