"""May a tool of the caller run? What the loop asks before each call, and tells behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from agent.library.base.raw_items import RawItem


class GateAnswer(Struct, frozen=True):
    """What the gate says about a call."""

    behavior: Literal["allow", "ask", "deny"] = "allow"
    message: str = ""
    """For the model where it is denied, for whoever approves where it is asked."""
    arguments: Mapping[str, RawItem] | None = None
    """Other arguments than the model's, which a hook wrote."""


class ToolGate(Protocol):
    """Rules and hooks that every call goes through."""

    async def check(
        self, tool_name: str, arguments: Mapping[str, RawItem], call_id: str
    ) -> GateAnswer:
        """Decide about a call."""
        ...

    async def finished(
        self, tool_name: str, arguments: Mapping[str, RawItem], call_id: str, output: str
    ) -> str:
        """Return the output as hooks leave it."""
        ...

    async def failed(
        self,
        tool_name: str,
        arguments: Mapping[str, RawItem],
        call_id: str,
        error: str,
        output: str,
    ) -> str:
        """Return what the model is given of a call that raised, as hooks leave it."""
        ...


class OpenGate:
    """Lets every call run: for tests, and for programs that have a gate of their own."""

    async def check(
        self, tool_name: str, arguments: Mapping[str, RawItem], call_id: str
    ) -> GateAnswer:
        """Allow it."""
        return GateAnswer()

    async def finished(
        self, tool_name: str, arguments: Mapping[str, RawItem], call_id: str, output: str
    ) -> str:
        """Return the output as it is."""
        return output

    async def failed(
        self,
        tool_name: str,
        arguments: Mapping[str, RawItem],
        call_id: str,
        error: str,
        output: str,
    ) -> str:
        """Return the output as it is."""
        return output
