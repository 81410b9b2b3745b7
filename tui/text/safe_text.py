"""Foreign text made safe to show: nothing from a model, tool or file talks to the terminal.

Running text loses control characters; changes and commands show them, because somebody decides by
what they see. Source: safety rules, terminal escape injection.
"""

from __future__ import annotations

import re
from typing import Final, assert_never

from msgspec.structs import replace

from agent.display import (
    CommandDisplay,
    DiffDisplay,
    Display,
    PlanDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
)
from permissions.base.text.sanitize import reveal, sanitize

PICTURE: Final = "pasted-"
"""What the name of a copied image begins with."""
_PICTURE: Final = re.compile(
    rf"""@(?:"[^"\n]*/scratch/{PICTURE}\w+\.\w+"|[^\s"]*/scratch/{PICTURE}\w+\.\w+)"""
)


def shown_prompt(text: str) -> str:
    """Return what a user sent, with `[Image]` for each image that was pasted into it."""
    return sanitize(_PICTURE.sub("[Image]", text) if PICTURE in text else text)


def shown_line(text: str) -> str:
    """Return one line for a title: line breaks become spaces, hidden characters are revealed."""
    return reveal(" ".join(text.splitlines())) if text else ""


def shown_path(path: str) -> str:
    r"""Return a path on one line, nothing dropped: a line break in a name is shown as `\n`."""
    return reveal(path).replace("\n", r"\n").replace("\t", r"\t")


def shown_display(display: Display | None) -> Display | None:
    """Return what a call shows, safe to draw."""
    match display:
        case None:
            return None
        case DiffDisplay():
            return replace(
                display,
                path=shown_path(display.path),
                old=_revealed_lines(display.old),
                new=_revealed_lines(display.new),
            )
        case CommandDisplay():
            return replace(
                display,
                command=_revealed_lines(display.command),
                output=sanitize(display.output),
            )
        case TextDisplay():
            return replace(display, text=sanitize(display.text))
        case TodoDisplay():
            return replace(display, items=tuple(_shown_todo(item) for item in display.items))
        case PlanDisplay():
            return replace(display, plan=sanitize(display.plan))
        case _:
            assert_never(display)


def _revealed_lines(text: str) -> str:
    return reveal(text.replace("\r\n", "\n"))


def _shown_todo(item: TodoItem) -> TodoItem:
    return replace(item, content=shown_line(item.content), active_form=shown_line(item.active_form))
