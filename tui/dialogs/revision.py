"""What the person made of a proposed call before answering: parts of it, or their own version.

Next: `hunks` (parts of a change), `permission` (the dialog that owns this).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from agent.display import DiffDisplay, Display
from agent.tools.edited_input import edited_input
from tui.dialogs.dialog import DialogView
from tui.dialogs.hunks import Hunk, HunkChoice, split_change
from tui.text.highlight import Highlighter
from tui.text.ink import Run

EditText = Callable[[str, str], str | None]
"""Lets the person edit a text in a file of that name; None when the editor failed, which they have
been told."""


class Revision:
    """The call as the person wants it; as proposed until they change something."""

    def __init__(
        self,
        tool: str,
        tool_input: Mapping[str, Any],
        display: Display | None,
        highlighter: Highlighter,
        edit_text: EditText | None,
    ) -> None:
        """Take the proposal, with what it would do to a file where that is known."""
        self._tool = tool
        self._highlighter = highlighter
        self._edit_text = edit_text
        self._choice: HunkChoice | None = None
        self._hunks: tuple[DiffDisplay, tuple[Hunk, ...]] | None = None
        self.tool_input: Mapping[str, Any] = tool_input
        """The input as it is now."""
        self.display = display
        """The change as it is now; hidden characters are not yet revealed."""
        self.is_changed = False

    @property
    def is_choosing(self) -> bool:
        """Whether the parts of the change are on the screen."""
        return self._choice is not None

    @property
    def has_parts(self) -> bool:
        """Whether the change can be taken in part."""
        return len(self._parts()) > 1

    @property
    def can_edit(self) -> bool:
        """Whether there is an editor, and a text for it."""
        return self._edit_text is not None and self._text() is not None

    def begin_choosing(self) -> bool:
        """Show the parts of the change; False where it has but one."""
        if not isinstance(self.display, DiffDisplay) or not self.has_parts:
            return False
        self._choice = HunkChoice(self.display, self._parts(), self._highlighter)
        return True

    def press(self, key: str, action_id: str | None) -> bool:
        """Take a key while choosing; return whether the choice was made and is to be run."""
        assert self._choice is not None
        step = self._choice.press(key, action_id)
        if step == "goes_on":
            return False
        choice, self._choice = self._choice, None
        return step == "done" and self._take(choice.text)

    def choose(self, index: int) -> None:
        """Take a click while choosing."""
        if self._choice is not None:
            self._choice.choose(index)

    def view(self, title: tuple[Run, ...], width_cells: int) -> DialogView:
        """Return the choice of parts at a width."""
        assert self._choice is not None
        return self._choice.view(title, width_cells)

    def edit(self) -> None:
        """Let the person edit what would be written or run."""
        before = self._text()
        if before is None or self._edit_text is None:
            return
        after = self._edit_text(before, self._file_name)
        if after is None:
            return
        if not before.endswith("\n"):
            # Editors end every file with a line break; that is no change of the person's.
            after = after.removesuffix("\n")
        if after != before:
            self._take(after)

    @property
    def _file_name(self) -> str:
        """What tells the editor the language."""
        return PurePath(self.display.path).name if isinstance(self.display, DiffDisplay) else "a.sh"

    def _parts(self) -> tuple[Hunk, ...]:
        display = self.display
        if not isinstance(display, DiffDisplay):
            return ()
        if self._hunks is None or self._hunks[0] is not display:
            self._hunks = (display, split_change(display))
        return self._hunks[1]

    def _text(self) -> str | None:
        match self.display:
            case DiffDisplay() if self._tool in {"Edit", "Write"}:
                return self.display.new
            case _:
                pass
        command = self.tool_input.get("command")
        return command if self._tool == "Bash" and isinstance(command, str) else None

    def _take(self, text: str) -> bool:
        """Make a text the proposal; return whether that could be said in the call's input."""
        if isinstance(self.display, DiffDisplay):
            if text == self.display.new:
                return True
            changed = edited_input(self._tool, self.tool_input, self.display.old, text)
            if changed is None:
                return False
            self.display = replace(self.display, new=text)
            self.tool_input = changed
        elif text.strip():
            self.tool_input = {**self.tool_input, "command": text}
            # What was known of the command is no longer true of this one.
            self.display = None
        else:
            return False
        self.is_changed = True
        return True
