"""What the model reads when a hook replaced a tool's output (`updatedToolOutput`).

Hooks return it in the shape in which they received the result, so the text is in the same field:
`stdout` of Bash, `file.content` of Read, `filenames` of Glob, blocks of MCP tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agent.messages import Block


def replaced_content(replacement: object) -> str | tuple[Block, ...]:
    """Return the result's new content; an unknown shape is shown as JSON."""
    match replacement:
        case str():
            return replacement
        case {"stdout": str(stdout), **rest}:
            return _lines([stdout, rest.get("stderr")])
        case {"file": {"content": str(content)}} | {"content": str(content)}:
            return content
        case {"filenames": [*names]}:
            return _lines(names)
        case {"content": [*blocks]} | [*blocks] if blocks and (text_blocks := _blocks(blocks)):
            return text_blocks
        case _:
            return json.dumps(replacement, ensure_ascii=False, default=str)


def _lines(parts: Sequence[object]) -> str:
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def _blocks(raw: Sequence[object]) -> tuple[Block, ...]:
    """Return text blocks for the endpoint; empty if any block is of another kind."""
    texts = [
        block["text"]
        for block in raw
        if isinstance(block, Mapping)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]
    return tuple({"type": "text", "text": t} for t in texts) if len(texts) == len(raw) else ()
