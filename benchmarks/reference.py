"""Generate pages of the documentation from the program's own tables.

`python -m benchmarks.reference docs` writes them; a test compares them with the committed pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from agent.commands.table import BUILTIN_COMMANDS
from agent.settings.describe import UNSET, setting_descriptions
from agent.settings.examples import EXAMPLES
from benchmarks import manual
from benchmarks.strings import PAGE, strings
from themes.registry import available_themes, load_theme
from themes.theme import Role
from tui.input.actions import ABSENT, ACTIONS, Action, Context
from tui.input.keymap import default_keymap

MANUAL: Final = "agent-tui.1"
ROOT: Final = Path(__file__).resolve().parents[1]
BEGIN: Final = "<!-- made by `make docs`: {} -->"
END: Final = "<!-- end -->"

_CONTEXTS: Final = {
    Context.GLOBAL: "everywhere",
    Context.CHAT: "in the prompt",
    Context.AUTOCOMPLETE: "while commands or files are offered",
    Context.CONFIRMATION: "in a dialog, such as a permission request",
    Context.TRANSCRIPT: "in the full transcript",
    Context.HISTORY_SEARCH: "in the history search",
    Context.TASK: "while a command runs",
    Context.THEME_PICKER: "in `/theme`",
    Context.HELP: "in `/help`",
    Context.TABS: "between tabs",
    Context.ATTACHMENTS: "on attachments",
    Context.FOOTER: "in the footer",
    Context.MESSAGE_SELECTOR: "in `/rewind`",
    Context.DIFF_DIALOG: "in `/diff`",
    Context.MODEL_PICKER: "in `/model`",
    Context.SELECT: "in lists",
    Context.PLUGIN: "in `/plugin`",
    Context.SETTINGS: "in `/config`",
    Context.SCROLL: "in the transcript",
}


def pages() -> dict[str, str]:
    """Return the generated part of each page, by `page#part`."""
    return {
        "keys.md#keys": keys(),
        "commands.md#commands": commands(),
        "settings.md#settings": settings(),
        "themes.md#roles": roles(),
        "themes.md#themes": themes(),
    }


def keys() -> str:
    """Return a table of all actions with their keys, by context."""
    keymap = default_keymap()
    blocks: list[str] = []
    for context in Context:
        rows: list[tuple[str, str, str]] = []
        for action in ACTIONS:
            if action.context is not context:
                continue
            if action.id in ABSENT:
                continue
            display = keymap.display(action.id) or "none"
            rows.append((_keys(action, display), action.description, f"`{action.id}`"))
        if rows:
            blocks += [f"### {context.value}: {_CONTEXTS[context]}", "", *_table(rows), ""]
    blocks += [
        "A file made for Claude Code may also contain these actions. They are accepted but have no "
        "effect, and the check of the file reports them:",
        "",
        *_table([(f"`{name}`", why) for name, why in ABSENT.items()], ("action", "reason")),
    ]
    return "\n".join(blocks).rstrip()


def _keys(action: Action, display: str) -> str:
    spelling = ", ".join(f"`{key}`" for key in action.keys)
    return spelling or display


def commands() -> str:
    """Return a table of the built-in commands."""
    rows: list[tuple[str, ...]] = []
    for command in sorted(BUILTIN_COMMANDS, key=lambda command: command.meta.name):
        meta = command.meta
        others = ", ".join(f"`/{alias}`" for alias in meta.aliases)
        name = f"`/{meta.name} {meta.argument_hint}".rstrip() + "`"
        rows.append((name.replace("|", "\\|"), meta.description, others))
    return "\n".join(_table(rows, ("command", "does", "also")))


def settings() -> str:
    """Return a table of all settings."""
    rows = [
        (
            f"`{each.key}`",
            each.form,
            each.text,
            UNSET.get(each.key, ""),
            f"`{json.dumps(EXAMPLES[each.key], ensure_ascii=False)}`"
            if each.key in EXAMPLES
            else "",
            "yes" if each.is_for_projects else "no",
        )
        for each in setting_descriptions()
        if each.has_effect
    ]
    idle = ", ".join(f"`{each.key}`" for each in setting_descriptions() if not each.has_effect)
    table = _table(rows, ("key", "value", "description", "default", "example", "in project files"))
    note = f"These keys are read and checked, but have no effect yet: {idle}."
    return "\n".join([*table, "", note])


def roles() -> str:
    """Return the list of roles, to which themes assign colors."""
    return ", ".join(f"`{role.value}`" for role in Role)


def themes() -> str:
    """Return the included themes, each with its picture."""
    blocks: list[str] = []
    for name in available_themes():
        theme, _ = load_theme(name)
        blocks += [f"### {theme.label}: `{name}`", "", f"![{theme.label}](images/theme-{name}.svg)"]
        blocks.append("")
    return "\n".join(blocks).rstrip()


def _table(
    rows: Iterable[tuple[str, ...]], head: tuple[str, ...] = ("key", "does", "action")
) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def put(page: str, part: str, text: str) -> str:
    """Return a page with the text of one generated part replaced.

    Raises:
        ValueError: the page has no markers for the part.
    """
    begin = BEGIN.format(part)
    head, begin_match, rest = page.partition(begin)
    _, end_match, tail = rest.partition(END)
    if not (begin_match and end_match):
        raise ValueError(f"no place for {part!r}: {begin} … {END}")
    return f"{head}{begin}\n\n{text}\n\n{END}{tail}"


def main(directory: Path) -> int:
    """Write the generated parts into the pages of a directory."""
    for where, text in pages().items():
        name, _, part = where.partition("#")
        page = directory / name
        page.write_text(put(page.read_text("utf-8"), part, text), "utf-8")
        print(f"{page}: {part}")
    (directory / MANUAL).write_text(manual.page(), "utf-8")
    print(directory / MANUAL)
    (directory / PAGE).write_text(strings(ROOT), "utf-8")
    print(directory / PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
