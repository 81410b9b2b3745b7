"""Vim's modes for the prompt: handles keys, edits the buffer, and returns what the screen must do.

Next: `command` (parsing), `operators` (edits), `motions` (cursor movements).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct

from tui.editing.draft import Draft, DraftPiece
from tui.editing.text_buffer import TextBuffer
from tui.editing.vim import operators
from tui.editing.vim.command import Command, parse
from tui.editing.vim.motions import MOTIONS, line_end, line_start, on_line
from tui.editing.vim.objects import text_object
from tui.editing.vim.operators import CASES, OperatorSpan, lines_span
from tui.editing.vim.register import VimRegister, put_back
from tui.editing.vim.targets import Targets
from tui.text.graphemes import left_of, right_of

REMAP_S: Final = 1.0
"""Maximum time between the two keys of an insert mode remap."""


class VimMode(StrEnum):
    """Vim's modes; the value is shown to the user and passed to status line commands."""

    INSERT = "INSERT"
    NORMAL = "NORMAL"
    VISUAL = "VISUAL"
    VISUAL_LINE = "VISUAL LINE"


KeyUse = Literal["taken", "passed", "up", "down", "search"]
"""How a key was handled. `passed`: it is not a vim key; `up`, `down`: move by a row, or recall a
prompt; `search`: search the history."""


class _Insertion(Struct):
    """Text being typed in insert mode, which Esc combines into one change."""

    command: Command
    start_draft: Draft
    text_before: str
    text_after: str
    extent: int = 0
    """Number of selected characters or lines, for a change of a selection."""


