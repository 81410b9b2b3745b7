"""All kinds of agents of a session, by name, and their list for the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Final

from agent.errors import AgentError
from agent.subagents.agent_files import AgentFiles
from agent.subagents.agent_tools import missing_tools
from agent.subagents.builtin_agents import BUILTIN_AGENTS, GENERAL
from agent.subagents.definition import AgentDefinition, AgentSource
from agent.subagents.definition_fields import NoAgent, agent_from_json

MAX_LISTED_CHARS: Final = 12_000
MAX_ENTRY_CHARS: Final = 500


class UnknownAgent(AgentError):
    """There is no agent of this name; the text lists the known ones."""


class AgentCatalog:
    """The definitions in force: of those with one name, the first."""

    def __init__(
        self,
        read: Callable[[], AgentFiles],
        flags: Mapping[str, object] | None = None,
        *,
        is_denied: Callable[[str], bool] = lambda _name: False,
        tool_names: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        """`read` reads the files; `flags` are `--agents`; `is_denied` asks the rules.

        `tool_names` returns the names of the conversation's tools.
        """
        self._tool_names = tool_names
        self._read = read
        self._is_denied = is_denied
        self._flag_agents: list[AgentDefinition] = []
        self.flag_problems: list[str] = []
        """Problems of definitions on the command line that cannot be used."""
        self.add(flags or {})
        self._files = AgentFiles()
        self._listing: str | None = None
        self._has_read = False

    def add(self, entries: Mapping[str, object]) -> None:
        """Add definitions from the command line, or from a program that drives the run."""
        for name, raw in entries.items():
            try:
                self._flag_agents.append(agent_from_json(str(name), raw, source=AgentSource.FLAG))
            except NoAgent as error:
                self.flag_problems.append(f"--agents: {name} {error}")

    def refresh(self) -> None:
        """Read the files again."""
        self._files = self._read()
        self._has_read = True

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems of files and entries, for users."""
        own = (
            f"{one.path or one.name}: {problem}" for one in self.all() for problem in one.problems
        )
        return (*self.flag_problems, *self._files.problems, *own)

    def missing_tools(self, definition: AgentDefinition) -> tuple[str, ...]:
        """Return the tools that a definition lists but the conversation lacks."""
        if self._tool_names is None or definition.tools is None:
            return ()
        return missing_tools(definition, self._tool_names())

    @property
    def waiting(self) -> tuple[str, ...]:
        """Files of the project that wait for trust."""
        return self._files.waiting

    def all(self) -> tuple[AgentDefinition, ...]:
        """Return the definitions in force, in order of priority, without those that rules deny."""
        return tuple(one for one in self._by_name().values() if not self._is_denied(one.name))

    def get(self, name: str) -> AgentDefinition:
        """Return an agent by name, ignoring case. Raises UnknownAgent."""
        by_name = self._by_name()
        kind = name or GENERAL
        definition = by_name.get(kind) or next(
            (one for one in by_name.values() if one.name.lower() == kind.lower()), None
        )
        if definition is None:
            for file in self.waiting:
                if PurePath(file).stem.lower() == kind.lower():
                    raise UnknownAgent(
                        f"{file} has no effect until you trust this project (/trust, or --trust)."
                    )
            names = ", ".join(one.name for one in self.all())
            raise UnknownAgent(f"There is no agent {name!r}. There are: {names}.")
        if self._is_denied(definition.name):
            raise UnknownAgent(f"A rule denies the agent {definition.name!r}.")
        return definition

    def listing(self) -> str:
        """Return the list for the description of the Agent tool."""
        self._listing = listing_of(self.all())
        return self._listing

    def news(self) -> str | None:
        """Return the list for the model if it has changed since it was last returned, else None."""
        old_listing = self._listing
        if old_listing is None or old_listing == self.listing():
            return None
        return f"The agents you can start with the Agent tool are now:\n\n{self._listing}"

    def _by_name(self) -> dict[str, AgentDefinition]:
        if not self._has_read:
            self.refresh()
        definitions: dict[str, AgentDefinition] = {}
        for one in _in_order(self._flag_agents, self._files.definitions):
            definitions.setdefault(one.name, one)
        return definitions


def listing_of(definitions: Sequence[AgentDefinition]) -> str:
    """Return a line per agent up to `MAX_LISTED_CHARS`, then the names of the others."""
    lines: list[str] = []
    room = MAX_LISTED_CHARS
    for one in definitions:
        words = " ".join(one.description.split())
        tools = "every tool" if one.tools is None else ", ".join(one.tools) or "no tools"
        line = f"- {one.name}: {words}"[:MAX_ENTRY_CHARS] + f" (tools: {tools[:300]})"
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    others = [one.name for one in definitions[len(lines) :]]
    return "\n".join([*lines, *([f"- also: {', '.join(others)}"] if others else [])])


def _in_order(
    from_flags: Sequence[AgentDefinition], files: Sequence[AgentDefinition]
) -> tuple[AgentDefinition, ...]:
    policy = [one for one in files if one.source is AgentSource.POLICY]
    others = [one for one in files if one.source is not AgentSource.POLICY]
    return (*policy, *from_flags, *others, *BUILTIN_AGENTS)
