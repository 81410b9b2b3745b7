"""Requests of the calling program of a stream-json run about its conversation.

An unknown request gets an error response, so that no request waits forever. Next:
`agent.headless.control_protocol` (which reads the lines and answers them).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.errors import AgentError
from agent.headless.output_lines import key_source
from permissions.mode import Mode, parse_mode

if TYPE_CHECKING:
    from agent.conversation.conversation import Conversation


class ControlError(AgentError):
    """A request that cannot be fulfilled; the text is sent to the requester."""


async def fulfill(
    conversation: Conversation, request: Mapping[str, object], *, first_model: str
) -> dict[str, object]:
    """Carry out a request and return the content of its response.

    `first_model` is the model at the start, which `set_model` without a name selects.

    Raises:
        AgentError: it cannot be carried out.
    """
    match request.get("subtype"):
        case "set_permission_mode":
            return {"mode": _set_mode(conversation, request.get("mode"))}
        case "set_model":
            await _set_model(conversation, request.get("model"), first_model)
            return {}
        case "set_max_thinking_tokens":
            _set_thinking(conversation, request.get("max_thinking_tokens"))
            return {}
        case "get_context_usage":
            return _context_usage(conversation)
        case "generate_session_title":
            return {"title": await _propose_title(conversation, request)}
        case "mcp_status":
            live = conversation.commands.context.servers()
            states = live.summary().states if live is not None else ()
            return {"mcpServers": [{"name": name, "status": state} for name, state in states]}
        case other:
            raise ControlError(f"agent-tui does not know the control request {other!r}")


def welcome(conversation: Conversation) -> dict[str, object]:
    """Return the response to `initialize`: the available commands, models and so on."""
    commands = conversation.commands.registry.list_commands()
    model = conversation.status.model
    return {
        "commands": [
            {
                "name": command.meta.name,
                "description": command.meta.description,
                "argumentHint": command.meta.argument_hint,
            }
            for command in commands
        ],
        "agents": [
            {"name": agent.name, "description": agent.description}
            for agent in conversation.commands.context.agents.catalog.all()
        ],
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": [{"value": model, "displayName": model, "description": ""}],
        "account": {"apiKeySource": key_source(conversation)},
        "hooks_applied": True,
        "hook_on_failure_supported": True,
    }


def _set_mode(conversation: Conversation, name: object) -> str:
    mode = parse_mode(str(name))
    if mode is None:
        raise ControlError(f"mode: expected one of {', '.join(Mode)}")
    for warning in conversation.gate.set_mode(mode):
        raise ControlError(warning.message)
    return str(mode)


async def _set_model(conversation: Conversation, name: object, first_model: str) -> None:
    if name is None or name == "default":
        name = first_model
    if not isinstance(name, str) or not name.strip():
        raise ControlError("model: expected a name")
    await conversation.controls.set_model(name)


def _set_thinking(conversation: Conversation, tokens: object) -> None:
    """Switch thinking off for a budget of 0; other budgets do not matter, since effort decides."""
    is_number = isinstance(tokens, int) and not isinstance(tokens, bool)
    if tokens is not None and not is_number:
        raise ControlError("max_thinking_tokens: expected a number or null")
    is_on = tokens != 0
    if not conversation.controls.set_thinking(is_on):
        raise ControlError(f"The model cannot work {'with' if is_on else 'without'} thinking.")


async def _propose_title(conversation: Conversation, request: Mapping[str, object]) -> str | None:
    description = request.get("description")
    if not isinstance(description, str) or not description.strip():
        raise ControlError("description: expected text")
    is_stored = request.get("persist") is True
    return await conversation.controls.propose_title(description, is_stored=is_stored) or None


def _context_usage(conversation: Conversation) -> dict[str, object]:
    """Return the usage of the window, in the format of client libraries."""
    breakdown = conversation.view.context_breakdown()
    parts = [(part.name, part.tokens, "used") for part in breakdown.slices]
    if (free := breakdown.window - breakdown.used_tokens) > 0:
        parts.append(("Free space", free, "free"))
    return {
        "categories": [
            {"name": name, "tokens": tokens, "color": "inactive", "kind": kind}
            for name, tokens, kind in parts
        ],
        "totalTokens": breakdown.used_tokens,
        "maxTokens": breakdown.window,
        "rawMaxTokens": breakdown.window,
        "percentage": round(100 * breakdown.used_tokens / breakdown.window, 1)
        if breakdown.window
        else 0.0,
        "model": conversation.status.model,
        "gridRows": [],
        "memoryFiles": [],
        "mcpTools": [],
        "agents": [],
    }
