"""A proposed call as the user edits it before answering: some hunks of it, or another text.

Next: `hunks` (hunks of a change), `text_area` (the editor in the dialog), `permission` (the dialog
that owns this).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, Final

from msgspec.structs import replace

from agent.display import DiffDisplay, Display
from agent.tools.files.edited_input import edited_input
from themes.theme import Role
from tui.dialogs.call_text import CallText, NotACall, call_text, display_with, input_with
from tui.dialogs.dialog import DialogView
from tui.dialogs.hunks import Hunk, HunkChoice, split_change
from tui.dialogs.text_area import TextArea
from tui.text.highlight import Highlighter
from tui.text.styled_rows import MUTED, Ink, Run, indent_rows
from tui.text.wrap import wrap

EditText = Callable[[str, str], str | None]
"""Lets the user edit a text in a file with this name; None if the editor failed, which it has
reported."""


class EditedCall:
    """The call with the user's changes, if any."""

    def __init__(
        self,
        tool: str,
        tool_input: Mapping[str, Any],
        display: Display | None,
        highlighter: Highlighter,
        edit_text: EditText | None,
    ) -> None:
        """`display` is the proposed change of a file, if known; `edit_text` the user's editor."""
        self._tool = tool
        self._highlighter = highlighter
        self._edit_text = edit_text
        self._choice: HunkChoice | None = None
        self._hunks: tuple[DiffDisplay, tuple[Hunk, ...]] | None = None
        self._area: TextArea | None = None
        self._proposal = (tool_input, display)
        self.tool_input: Mapping[str, Any] = tool_input
        """The current input."""
        self.display = display
        """The current change; hidden characters are not yet revealed."""
        self.problem = ""
        """Message for users about why the last change failed; "" if it did not."""

    @property
    def is_changed(self) -> bool:
        """Whether the input differs from the model's."""
        return self.tool_input != self._proposal[0]

    @property
    def is_choosing(self) -> bool:
        """Whether the choice of hunks is shown."""
        return self._choice is not None

    @property
    def is_editing(self) -> bool:
        """Whether the call's text is being edited in the dialog."""
        return self._area is not None

    @property
    def has_parts(self) -> bool:
        """Whether the change has several hunks."""
        return len(self._parts()) > 1

    @property
    def has_editor(self) -> bool:
        """Whether the user has an external editor."""
        return self._edit_text is not None

    @property
    def what(self) -> str:
        """The name of the edited part of the call: `command`, `content`, …"""
        return self._call_text.what

    @property
    def typed_text(self) -> str:
        """The text in the dialog's editor that was not applied; "" if it is unchanged."""
        if self._area is None or self._area.text == self._call_text.text:
            return ""
        return self._area.text

    # Hunks

    def begin_choosing(self) -> bool:
        """Show the choice of hunks; False if the change has only one."""
        if not isinstance(self.display, DiffDisplay) or not self.has_parts:
            return False
        self._choice = HunkChoice(self.display, self._parts(), self._highlighter)
        return True

    def press(self, key: str, action_id: str | None) -> bool:
        """Handle a key while choosing; return whether the choice is complete and was applied."""
        assert self._choice is not None
        step = self._choice.press(key, action_id)
        if step == "goes_on":
            return False
        choice, self._choice = self._choice, None
        return step == "done" and self._use_file_text(choice.text)

    def choose(self, index: int) -> None:
        """Handle a click while choosing."""
        if self._choice is not None:
            self._choice.choose(index)

    def view(self, title: tuple[Run, ...], width_cells: int) -> DialogView:
        """Return the choice of hunks at a width."""
        assert self._choice is not None
        return self._choice.view(title, width_cells)

    # Editing in the dialog

    def begin_editing(self) -> None:
        """Open the call's text in the dialog's editor, or if too long in the user's editor."""
        self.problem = ""
        if TextArea.takes(self._call_text.text):
            self._area = TextArea(self._call_text.text)
        elif self._edit_text is not None:
            self.edit()
        else:
            self.problem = f"The {self._call_text.what} is too long to edit here. {_SET_EDITOR}"

    def press_editing(self, key: str, text: str, action_id: str | None) -> bool:
        """Handle a key while editing; return whether the edited text was applied."""
        area = self._area
        assert area is not None
        if action_id == "confirm:edit":
            new_text = self._run_editor(area.text, self._call_text.name)
            if new_text is not None and not TextArea.takes(new_text):
                # Too long for the dialog's editor, so apply it at once.
                return self._use_edited_text(new_text)
            if new_text is not None:
                area.replace(new_text)
        elif key == "enter":
            return self._use_edited_text(area.text)
        elif key == "escape" or (action_id == "confirm:no" and not text):
            self._area, self.problem = None, ""
        else:
            area.press(key, text)
        return False

    def paste(self, text: str) -> None:
        """Paste while editing."""
        if self._area is not None and not self._area.paste(text):
            self.problem = "Too long to edit here; nothing was pasted."

    def revise(self, text: str) -> bool:
        """Replace the call's text; False, with `problem` set, if it cannot become a call."""
        self.problem = ""
        return self._use_edited_text(text)

    def edit_view(self, title: tuple[Run, ...], width_cells: int) -> DialogView:
        """Return the editor at a width."""
        assert self._area is not None
        own = ", ctrl+g open $EDITOR" if self.has_editor else ""
        heading = [(f"Edit the {self._call_text.what}: {_EDIT_KEYS}{own}.", MUTED)]
        if self.problem:
            heading = [(self.problem, Ink(Role.WARNING))]
        pad: tuple[Run, ...] = (("   ", MUTED),)
        body = indent_rows(wrap(heading, width_cells - 4), pad, pad)
        return DialogView(title, body, self._area.rows(width_cells), body_id="edit")

    # The user's editor

    def edit(self) -> None:
        """Open the changed file's text, or else the call's text, in the user's editor."""
        display = self.display
        if isinstance(display, DiffDisplay) and self._tool in {"Edit", "Write"}:
            new_text = self._run_editor(display.new, PurePath(display.path).name)
            if new_text is not None:
                self._use_file_text(new_text)
            return
        new_text = self._run_editor(self._call_text.text, self._call_text.name)
        if new_text is not None:
            self._use_edited_text(new_text)

    def _run_editor(self, text: str, name: str) -> str | None:
        """Return the text that the editor saved; None if it failed or changed nothing."""
        self.problem = ""
        if self._edit_text is None:
            self.problem = _SET_EDITOR
            return None
        new_text = self._edit_text(text, name or "text")
        if new_text is None:
            self.problem = "The editor failed; nothing was changed."
            return None
        if not text.endswith("\n"):
            # Editors add a line break at the end of a file; that is not a change by the user.
            new_text = new_text.removesuffix("\n")
        return new_text if new_text != text else None

    # Applying

    @property
    def _call_text(self) -> CallText:
        return call_text(self._tool, self.tool_input)

    def _parts(self) -> tuple[Hunk, ...]:
        display = self.display
        if not isinstance(display, DiffDisplay):
            return ()
        if self._hunks is None or self._hunks[0] is not display:
            self._hunks = (display, split_change(display))
        return self._hunks[1]

    def _use_edited_text(self, text: str) -> bool:
        try:
            new_input = input_with(self._tool, self.tool_input, text)
        except NotACall as error:
            self.problem = str(error)
            return False
        self._area, self.problem = None, ""
        if new_input == dict(self.tool_input):
            return True
        # The facts about the proposed call do not apply to the edited one.
        self._make(new_input, display_with(self._tool, new_input, self.display))
        return True

    def _use_file_text(self, text: str) -> bool:
        """Use a file's text as the call's result; return whether the input can express it."""
        assert isinstance(self.display, DiffDisplay)
        if text == self.display.new:
            return True
        new_input = edited_input(self._tool, self.tool_input, self.display.old, text)
        if new_input is None:
            self.problem = "That leaves the file unchanged. To reject the call, choose no."
            return False
        self._make(new_input, replace(self.display, new=text))
        return True

    def _make(self, tool_input: Mapping[str, Any], display: Display | None) -> None:
        if tool_input == self._proposal[0]:
            display = self._proposal[1]
        self.tool_input, self.display = tool_input, display


_EDIT_KEYS: Final = "enter confirm, ctrl+j line break, esc cancel"
_SET_EDITOR: Final = "Set $VISUAL or $EDITOR to use your own editor."
