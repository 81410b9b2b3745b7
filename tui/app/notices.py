"""Messages of the program: lines in the transcript, and temporary hints in the status line."""

from __future__ import annotations

from collections.abc import Callable

from tui.status_line.hint import Hint
from tui.transcript.transcript_model import TranscriptModel


class Notices:
    """Shows messages at once."""

    def __init__(self, document: TranscriptModel, show: Callable[[], None], hint: Hint) -> None:
        """`show` shows the document after a line was added."""
        self._document = document
        self._show = show
        self._hint = hint

    def notice(self, text: str, level: str = "info") -> None:
        """Add a line to the transcript."""
        self._document.add_notice(level, text)
        self._show()

    def warn(self, text: str) -> None:
        """Add a warning to the transcript."""
        self.notice(text, "warning")

    def hint(self, text: str) -> None:
        """Show a text in the status line for a moment."""
        self._hint.show(text)
