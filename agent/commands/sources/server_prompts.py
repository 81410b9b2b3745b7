"""Prompts of MCP servers as commands: `/mcp__server__prompt first "second one"`."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable

from agent.commands.spec import CommandError, CommandSource, Metadata, PromptCommand, Template
from agent.mcp.mcp_errors import McpError
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_offer import RemoteMessage, RemotePrompt
from agent.mcp.server_state import ServerState
from agent.mcp.tool_names import full_name
from permissions.base.text.sanitize import sanitize


def prompt_commands(servers: McpServers) -> tuple[PromptCommand, ...]:
    """Return one command for each prompt of the servers that are connected."""
    return tuple(
        PromptCommand(
            Metadata(
                name=full_name(prompt.server, prompt.name),
                description=prompt.description or prompt.title or prompt.name,
                argument_hint=" ".join(
                    f"<{one.name}>" if one.is_required else f"[{one.name}]"
                    for one in prompt.arguments
                ),
                source=CommandSource.SERVER,
            ),
            lambda: Template(""),
            render=_renderer(servers, prompt),
        )
        for view in servers.views()
        if view.state is ServerState.CONNECTED
        for prompt in view.offer.prompts
    )


def _renderer(servers: McpServers, prompt: RemotePrompt) -> Callable[[str], Awaitable[str]]:
    async def render(arguments: str) -> str:
        try:
            messages = await servers.get_prompt(
                prompt.server, prompt.name, named_arguments(prompt, arguments)
            )
        except McpError as error:
            raise CommandError(str(error)) from error
        return "\n\n".join(map(_text, messages))

    return render


def named_arguments(prompt: RemotePrompt, text: str) -> dict[str, str]:
    """Return the typed words by argument name; the last argument takes the rest.

    Raises:
        CommandError: a required argument is missing.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    names = [one.name for one in prompt.arguments]
    if names and len(words) > len(names):
        words = [*words[: len(names) - 1], " ".join(words[len(names) - 1 :])]
    values = dict(zip(names, words, strict=False))
    missing = [one.name for one in prompt.arguments if one.is_required and one.name not in values]
    if missing:
        raise CommandError(f"{', '.join(missing)} is missing")
    return values


def _text(message: RemoteMessage) -> str:
    block = message.block
    if block.get("type") == "text":
        text = str(block.get("text", ""))
    elif isinstance(resource := block.get("resource"), dict):
        text = str(resource.get("text") or f"({resource.get('uri')}: not text)")
    else:
        text = f"({block.get('type')}: not text)"
    prefix = "" if message.role == "user" else f"{message.role}: "
    return prefix + sanitize(text)
