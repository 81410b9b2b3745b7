"""Tool calls that a model wrote as text, because its server did not parse them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_FORMS: Final = (
    r"<tool_call>\s*\{.{0,40}?\"name\"\s*:\s*\"(?P<name>[\w-]+)\"",
    r"<function(?:=|\s+name=\")(?P<name>[\w-]+)",
    r"\[TOOL_CALLS\]\s*\[?\s*\{?.{0,40}?\"?name\"?\s*:?\s*\"?(?P<name>[\w-]+)\"",
    r"<invoke name=\"(?P<name>[\w-]+)\"",
    r"(?:\A|```(?:json)?)\s*\{\s*\"name\"\s*:\s*\"(?P<name>[\w-]+)\"\s*,\s*"
    r"\"(?:arguments|parameters|input)\"\s*:",
    r"<\|python_tag\|>\s*(?P<name>[\w-]+)",
)
_LONGEST: Final = 20_000


def written_call(text: str, names: Collection[str]) -> str | None:
    """Return the tool that an answer calls in its text; None if it calls none."""
    for form in _FORMS:
        for match in re.finditer(form, text[:_LONGEST], re.DOTALL):
            if match["name"] in names:
                return match["name"]
    return None


def written_call_notice(name: str) -> str:
    """Return the notice for users about such an answer."""
    return (
        f"The model wrote a call of {name} as text, so nothing was run: its server did not "
        "recognize it as a tool call. Start llama.cpp with --jinja, vLLM with "
        "--enable-auto-tool-choice and --tool-call-parser, or choose a model made for tools."
    )
