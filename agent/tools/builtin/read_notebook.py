"""Notebooks as text: cells in order with their outputs, pictures as images."""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Final

from agent.messages import Block, text_block
from agent.tools.base import ToolError, ToolOutcome
from agent.tools.builtin.read_image import MAX_IMAGE_BYTES, image_size, image_type
from agent.tools.files.text_window import window_of

MAX_OUTPUT_CHARS: Final = 4_000
MAX_PICTURES: Final = 5


def notebook_outcome(
    data: bytes, name: str, path: Path, offset: int | None, limit: int | None
) -> ToolOutcome:
    """Return the cells as one numbered text, followed by the first images of the outputs.

    Raises:
        ToolError: the file is not a notebook.
    """
    try:
        notebook = json.loads(data)
        cells = notebook["cells"]
        if not isinstance(cells, list):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ToolError(
            f"{name} is not a valid notebook ({type(error).__name__}).",
            "Look at its JSON with a command.",
        ) from error
    language = _language(notebook)
    pictures: list[Block] = []
    cell_texts = [
        _render(cell, number, language, pictures)
        for number, cell in enumerate(cells, 1)
        if isinstance(cell, dict)
    ]
    if not cell_texts:
        return ToolOutcome(f"[{name} is a notebook without cells.]")
    window = window_of("\n\n".join(cell_texts), offset, limit)
    notes = (
        *window.notes(),
        f"{len(cells)} cells rendered; Edit works on the JSON of the file",
    )
    text = f"{window.numbered_text()}\n\n[{name}: {'; '.join(notes)}]"
    return ToolOutcome(
        content=(text_block(text), *pictures) if pictures else text,
        tool_response={"type": "notebook", "file": {"filePath": str(path), "cells": cells}},
    )


def _language(notebook: dict[str, object]) -> str:
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    return str(info.get("name", "")) if isinstance(info, dict) else ""


def _render(cell: dict[str, object], number: int, language: str, pictures: list[Block]) -> str:
    kind = str(cell.get("cell_type", "?"))
    head = f"# Cell {number} ({f'{kind}, {language}' if kind == 'code' and language else kind})"
    if cell.get("id"):
        head += f" id={cell['id']}"
    parts = [head, _join_source(cell.get("source"))]
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            parts.append(_output(output, pictures))
    return "\n".join(part for part in parts if part)


def _output(output: dict[str, object], pictures: list[Block]) -> str:
    if output.get("output_type") == "error":
        trace = output.get("traceback")
        text = "\n".join(map(str, trace)) if isinstance(trace, list) else str(output.get("evalue"))
        return f"# Error:\n{text[:MAX_OUTPUT_CHARS]}"
    text = _join_source(output.get("text"))
    data = output.get("data")
    if isinstance(data, dict):
        text = text or _join_source(data.get("text/plain"))
        for media_type in ("image/png", "image/jpeg"):
            if media_type in data:
                text = f"{text}\n{_picture(_join_source(data[media_type]), pictures)}".lstrip("\n")
    if len(text) > MAX_OUTPUT_CHARS:
        text = (
            f"{text[:MAX_OUTPUT_CHARS]}\n[… {len(text) - MAX_OUTPUT_CHARS:,} characters left out]"
        )
    return f"# Output:\n{text}" if text else ""


def _picture(base64_text: str, pictures: list[Block]) -> str:
    try:
        data = base64.b64decode(base64_text)
    except (binascii.Error, ValueError):
        return "[damaged image]"
    media_type = image_type(data)
    if media_type is None or image_size(data) is None or len(data) > MAX_IMAGE_BYTES:
        return "[image that cannot be shown]"
    if len(pictures) >= MAX_PICTURES:
        return "[image left out]"
    pictures.append(
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": media_type,
                "data": base64.b64encode(data).decode("ascii"),
            },
        }
    )
    return f"[image {len(pictures)}, below]"


def _join_source(source: object) -> str:
    if isinstance(source, list):
        return "".join(map(str, source)).rstrip("\n")
    return source.rstrip("\n") if isinstance(source, str) else ""
