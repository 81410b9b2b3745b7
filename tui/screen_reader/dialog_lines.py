"""Converts dialogs and panels to lines, and typed lines to answers. Changes only the dialog.

The same dialogs are drawn on the screen. They define the text and the effect of answers; this
module converts rows to lines, and typed words to the keys and clicks that dialogs handle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum, auto
from typing import Final

from permissions.base.text.late_pattern import compile_late
from themes.theme import Role
from tui.dialogs.dialog import Dialog, FooterRow
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import OTHER_PLACE
from tui.panels.list_panel import ListPanel
from tui.screen_reader.hinted_keys import hinted_keys, press_hinted
from tui.screen_reader.list_lines import list_hint, press_own_key, search
from tui.text.styled_rows import Ink, Row, Run
from tui.transcript.diff.split_rows import set_split

_NUMBERS: Final = "Type a number, optionally followed by a comment"
ANSWER_HINT: Final = f"{_NUMBERS}, or esc."
WIDTH_CELLS: Final = 1_000
"""Wide enough that no row is wrapped or cut off: the terminal wraps lines."""

_SIGNS: Final = {
    "❯": "",
    "◆": "",
    "•": "",
    "│": "",
    "☑": "marked, ",
    "☐": "not marked, ",
    "●": "current, ",
    "✓": "answered, ",
    "·": "",
    "»": "decided by ",
    "▲": "effect: ",
}
"""Runs that consist of a sign only, with their spoken form."""
_BARS: Final = frozenset("█░◂▸")
_DECORATION: Final = frozenset(
    {Role.ACCENT, Role.SUCCESS, Role.WARNING, Role.MUTED, Role.FAINT, Role.DIFF_ADDED_SIGN}
)
_FIRST: Final = {"✓ ": "ok, ", "✗ ": "problem, ", "· ": "note, ", "☒ ": "done, ", "▸ ": "now, "}
"""Beginnings of rows of plain text, with their spoken form."""
_COUNTS: Final = compile_late(r"  (?:\+\d+)?(?: ?−\d+)?$")
_CHANGED: Final = compile_late(r" *(\d+) ([-+ ]) (.*)")
_SELECTED: Final = " (selected)"
_ONLY_DRAWN: Final = f" · {OTHER_PLACE}"
"""A hint within an answer that applies only to the drawn screen."""
NUMBERED: Final = compile_late(r"\d+\. ")
"""The beginning of a line that can be chosen."""
_CLOSING: Final = frozenset({"esc", "escape", "cancel", "close", "no", "n", "q"})
_KEYS: Final = {
    "yes": ("y", "y", "confirm:yes"),
    "y": ("y", "y", "confirm:yes"),
    "space": ("space", " ", "confirm:toggle"),
    "mark": ("space", " ", "confirm:toggle"),
    "enter": ("enter", "", "confirm:yes"),
    "tab": ("tab", "", "confirm:nextField"),
    "next": ("down", "", "confirm:next"),
    "previous": ("up", "", "confirm:previous"),
    "why": ("ctrl+y", "", "permission:toggleDebug"),
    "down": ("down", "", "confirm:next"),
    "up": ("up", "", "confirm:previous"),
    "left": ("left", "", None),
    "right": ("right", "", None),
}
_CHORD: Final = compile_late(r"(ctrl|alt|shift)\+\w+")
_REFUSAL: Final = compile_late(r"no[,:]? +(\S.*)", re.IGNORECASE | re.DOTALL)
_REVISION: Final = compile_late(r"edit[,:]? +(\S.*)", re.IGNORECASE | re.DOTALL)
_ANSWER: Final = compile_late(r"(\d+)(?:[ ,.:]+(\S.*))?", re.DOTALL)


class LineEffect(Enum):
    """The effect of a typed line on a dialog."""

    APPLIED = auto()
    NOT_APPLIED = auto()
    """The line is not an answer to the dialog."""


def readable_text(runs: Iterable[Run], *, has_columns: bool = False) -> str:
    """Return a row as it should be read out: signs become words, commas separate columns.

    Only decoration, recognized by its role, is changed; the content of a decision never is.
    """
    spoken_text = ""
    for text, ink in runs:
        bare = text.strip()
        if bare and set(bare) <= _BARS:
            continue
        if ink.role in _DECORATION and bare in _SIGNS:
            spoken_text += _SIGNS[bare]
        elif _parts_columns(bare, text, ink, has_columns) and spoken_text.strip():
            spoken_text += ", "
        elif ink.role in _DECORATION and spoken_text.strip() and text.startswith("  "):
            spoken_text = f"{spoken_text.rstrip()}, {text.lstrip()}"
        else:
            spoken_text += text
    spoken_text = spoken_text.strip()
    for sign, word in _FIRST.items():
        if spoken_text.startswith(sign):
            spoken_text = word + spoken_text.removeprefix(sign)
    return spoken_text.removesuffix(",")


def _parts_columns(bare: str, text: str, ink: Ink, has_columns: bool) -> bool:
    return not bare and len(text) > 1 and (has_columns or ink.role in _DECORATION)


def dialog_lines(dialog: Dialog) -> list[str]:
    """Return title, text and numbered answers, in reading order."""
    # Diffs are read line by line, never in two columns.
    set_split(False)
    view = dialog.view(WIDTH_CELLS)
    title = readable_text(view.title)
    rows = [*view.body, *view.pinned_rows]
    body = [
        _diff_row_text(row) if _COUNTS.search(title) else readable_text(row.runs) for row in rows
    ]
    mark = "" if title.endswith("?") else ":"
    return [f"{title}{mark}", *(line for line in body if line), *_answers(view.footer)]


def question_lines(dialog: Dialog) -> list[str]:
    """Return what identifies a question: its title and its answers, without the selection."""
    view = dialog.view(WIDTH_CELLS)
    answers = (line.removesuffix(_SELECTED) for line in _answers(view.footer))
    return [readable_text(view.title), *answers]


def _diff_row_text(row: Row) -> str:
    """Return a row of a diff in words; any other row unchanged."""
    match = _CHANGED.fullmatch(row.text)
    if match is None:
        return readable_text(row.runs)
    kind = {"+": "added", "-": "removed", " ": "same"}[match[2]]
    return f"line {match[1]} {kind}: {match[3]}".rstrip()


def is_read_only(dialog: Dialog) -> bool:
    """Whether a dialog has no choices."""
    return all(row.choice is None for row in dialog.view(WIDTH_CELLS).footer)


def answer(dialog: Dialog, line: str) -> LineEffect:
    """Apply a typed line to the dialog: a number, a key's name, or text.

    A number chooses an answer; text after it is a comment. Only a number or a key's name can
    decide: other text is typed into the dialog, as a search or the content of a field.
    """
    text = line.strip()
    word = text.casefold()
    if _has_field(dialog) and text and word not in {"esc", "escape"}:
        dialog.paste(text)
        dialog.press("enter", "", "confirm:yes")
        return LineEffect.APPLIED
    chosen = _choose_by_line(dialog, text)
    if chosen is not None:
        return chosen
    if isinstance(dialog, ListPanel) and press_own_key(dialog, text):
        return LineEffect.APPLIED
    if press_hinted(dialog, word) or _press_named(dialog, word):
        return LineEffect.APPLIED
    return _type_into(dialog, text)


def _choose_by_line(dialog: Dialog, text: str) -> LineEffect | None:
    """Apply a line that chooses by number, refuses or edits; None for any other line."""
    numbered_answer = _ANSWER.fullmatch(text)
    if numbered_answer is not None and int(numbered_answer[1]) - 1 in _choices(dialog):
        return _choose(dialog, int(numbered_answer[1]) - 1, numbered_answer[2] or "")
    refusal = _REFUSAL.fullmatch(text)
    if refusal is not None:
        return _choose(dialog, _choices(dialog)[-1], refusal[1])
    revision = _REVISION.fullmatch(text)
    if revision is not None and isinstance(dialog, PermissionDialog):
        dialog.revise(revision[1])
        return LineEffect.APPLIED
    return None


def _press_named(dialog: Dialog, word: str) -> bool:
    """Press the key that a word names; False if it names none."""
    if word in _CLOSING:
        dialog.press("escape", "", "confirm:no")
    elif word in _KEYS:
        dialog.press(*_KEYS[word])
    elif _CHORD.fullmatch(word):
        dialog.press(word, "", {"ctrl+y": "permission:toggleDebug"}.get(word))
    else:
        return False
    return True


def _type_into(dialog: Dialog, text: str) -> LineEffect:
    if not text:
        return LineEffect.NOT_APPLIED
    if isinstance(dialog, ListPanel):
        search(dialog, text)
        return LineEffect.APPLIED
    old_lines = dialog_lines(dialog)
    dialog.paste(text)
    return LineEffect.NOT_APPLIED if dialog_lines(dialog) == old_lines else LineEffect.APPLIED


def answer_hint(dialog: Dialog) -> str:
    """Return a hint for users: what can be typed now."""
    if isinstance(dialog, ListPanel):
        return list_hint(dialog)
    keys = "".join(f"{key} {does}, " for key, does in hinted_keys(dialog).items())
    if isinstance(dialog, PermissionDialog):
        keys = f"edit followed by the {dialog.edits}, {keys}"
    return dialog.view(WIDTH_CELLS).in_lines or f"{_NUMBERS}, {keys}or esc."


def _choose(dialog: Dialog, index: int, comment: str) -> LineEffect:
    if isinstance(dialog, ListPanel):
        return _choose_in_list(dialog, index, comment)
    return _comment_on(dialog, index, comment) if comment else _choose_answer(dialog, index)


def _choose_in_list(panel: ListPanel, index: int, key: str) -> LineEffect:
    if panel.selected_item != index:
        panel.choose(index)
    if key:
        return LineEffect.APPLIED if press_own_key(panel, key) else LineEffect.NOT_APPLIED
    panel.choose(index)
    return LineEffect.APPLIED


def _choose_answer(dialog: Dialog, index: int) -> LineEffect:
    old_lines, was_selected = _unmarked_lines(dialog), _selected_choice(dialog) == index
    dialog.choose(index)
    is_open = not (dialog.is_done or was_selected or _has_field(dialog))
    if is_open and _unmarked_lines(dialog) == old_lines:
        # As with the mouse, the first click may only select and the second one decides.
        dialog.choose(index)
    return LineEffect.APPLIED


def _comment_on(dialog: Dialog, index: int, comment: str) -> LineEffect:
    for _ in _choices(dialog):
        if _selected_choice(dialog) != index:
            dialog.press("down", "", "confirm:next")
    dialog.press("tab", "", "confirm:nextField")
    if _selected_choice(dialog) != index or not _has_field(dialog):
        # This answer accepts no comment: nothing is decided.
        dialog.press("tab", "", "confirm:nextField")
        return LineEffect.NOT_APPLIED
    dialog.paste(comment)
    dialog.press("enter", "", "confirm:yes")
    return LineEffect.APPLIED


def _unmarked_lines(dialog: Dialog) -> list[str]:
    return [line.removesuffix(_SELECTED) for line in dialog_lines(dialog)]


def _choices(dialog: Dialog) -> list[int]:
    if isinstance(dialog, ListPanel):
        # Including items that are not listed now: users may remember their numbers.
        return list(dialog.matching_items)
    footer = dialog.view(WIDTH_CELLS).footer
    return list(dict.fromkeys(row.choice for row in footer if row.choice is not None))


def _selected_choice(dialog: Dialog) -> int | None:
    footer = dialog.view(WIDTH_CELLS).footer
    return next((row.choice for row in footer if row.is_selected), None)


def _has_field(dialog: Dialog) -> bool:
    return any(row.caret_cells is not None for row in dialog.view(WIDTH_CELLS).footer)


def _answers(rows: Iterable[FooterRow]) -> list[str]:
    lines: list[str] = []
    written_choices: set[int] = set()
    for row in rows:
        text = readable_text(row.row.runs, has_columns=True).removesuffix(_ONLY_DRAWN)
        if not text or (row.choice is None and (row.is_optional or not row.row.is_copied)):
            # Hints are about keys of the drawn screen.
            continue
        if row.choice is None or row.choice in written_choices:
            lines.append(text)
            continue
        written_choices.add(row.choice)
        mark = _SELECTED if row.is_selected else ""
        lines.append((text if NUMBERED.match(text) else f"{row.choice + 1}. {text}") + mark)
    return lines
