"""Tools that are sent to the model only after it asked for them, and a search among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from agent.tools.registry import ToolRegistry
from agent.tools.services import DeferredToolsPort
from permissions.base.text.late_pattern import compile_late

_WORD: Final = compile_late(r"[a-z0-9]+")


class DeferredTools:
    """The deferred part of a registry."""

    def __init__(self, registry: ToolRegistry) -> None:
        """Start with no tool loaded."""
        self._registry = registry
        self._loaded_names: dict[str, None] = {}

    @property
    def loaded_names(self) -> tuple[str, ...]:
        """Names of the tools that the model asked for, in that order."""
        return tuple(self._loaded_names)

    def definitions(self) -> tuple[dict[str, object], ...]:
        """Return the loaded tools as JSON for the Messages API, in the order of loading."""
        tools = (self._registry.get(name) for name in self._loaded_names)
        return tuple(tool.to_wire() for tool in tools if tool is not None)

    def waiting(self) -> tuple[str, ...]:
        """Return names of tools that are not sent yet, in order."""
        return tuple(
            tool.name
            for tool in self._registry.all()
            if tool.should_defer and not tool.always_load and tool.name not in self._loaded_names
        )

    def search(self, query: str, limit: int) -> tuple[tuple[str, str], ...]:
        """Return `(name, description)` of deferred tools that match the query, best first."""
        words = set(_WORD.findall(query.lower()))
        entries: list[tuple[int, int, str, str]] = []
        for place, tool in enumerate(self._registry.all()):
            if not tool.should_defer or tool.always_load:
                continue
            score = _score(words, tool.name, tool.description)
            if score:
                entries.append((-score, place, tool.name, tool.description))
        return tuple((name, text) for _, _, name, text in sorted(entries)[:limit])

    def load(self, names: Sequence[str]) -> tuple[Mapping[str, object], ...]:
        """Load tools for the next request; return their definitions. Skips unknown names."""
        definitions: list[Mapping[str, object]] = []
        for name in names:
            tool = self._registry.get(name)
            if tool is None:
                continue
            definitions.append(tool.to_wire())
            if tool.should_defer and not tool.always_load:
                self._loaded_names[tool.name] = None
        return tuple(definitions)


def _score(words: set[str], name: str, description: str) -> int:
    in_name = set(_WORD.findall(name.lower()))
    in_text = set(_WORD.findall(description.lower()))
    parts = name.lower()
    return sum(
        10 * (word in in_name) + 3 * (word in parts) + 2 * (word in in_text) for word in words
    )


if TYPE_CHECKING:

    def _check_protocol(tools: DeferredTools) -> DeferredToolsPort:
        return tools
