"""Converts the SDK's values to ours, cleaned and limited in size."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from typing import Final

import mcp_types as types
from pydantic import BaseModel

from agent.mcp.protocol.message_guard import DEFINITION
from agent.mcp.server_offer import (
    CallResult,
    RemoteArgument,
    RemoteMessage,
    RemotePrompt,
    RemoteResource,
    RemoteTool,
    ResourceContent,
    ToolHints,
)
from agent.mcp.tool_names import full_name, is_usable
from permissions.base.text.sanitize import sanitize

MAX_DESCRIPTION: Final = 2_048
"""Most characters of a tool's description and of a server's instructions."""
MAX_LABEL: Final = 200
_UNSEEN: Final = dict.fromkeys([0x200B, *range(0x2060, 0x2070), 0xFEFF, *range(0xE0000, 0xE0080)])
"""Zero-width characters, which could hide text from the user but not from the model."""


def cut(text: str | None, limit: int = MAX_DESCRIPTION) -> str:
    """Return a server's text for display and for the model, with `…` if it was cut."""
    clean = sanitize(text or "").translate(_UNSEEN).strip()
    return clean if len(clean) <= limit else clean[: limit - 1].rstrip() + "…"


def read_tools(
    server: str,
    tools: Iterable[types.Tool],
    problems: list[str],
) -> tuple[RemoteTool, ...]:
    """Return the tools that can be called; sentences about others are added to `problems`."""
    by_name: dict[str, RemoteTool] = {}
    for tool in tools:
        name = full_name(server, tool.name)
        if not is_usable(name):
            problems.append(f"{cut(tool.name, 80)}: its name is too long")
        elif name in by_name:
            problems.append(f"{cut(tool.name, 80)}: another tool has this name already")
        else:
            by_name[name] = _tool(server, name, tool)
    return tuple(by_name.values())


def _tool(server: str, name: str, tool: types.Tool) -> RemoteTool:
    meta = dict(tool.meta or {})
    definition = meta.pop(DEFINITION, {})
    hints = tool.annotations or types.ToolAnnotations()
    return RemoteTool(
        server=server,
        name=tool.name,
        full_name=name,
        description=cut(tool.description),
        input_schema=tool.input_schema,
        hints=ToolHints(
            title=cut(tool.title or hints.title, MAX_LABEL).replace("\n", " "),
            read_only=hints.read_only_hint,
            destructive=hints.destructive_hint,
        ),
        meta=meta,
        definition=definition,
    )


def read_prompts(server: str, prompts: Iterable[types.Prompt]) -> tuple[RemotePrompt, ...]:
    """Return the prompts, each name once."""
    by_name = {
        prompt.name: RemotePrompt(
            server=server,
            name=prompt.name,
            title=cut(prompt.title, MAX_LABEL),
            description=cut(prompt.description),
            arguments=tuple(
                RemoteArgument(one.name, cut(one.description, MAX_LABEL), one.required is True)
                for one in prompt.arguments or ()
            ),
        )
        for prompt in prompts
    }
    return tuple(by_name.values())


def read_resources(
    server: str, resources: Iterable[types.Resource | types.ResourceTemplate]
) -> tuple[RemoteResource, ...]:
    """Return the resources and templates, each URI once."""
    by_uri: dict[str, RemoteResource] = {}
    for one in resources:
        is_template = isinstance(one, types.ResourceTemplate)
        uri = one.uri_template if isinstance(one, types.ResourceTemplate) else one.uri
        by_uri[uri] = RemoteResource(
            server=server,
            uri=uri,
            name=cut(one.name, MAX_LABEL),
            title=cut(one.title, MAX_LABEL),
            description=cut(one.description),
            mime_type=cut(one.mime_type, MAX_LABEL),
            size=None if isinstance(one, types.ResourceTemplate) else one.size,
            is_template=is_template,
        )
    return tuple(by_uri.values())


def read_result(result: types.CallToolResult) -> CallResult:
    """Return a tool's result."""
    return CallResult(
        tuple(_json(block) for block in result.content),
        result.structured_content,
        result.is_error,
        dict(result.meta or {}),
    )


def read_messages(messages: Sequence[types.PromptMessage]) -> tuple[RemoteMessage, ...]:
    """Return the messages of a prompt."""
    return tuple(RemoteMessage(message.role, _json(message.content)) for message in messages)


def read_contents(
    contents: Sequence[types.TextResourceContents | types.BlobResourceContents],
) -> tuple[ResourceContent, ...]:
    """Return the parts of a resource; bytes that cannot be decoded are empty."""
    return tuple(
        ResourceContent(one.uri, one.mime_type or "", text=one.text)
        if isinstance(one, types.TextResourceContents)
        else ResourceContent(one.uri, one.mime_type or "", data=decode(one.blob))
        for one in contents
    )


def decode(text: str) -> bytes:
    """Return the bytes of a base64 text; empty if it is invalid."""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""


def _json(block: BaseModel) -> dict[str, object]:
    value = json.loads(block.model_dump_json(by_alias=True, exclude_none=True))
    assert isinstance(value, dict)
    return value