class VimKeys:
    """The state of one prompt: mode, register, unfinished command, last change."""

    def __init__(
        self,
        buffer: TextBuffer,
        *,
        remaps: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start in insert mode. `remaps` maps two keys to `<Esc>`; other mappings are ignored."""
        self.mode = VimMode.INSERT
        self._buffer = buffer
        self._clock = clock
        self._escapes = {
            keys
            for keys, target in (remaps or {}).items()
            if len(keys) == 2 and target.lower() == "<esc>"
        }
        self._last_key = ""
        self._typed_at_s = float("-inf")
        self._pending = ""
        self._register = VimRegister()
        self._targets = Targets()
        self._anchor = 0
        self._column: int | None = None
        self._insertion: _Insertion | None = None
        self._last_change: tuple[Command, str, int] | None = None
        """Command, the text typed after it, and the number of selected characters or lines."""

    @property
    def pending(self) -> str:
        """The keys of an unfinished command, to be shown."""
        return self._pending

    @property
    def is_typing(self) -> bool:
        """Whether letters are typed as text."""
        return self.mode is VimMode.INSERT

    @property
    def selection(self) -> tuple[int, int] | None:
        """Start and end (exclusive) of the selection; None outside visual mode."""
        if self.mode not in (VimMode.VISUAL, VimMode.VISUAL_LINE):
            return None
        span = self._operator_span()
        return span.start, span.end

    def reset(self) -> None:
        """Reset for a new prompt: insert mode, no unfinished command; keeps the register."""
        self.mode = VimMode.INSERT
        self._pending = ""
        self._insertion = None

    def settle(self) -> None:
        """Put the cursor on a character, after it was moved without vim in normal mode."""
        if self.mode is VimMode.NORMAL:
            self._move(on_line(self._buffer.text, self._buffer.cursor))

    def press(self, key: str, text: str) -> KeyUse:
        """Handle a key: its name, and the text that it types."""
        if self.mode is VimMode.INSERT:
            return self._press_in_insert(key, text)
        is_idle = not self._pending and self.mode is VimMode.NORMAL
        if key == "escape" and is_idle:
            return "passed"
        if key == "escape":
            self._leave_visual()
            return "taken"
        if key == "ctrl+r" and self._buffer.redo():
            self.settle()
            return "taken"
        char = _CHARACTERS.get(key, text)
        if len(char) != 1 or not char.isprintable():
            self._pending = ""
            return "passed"
        if is_idle and char in _FOR_SCREEN:
            return self._for_screen(char)
        return self._add_command_char(char)

    # Insert mode

    def _press_in_insert(self, key: str, text: str) -> KeyUse:
        now_s, last_key = self._clock(), self._last_key
        is_soon = now_s - self._typed_at_s <= REMAP_S
        self._last_key, self._typed_at_s = text, now_s
        if key == "escape":
            self._end_insert()
            return "taken"
        cursor = self._buffer.cursor
        is_remap = is_soon and last_key + text in self._escapes
        if is_remap and self._buffer.text[cursor - 1 : cursor] == last_key:
            self._buffer.backspace()
            self._end_insert()
            return "taken"
        return "passed"

    def _begin_insert(self, command: Command, start_draft: Draft, extent: int = 0) -> None:
        text, cursor = self._buffer.text, self._buffer.cursor
        self._insertion = _Insertion(command, start_draft, text[:cursor], text[cursor:], extent)
        self.mode = VimMode.INSERT

    def _end_insert(self) -> None:
        insertion, self._insertion = self._insertion, None
        buffer = self._buffer
        if insertion is not None:
            text = self._typed_since(insertion)
            if insertion.command.verb in _INSERTS:
                line_break = "\n" if insertion.command.verb in "oO" else ""
                self._insert_text((line_break + text) * (insertion.command.times - 1))
            self._last_change = (insertion.command, text, insertion.extent)
            buffer.end_step(insertion.start_draft)
        self.mode = VimMode.NORMAL
        if buffer.cursor > line_start(buffer.text, buffer.cursor):
            self._move(left_of(buffer.text, buffer.cursor))

    def _typed_since(self, insertion: _Insertion) -> str:
        """Return the typed text; "" if text was changed elsewhere."""
        text, prefix, suffix = self._buffer.text, insertion.text_before, insertion.text_after
        is_whole = text.startswith(prefix) and text.endswith(suffix)
        return text[len(prefix) : len(text) - len(suffix)] if is_whole else ""

    def _insert_text(self, text: str) -> None:
        cursor = self._buffer.cursor
        self._buffer.put(cursor, cursor, DraftPiece(text))

    # Normal and visual mode

    def _for_screen(self, char: str) -> KeyUse:
        match char:
            case "j":
                return "down"
            case "k":
                return "up"
            case "/":
                return "search"
            case _:
                return "passed" if self._buffer.is_empty else "taken"

    def _add_command_char(self, char: str) -> KeyUse:
        self._pending += char
        command = parse(self._pending, is_visual=self.mode is not VimMode.NORMAL)
        if command == "more":
            return "taken"
        self._pending = ""
        if command is None:
            return "taken"
        if command.target not in {"j", "k"} or command.verb:
            self._column = None
        if self.mode is VimMode.NORMAL:
            self._run(command)
            self.settle()
        else:
            self._run_visual(command)
        return "taken"

    def _run(self, command: Command) -> None:
        match command.verb:
            case "":
                self._run_motion(command)
            case "." if self._last_change is not None:
                self._repeat(self._last_change, command.count)
            case "u":
                for _ in range(command.times):
                    self._buffer.undo()
            case "v" | "V":
                self._anchor = self._buffer.cursor
                self.mode = VimMode.VISUAL if command.verb == "v" else VimMode.VISUAL_LINE
            case "y" | "Y":
                self._yank(command)
            case ".":
                pass
            case _:
                self._change(command)

    def _change(self, command: Command) -> bool:
        """Perform an editing command; return whether insert mode is active now."""
        start_draft = self._buffer.begin_step()
        plain = _expand_shorthand(command)
        if plain.verb in _INSERTS:
            operators.open_insert(self._buffer, plain.verb)
            self._begin_insert(command, start_draft)
            return True
        if plain.verb == "c":
            span = self._span(plain)
            if span is not None:
                self._register = operators.change(self._buffer, span)
                self._begin_insert(command, start_draft)
                return True
        else:
            self._edit(plain)
            self._last_change = (command, "", 0)
        self._buffer.end_step(start_draft)
        return False

    def _edit(self, command: Command) -> None:
        buffer = self._buffer
        match command.verb:
            case "p" | "P":
                put_back(buffer, self._register, command.times, goes_first=command.verb == "P")
            case "r":
                operators.replace(buffer, command.target, command.times)
            case "J":
                end = buffer.cursor
                for _ in range(max(1, command.count - 1)):
                    end = min(len(buffer.text), line_end(buffer.text, end) + 1)
                operators.join(buffer, buffer.cursor, end)
            case "~":
                target = MOTIONS["l"](buffer.text, buffer.cursor, command.times)
                operators.switch_case(
                    buffer, OperatorSpan(buffer.cursor, target.cursor), str.swapcase
                )
                self._move(target.cursor)
            case _:
                span = self._span(command)
                if span is not None:
                    self._operate(command.verb, span, 1)

    def _operate(self, verb: str, span: OperatorSpan, steps: int) -> None:
        match verb:
            case "d":
                self._register = operators.delete(self._buffer, span)
            case ">" | "<":
                operators.indent(self._buffer, span, steps=steps if verb == ">" else -steps)
            case _:
                operators.switch_case(self._buffer, span, CASES[verb[-1]])

    def _repeat(self, change: tuple[Command, str, int], count: int) -> None:
        """Repeat the last change, with the text that was typed."""
        command, text, extent = change
        if count:
            command = Command(command.verb, count, command.target)
        if extent:
            cursor = self._buffer.cursor
            self._anchor = cursor
            if command.target == "line":
                end = MOTIONS["j"](self._buffer.text, cursor, extent - 1) if extent > 1 else None
                self.mode = VimMode.VISUAL_LINE
                self._move(end.cursor if end else cursor)
            else:
                self.mode = VimMode.VISUAL
                self._move(min(cursor + extent - 1, len(self._buffer.text)))
            self._run_visual(Command(command.verb, command.count, command.target))
        elif not self._change(command):
            return
        if self._insertion is not None:
            self._insert_text(text)
            self._end_insert()
            self._last_change = change

    # Visual mode

    def _run_visual(self, command: Command) -> None:
        verb, buffer = command.verb, self._buffer
        if verb == "" and command.target[:1] in ("i", "a") and len(command.target) == 2:
            self._mark_object(command.target)
        elif verb == "":
            self._run_motion(command)
        elif verb == "o":
            self._anchor, cursor = buffer.cursor, self._anchor
            self._move(cursor)
        elif verb in {"v", "V"}:
            new_mode = VimMode.VISUAL if verb == "v" else VimMode.VISUAL_LINE
            self.mode = VimMode.NORMAL if self.mode is new_mode else new_mode
            self.settle()
        else:
            self._edit_marked(command)

    def _yank(self, command: Command) -> None:
        span = self._span(_expand_shorthand(command))
        if span is None:
            return
        cursor = self._buffer.cursor
        self._register = operators.yank(self._buffer, span)
        if span.is_linewise and command.target in {"line", ""}:
            self._move(cursor)

    def _edit_marked(self, command: Command) -> None:
        buffer = self._buffer
        span = self._operator_span(whole_lines=command.verb in "XDSCY")
        text = buffer.text[span.start : span.end]
        # At the end of the text the selection is empty; a repeat still applies to a character.
        extent = max(1, text.count("\n") if span.is_linewise else len(text))
        start_draft = buffer.begin_step()
        self.mode = VimMode.NORMAL
        verb = _VISUAL_VERBS.get(command.verb, command.verb)
        target = command.target or ("line" if span.is_linewise else "")
        match verb:
            case "y":
                self._register = operators.yank(buffer, span)
            case "c":
                self._register = operators.change(buffer, span)
                self._begin_insert(Command(verb, command.count, target), start_draft, extent)
                return
            case "p" | "P":
                register = self._register
                self._register = operators.delete(buffer, span)
                was_last = span.is_linewise and buffer.cursor < span.start
                put_back(buffer, register, command.times, goes_first=not was_last)
            case "J":
                operators.join(buffer, span.start, max(span.start, span.end - 1))
            case "r":
                text_over = "".join(c if c == "\n" else command.target for c in text)
                buffer.put(span.start, span.end, DraftPiece(text_over))
                self._move(span.start)
            case _:
                self._operate(verb, span, command.times)
        if verb != "y":
            self._last_change = (Command(verb, command.count, target), "", extent)
        buffer.end_step(start_draft)
        self.settle()

    def _mark_object(self, target: str) -> None:
        buffer = self._buffer
        span = text_object(buffer.text, buffer.cursor, target[1], is_inner=target[0] == "i")
        if span is None or span[0] == span[1]:
            return
        # An object extends the existing selection.
        self._anchor = min(span[0], self._anchor) if self._anchor < span[0] else span[0]
        self._move(left_of(buffer.text, span[1]))

    def _operator_span(self, *, whole_lines: bool = False) -> OperatorSpan:
        text, cursor = self._buffer.text, self._buffer.cursor
        if self.mode is VimMode.VISUAL_LINE or whole_lines:
            return lines_span(text, self._anchor, cursor)
        low, high = min(self._anchor, cursor), max(self._anchor, cursor)
        return OperatorSpan(low, right_of(text, high))

    def _leave_visual(self) -> None:
        self._pending = ""
        self.mode = VimMode.NORMAL
        self.settle()

    # Moving

    def _run_motion(self, command: Command) -> None:
        target = self._targets.target(self._buffer.text, self._buffer.cursor, command)
        if target is None:
            return
        if command.target in {"j", "k"}:
            self._move_by_line(target.cursor)
        else:
            self._move(target.cursor)

    def _move_by_line(self, cursor: int) -> None:
        """Move to the cursor's line, preserving the column across shorter lines."""
        text = self._buffer.text
        if self._column is None:
            self._column = self._buffer.cursor - line_start(text, self._buffer.cursor)
        start = line_start(text, cursor)
        self._move(min(start + self._column, line_end(text, start)))

    def _span(self, command: Command) -> OperatorSpan | None:
        return self._targets.span(self._buffer.text, self._buffer.cursor, command)

    def _move(self, cursor: int) -> None:
        self._buffer.move_to(cursor)


def _expand_shorthand(command: Command) -> Command:
    """Return a shorthand as operator and target, such as `D` as `d$`."""
    expansion = _SHORT.get(command.verb)
    return command if expansion is None else Command(expansion[0], command.count, expansion[1])


_SHORT: Final = {
    "x": ("d", "l"),
    "X": ("d", "h"),
    "D": ("d", "$"),
    "C": ("c", "$"),
    "Y": ("y", "line"),
    "s": ("c", "l"),
    "S": ("c", "line"),
}
_VISUAL_VERBS: Final = {"x": "d", "X": "d", "D": "d", "s": "c", "S": "c", "C": "c", "Y": "y"}
_INSERTS: Final = frozenset("iIaAoO")
_FOR_SCREEN: Final = frozenset("jk/?")
_CHARACTERS: Final = {"backspace": "h", "delete": "x", "space": " "}
