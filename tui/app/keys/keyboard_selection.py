"""Selects text with Shift and the arrow keys, and copies selected text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from permissions.base.text.count_text import count_text
from tui.editing.text_buffer import TextBuffer
from tui.prompt.composer import Composer
from tui.transcript.selecting.transcript_selection import Step
from tui.transcript.transcript_widget import TranscriptWidget


class KeyboardSelection:
    """Actions of the selection; the prompt's takes precedence over the transcript's."""

    def __init__(
        self,
        composer: Composer,
        transcript: TranscriptWidget,
        hint: Callable[[str], None],
        copy: Callable[[str], None],
    ) -> None:
        """`copy` puts text on the clipboard."""
        self._composer = composer
        self._transcript = transcript
        self._hint = hint
        self._copy = copy

    def actions(self) -> Mapping[str, Callable[[], object]]:
        """Return the functions by action id."""
        rows = self._composer.marker.extend_by_row
        moves: Mapping[str, tuple[Step, Callable[[], object]]] = {
            "Left": ("left", partial(self._extend, TextBuffer.left)),
            "Right": ("right", partial(self._extend, TextBuffer.right)),
            "Up": ("up", partial(rows, -1)),
            "Down": ("down", partial(rows, 1)),
            "LineStart": ("line_start", partial(self._extend, TextBuffer.line_start)),
            "LineEnd": ("line_end", partial(self._extend, TextBuffer.line_end)),
        }
        return {
            "selection:copy": self.copy,
            "selection:clear": self.clear,
            **{
                f"selection:extend{name}": partial(self._step, step, in_prompt)
                for name, (step, in_prompt) in moves.items()
            },
        }

    def copy(self) -> bool:
        """Copy the selected text; False if nothing is selected."""
        text = self._composer.marked_text or self._transcript.marked_text
        if text:
            self._copy(text)
            self._hint(f"copied {count_text(len(text), 'character')}")
        return bool(text)

    def clear(self) -> None:
        """Clear the selection."""
        self._composer.marker.drop()
        self._transcript.marker.clear()

    def _step(self, step: Step, in_prompt: Callable[[], object]) -> None:
        """Extend the transcript's selection if there is one, otherwise the prompt's."""
        if self._transcript.marker.selection is not None and not self._composer.marked_text:
            self._transcript.marker.extend(step)
        else:
            in_prompt()

    def _extend(self, move: Callable[[TextBuffer], None]) -> None:
        self._composer.marker.extend(move)
