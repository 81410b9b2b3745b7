"""The trust dialog: lists what a project's files add, and asks whether to trust them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.settings.project_items import MAX_FILE_BYTES, handlers, hook_item
from permissions.base.files.plain_file import read_plain
from permissions.base.text.sanitize import reveal
from themes.theme import Role
from tui.dialogs.choices import Choice, ChoiceList
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer
from tui.text.safe_text import shown_path
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, indent_rows, row
from tui.text.wrap import wrap

if TYPE_CHECKING:
    from agent.settings.trust import TrustItem, TrustState

_FILES: Final = ("command", "skill", "agent")
_SHOWN_FIELDS: Final = ("hooks", "allowedtools", "mcpservers", "permissionmode")
"""Of the heads of such files, without separators."""
_NOTES: Final = {"MCP server": " (starts only if you approve it)"}
"""Notes by kind of item."""


class TrustLine(Struct, frozen=True):
    """One item of the project's files that takes effect once trusted."""

    kind: str
    """Its kind for users: "allow rule", "hook", "MCP server", "command", "environment"."""
    text: str
    file: str
    is_new: bool = False
    """Whether it was added after the directory was trusted."""


class TrustRequest(Struct, frozen=True):
    """A directory and the items that need trust."""

    directory: str
    items: Sequence[TrustLine]
    was_trusted: bool = False
    """Whether an earlier state of this directory is trusted."""


class TrustDialog(GivesAnswer[bool]):
    """Asks whether to trust a directory with its current content."""

    def __init__(self, request: TrustRequest) -> None:
        """Open with the safe answer selected."""
        self.ignored_keys = 0
        self._request = request
        super().__init__()
        self._choices = ChoiceList(
            [
                Choice("Yes, I trust this folder", "what is listed takes effect"),
                Choice("No, work without it", "its deny and ask rules still apply"),
            ],
            selected_index=1,
        )

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Choose an answer or move the selection."""
        if key in ("1", "2"):
            self.give(key == "1")
            return
        match action_id:
            case "confirm:yes":
                self.give(True if key == "y" else self._choices.selected_index == 0)
            case "confirm:no":
                self.give(False)
            case "confirm:previous" | "confirm:next" | "confirm:nextField":
                self._choices.move(1)
            case _:
                self.ignored_keys += 1

    def paste(self, text: str) -> None:
        """Ignore pastes: there is no field."""

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected answer decides."""
        if self._choices.selected_index == choice:
            self.give(choice == 0)
        self._choices.select(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        request = self._request
        width = max(1, width_cells - 4)
        pad = (("   ", TEXT),)
        lead = (
            "This project's own settings have changed since you trusted it:"
            if request.was_trusted
            else "This project has its own settings. They have no effect until you trust it:"
        )
        directory = row((shown_path(request.directory), Ink(bold=True)))
        body: list[Row] = indent_rows(
            [directory, BLANK, *wrap([(lead, TEXT)], width)],
            pad,
            pad,
        )
        kind = ""
        for item in request.items:
            if item.kind != kind:
                kind = item.kind
                several = sum(other.kind == kind for other in request.items) > 1
                plural = "s" if several and not kind.endswith("s") else ""
                body.extend([BLANK, row((f"   {kind}{plural}", MUTED))])
            body.extend(_item_rows(item, width))
        footer = [
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(pad[0], ("Do you trust this folder?", Ink(bold=True)))),
            *self._choices.rows(width_cells),
        ]
        return DialogView((("Trust", Ink(Role.ACCENT, bold=True)),), body, footer)


def _item_rows(item: TrustLine, width: int) -> list[Row]:
    runs = [(reveal(item.text), TEXT)]
    if item.file != item.text:
        runs.append((f"  {reveal(item.file)}", MUTED))
    mark = ("new ", Ink(Role.WARNING)) if item.is_new else ("", TEXT)
    rows = wrap([mark, *runs] if mark[0] else runs, width - 2)
    return indent_rows(rows, (("   • ", MUTED),), (("     ", TEXT),))


def trust_request(state: TrustState) -> TrustRequest:
    """Return the trust dialog's content for a directory."""
    return TrustRequest(
        directory=str(state.root),
        items=[line for item in state.new for line in _lines(item, state)],
        was_trusted=state.is_trusted,
    )


def _lines(item: TrustItem, state: TrustState) -> Iterator[TrustLine]:
    place = _place(item.file, item.line, state.root)
    text = item.label + _NOTES.get(item.kind, "")
    yield TrustLine(item.kind, text, place, is_new=state.is_trusted)
    if item.kind in _FILES and item.file is not None:
        for part in _grants_in(item.file):
            yield TrustLine(item.kind, part, place, is_new=state.is_trusted)


def _grants_in(file: Path) -> Iterator[str]:
    """Yield what the head of a command, skill or agent runs and allows, as users read it."""
    try:
        data = read_plain(file, MAX_FILE_BYTES)
    except OSError:
        return
    from agent.prompt.frontmatter import read_head  # with YAML

    values = read_head(data.decode("utf-8-sig", "replace")).values
    for name, value in values.items():
        key = name.lower().replace("_", "").replace("-", "")
        if key == "hooks" and isinstance(value, Mapping):
            for event, groups in value.items():
                for group, handler in handlers(groups):
                    hook = hook_item(str(event), group, handler, file=None, line=None)
                    yield f"hook {hook.label}"
        elif key in _SHOWN_FIELDS and value:
            yield f"{name}: {value if isinstance(value, str) else json.dumps(value, default=str)}"


def _place(file: Path | None, line: int | None, root: Path) -> str:
    """Return an item's file and line, relative to the directory; "" without a file."""
    if file is None:
        return ""
    place = file.relative_to(root) if file.is_relative_to(root) else file
    return f"{place}:{line}" if line else str(place)
