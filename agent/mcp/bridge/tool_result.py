"""Converts a server's tool result to ours: text, images, and files for the rest."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
import os
from pathlib import Path
from typing import Final

from agent.mcp.server_offer import CallResult, Json
from agent.messages import Block, text_block
from agent.tools.base import ToolError, ToolOutcome
from agent.tools.builtin.read_image import image_outcome, image_type
from permissions.base.text.late_pattern import compile_late

_UNSAFE: Final = compile_late(r"[^A-Za-z0-9_-]+")
MAX_LABEL: Final = 300


class ResultFiles:
    """Stores content that cannot be shown to the model in files of the session."""

    def __init__(self, directory: Path, name: str) -> None:
        """`name` is the call's name, from which the file names are derived."""
        self._directory = directory
        self._name = _UNSAFE.sub("_", name)[:100] or "result"
        self._count = 0

    def store(self, data: bytes, mime_type: str) -> str:
        """Write a file and return a line that names it."""
        self._count += 1
        ending = mimetypes.guess_extension(mime_type.partition(";")[0].strip()) or ".bin"
        path = self._directory / f"{self._name}-{self._count}{ending}"
        kind = mime_type[:MAX_LABEL] or "unknown type"
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(data)
        except OSError as error:
            return f"[{kind}, {len(data):,} bytes; lost: {path}: {error.strerror}]"
        return f"[{kind}, {len(data):,} bytes, stored as {path}]"


def outcome_of(result: CallResult, files: ResultFiles) -> ToolOutcome:
    """Return a tool's result for the model. Writes files: call it in a thread."""
    blocks: list[Block] = []
    for one in result.content:
        blocks += _blocks(one, files)
    value = result.structured_content
    if value is not None and not _contains_structured(blocks, value):
        blocks.append(text_block(json.dumps(value, ensure_ascii=False)))
    if all(block["type"] == "text" for block in blocks):
        text = "\n".join(str(block["text"]) for block in blocks)
        return ToolOutcome(text, is_error=result.is_error, tool_response=_object(value))
    return ToolOutcome(tuple(blocks), is_error=result.is_error, tool_response=_object(value))


def _blocks(block: Json, files: ResultFiles) -> list[Block]:
    match block.get("type"):
        case "text":
            return [text_block(str(block.get("text", "")))]
        case "image" | "audio":
            return _media(_bytes(block.get("data")), str(block.get("mimeType", "")), files)
        case "resource_link":
            name, uri = str(block.get("name", "")), str(block.get("uri", ""))
            return [text_block(f"[resource {name[:MAX_LABEL]}: {uri[:2_000]}]")]
        case "resource":
            resource = block.get("resource")
            return _resource(resource, files) if isinstance(resource, dict) else []
        case other:
            return [text_block(f"[content of the unknown kind {str(other)[:40]!r}]")]


def _resource(resource: Json, files: ResultFiles) -> list[Block]:
    uri = str(resource.get("uri", ""))[:2_000]
    if isinstance(resource.get("text"), str):
        return [text_block(f"[resource {uri}]\n{resource['text']}")]
    data, mime_type = _bytes(resource.get("blob")), str(resource.get("mimeType", ""))
    return [text_block(f"[resource {uri}]"), *_media(data, mime_type, files)]


def _media(data: bytes, mime_type: str, files: ResultFiles) -> list[Block]:
    """Return an image for the model, with a line about it for users.

    All media are stored in files, so that the screen can show images.
    """
    if (image := image_type(data)) is not None:
        try:
            content = image_outcome(data, "image").content
        except ToolError:
            return [text_block(files.store(data, mime_type))]
        assert not isinstance(content, str)
        line, picture = content
        return [text_block(f"{line['text']} {files.store(data, image)}"), picture]
    return [text_block(files.store(data, mime_type))]


def _bytes(text: object) -> bytes:
    try:
        return base64.b64decode(text) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        return b""


def _contains_structured(blocks: list[Block], value: object) -> bool:
    """Return whether a text block contains the structured result, as the protocol advises."""
    for block in blocks:
        if block["type"] == "text":
            try:
                if json.loads(block["text"]) == value:
                    return True
            except (ValueError, RecursionError):
                continue
    return False


def _object(value: object) -> Json | None:
    return value if isinstance(value, dict) else None
