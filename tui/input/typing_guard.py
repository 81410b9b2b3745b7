"""The guard of a dialog: keys of its first 200 ms were meant for the prompt, not for the dialog.

Source: design of permission prompts, "a prompt ignores keys for 200 ms; focus clicks answer
nothing". Swallowed text goes back to the prompt, so nothing typed is lost. A user who types
words that the dialog has no use for has not seen it: no letter answers it before a pause.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from tui.input.dispatch import RESERVED_KEYS
from tui.input.event import RoutedEvent
from tui.input.event_kind import EventKind

GUARD_S: Final = 0.2
PAUSE_S: Final = 1.0
"""How long typing must pause before keys answer a dialog again, once words were typed at it."""


class DialogGuard:
    """Swallows what arrives too early for a dialog; a listener for all discrete kinds.

    It has no timer: lateness is judged when an event comes.
    """

    def __init__(
        self,
        give_back: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        duration_s: float = GUARD_S,
    ) -> None:
        """`give_back` receives swallowed text, which is never empty."""
        self._give_back = give_back
        self._clock = clock
        self._duration_s = duration_s
        self._guarded_until_s = float("-inf")
        self._clicks_guarded_until_s = float("-inf")
        self._is_typing = False
        self._swallowed_texts: list[str] = []

    def arm(self) -> None:
        """Start to guard; to be called when the dialog becomes visible."""
        self._is_typing = False
        self._guarded_until_s = self._clock() + self._duration_s
        self._clicks_guarded_until_s = self._guarded_until_s

    @property
    def is_armed(self) -> bool:
        """Whether a key received now would be swallowed."""
        return self._clock() < self._guarded_until_s

    @property
    def is_typing(self) -> bool:
        """Whether typed text goes to the prompt, because words are being typed."""
        return self._is_typing and self.is_armed

    def take_words(self, event: RoutedEvent) -> None:
        """Take a key that the dialog has no use for: the user is typing words."""
        if event.text:
            self._swallow(event)
            self._is_typing = True
            self._guarded_until_s = self._clock() + PAUSE_S

    def on_input(self, event: RoutedEvent) -> None:
        """Claim the event if it is early; reserved keys always pass."""
        match event.kind:
            case EventKind.KEY | EventKind.PASTE:
                if self.is_typing and not _is_writing(event):
                    # An arrow or Esc is not a word, and applies to the visible dialog.
                    self._guarded_until_s = float("-inf")
                if not self.is_armed:
                    self._is_typing = False
                    self.release()
                elif event.key not in RESERVED_KEYS:
                    if self._is_typing:
                        self._guarded_until_s = self._clock() + PAUSE_S
                    self._swallow(event)
                    event.claim()
            case EventKind.CLICK | EventKind.MOUSE_DOWN | EventKind.MOUSE_UP:
                if self._clock() < self._clicks_guarded_until_s:
                    event.claim()
            case EventKind.FOCUS:
                # The click that focuses the window is also reported to us.
                self._clicks_guarded_until_s = self._clock() + self._duration_s
            case EventKind.BLUR | EventKind.MOUSE_MOVE | EventKind.SCROLL | EventKind.RESIZE:
                pass

    def release(self) -> None:
        """Return the swallowed text to the prompt; to be called when the dialog closes, too."""
        text = "".join(self._swallowed_texts)
        self._swallowed_texts.clear()
        if text:
            self._give_back(text)

    def _swallow(self, event: RoutedEvent) -> None:
        if event.key == "backspace":
            if self._swallowed_texts:
                self._swallowed_texts.pop()
        elif event.text:
            self._swallowed_texts.append(event.text)


def _is_writing(event: RoutedEvent) -> bool:
    return bool(event.text) or event.key in ("enter", "backspace", "space", "shift+enter")
