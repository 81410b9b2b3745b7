"""What every hook payload has in common: its event's name and, inside a sub-agent, who fired it."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct


class HookEventPayload(Struct, frozen=True, kw_only=True):
    """The part of a hook's input that belongs to one event.

    The runner adds the common fields (`session_id`, `cwd`, …) when a handler runs.
    """

    event_name: ClassVar[str] = ""
    """The name of its class, unless it has another one."""

    agent_id: str | None = None
    """The sub-agent that fired it; None on the main thread."""
    agent_type: str | None = None
    cwd: str | None = None
    """The current directory of the agent that fired it; None leaves it to the session."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Name the event like the class."""
        super().__init_subclass__(**options)
        if "event_name" not in vars(cls):
            cls.event_name = cls.__name__

    def to_json(self) -> dict[str, object]:
        """Return the event's own fields as hooks read them; absent (None) fields are left out."""
        payload: dict[str, object] = {"hook_event_name": self.event_name}
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None:
                payload[name] = value
        return payload


class ToolEvent(HookEventPayload, frozen=True, kw_only=True):
    """An event about one tool call; `if` conditions apply to these alone."""

    tool_name: str
    tool_input: dict[str, object]
    """File paths in it are absolute, `~` expanded."""
