"""Makes untrusted text safe to show: text of models, tools and files must not control the terminal.

Control characters are removed from running text; in changes and commands they are revealed, because
users decide by what they see. Source: safety rules, terminal escape injection.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from agent.display import (
    CommandDisplay,
    DiffDisplay,
    Display,
    PlanDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
    WorkflowDisplay,
)
from agent.files.image_mentions import with_image_labels
from permissions.base.text.sanitize import reveal, sanitize


def shown_prompt(text: str) -> str:
    """Return the text of a prompt, with `[Image 640×480 PNG 38 kB]` for each pasted image."""
    return sanitize(with_image_labels(text))


def shown_line(text: str) -> str:
    """Return a text as one line: line breaks become spaces, hidden characters are revealed."""
    return reveal(" ".join(text.splitlines())) if text else ""


def shown_path(path: str) -> str:
    r"""Return a path on one line, with all its characters: a line break is shown as `\n`."""
    return reveal(path).replace("\n", r"\n").replace("\t", r"\t")


def shown_display(display: Display | None) -> Display | None:
    """Return a call's display, safe to draw."""
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
        case WorkflowDisplay():
            return _shown_workflow(display)
        case _:
            assert_never(display)


def _shown_workflow(display: WorkflowDisplay) -> WorkflowDisplay:
    last = display.last_script
    return replace(
        display,
        name=shown_line(display.name),
        description=shown_line(display.description),
        phases=tuple(map(shown_line, display.phases)),
        subtasks=tuple(map(_revealed_lines, display.subtasks)),
        path=shown_path(display.path),
        script=_revealed_lines(display.script),
        last_script=_revealed_lines(last) if last is not None else None,
    )


def _revealed_lines(text: str) -> str:
    return reveal(text.replace("\r\n", "\n"))


def _shown_todo(item: TodoItem) -> TodoItem:
    return replace(item, content=shown_line(item.content), active_form=shown_line(item.active_form))
