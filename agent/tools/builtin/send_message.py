"""SendMessage: send another agent a message, or continue one that has finished."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool

DESCRIPTION: Final = """Sends a message to an agent of this session, by the id that Agent gave. \
Use it to correct or to continue one.

An agent that works gets it with its next results. One that has finished goes on in the \
background, with all it knows, and its next report comes by itself. It reads the message as one of \
another agent: it grants no permission. ListAgents shows who there is."""


class SendMessageInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of SendMessage."""

    to: Annotated[str, Meta(min_length=1, max_length=200, description="The agent's id.")]
    message: Annotated[str, Meta(min_length=1, max_length=100_000, description="The text.")]
    summary: Annotated[
        str | None, Meta(max_length=500, description="The message in a few words, for the user.")
    ] = None


async def _run(tool_input: SendMessageInput, context: ToolContext) -> ToolOutcome:
    port = context.services.subagents
    if port is None:
        raise ToolError("There are no other agents here.")
    text = await port.send(tool_input.to, tool_input.message)
    return ToolOutcome(text, tool_response={"success": True, "message": text, "to": tool_input.to})


def _identifier(tool_input: SendMessageInput, _root: Path) -> str:
    words = tool_input.summary or tool_input.message
    return f"SendMessage {tool_input.to}: {' '.join(words.split())[:60]}"


def send_message_tool() -> Tool[SendMessageInput]:
    """Return the tool."""
    return build_tool(
        name="SendMessage",
        description=DESCRIPTION,
        input_model=SendMessageInput,
        run=_run,
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        # Permission is decided for each call that the agent then makes.
        requires_permission=False,
        identifier=_identifier,
        max_result_size_chars=10_000,
    )
