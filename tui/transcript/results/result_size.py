"""The size of results that users rarely read: `60 lines`, `5 files`, `no match`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from permissions.base.text.late_pattern import compile_late

_IMAGE: Final = compile_late(r": ([A-Z]+), (\d+)×(\d+) pixels$")
_UNITS: Final = {"Read": "line", "Glob": "file", "Grep": "line"}


def is_sized(tool_name: str) -> bool:
    """Whether only the size of a tool's results is shown."""
    return tool_name in _UNITS


def image_size_in(text: str) -> tuple[int, int] | None:
    """Return width and height in pixels if a result of Read is an image; otherwise None."""
    image = _IMAGE.search(text.partition("\n")[0])
    return (int(image[2]), int(image[3])) if image else None


def result_size(tool_name: str, tool_input: Mapping[str, Any], text: str) -> str:
    """Return the size of a result as text; "" for other tools.

    Notes for the model after the result are not counted.
    """
    if not is_sized(tool_name):
        return ""
    body, gap, note = text.rpartition("\n\n[")
    if not (gap and note.endswith("]") and "\n" not in note):
        body = text
    body = body.removesuffix("\n")
    count = body.count("\n") + 1 if body else 0
    unit = _UNITS[tool_name]
    match tool_name:
        case "Read" if body.startswith("[") and body.endswith(" is empty.]"):
            return "empty"
        case "Read" if image := _IMAGE.search(body.partition("\n")[0]):
            return f"{image[2]}×{image[3]} {image[1]}"
        case "Glob" if count <= 1 and body.startswith("No file in "):
            return "no files"
        case "Grep" if body == "No match.":
            return "no match"
        case "Grep" if tool_input.get("output_mode", "files_with_matches") != "content":
            unit = "file"
        case _:
            pass
    return f"{count:,} {unit}" + ("" if count == 1 else "s")
