"""Vim's keys in the prompt, if the user has enabled them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.editing.text_buffer import TextBuffer

if TYPE_CHECKING:
    from tui.editing.vim.keys import KeyUse, VimKeys


class PromptVim:
    """Passes keys to vim's modes; while these are off, leaves every key to others."""

    def __init__(
        self,
        buffer: TextBuffer,
        on_text_changed: Callable[[], None],
        refresh: Callable[[], None],
    ) -> None:
        """`refresh` is called if only the cursor, the mode or a count has changed."""
        self._buffer = buffer
        self._on_text_changed = on_text_changed
        self._refresh = refresh
        self._keys: VimKeys | None = None

    def use(self, is_on: bool, remaps: Mapping[str, str] | None = None) -> None:
        """Turn vim's keys on or off."""
        if is_on:
            from tui.editing.vim.keys import VimKeys  # only if enabled

            self._keys = VimKeys(self._buffer, remaps=remaps)
        else:
            self._keys = None
        self._refresh()

    @property
    def mode(self) -> str:
        """The mode, such as `NORMAL`; "" without vim's keys."""
        return self._keys.mode.value if self._keys is not None else ""

    @property
    def is_typing(self) -> bool:
        """Whether letters are typed: not in the normal and visual modes."""
        return self._keys is None or self._keys.is_typing

    @property
    def selection(self) -> tuple[int, int] | None:
        """Start and end (exclusive) of a visual mode's selection; None without one."""
        return self._keys.selection if self._keys is not None else None

    @property
    def label(self) -> str:
        """The mode and the keys of an unfinished command, for the lower rule."""
        if self._keys is None or self._keys.is_typing:
            return ""
        return " ".join(("", self._keys.mode.value, self._keys.pending)).rstrip() + " "

    def press(self, key: str, text: str) -> KeyUse:
        """Handle a key before actions do; `passed` if it is not one of vim's."""
        if self._keys is None:
            return "passed"
        old_draft, mode = self._buffer.draft, self._keys.mode
        use = self._keys.press(key, text)
        if self._buffer.text != old_draft.text:
            self._on_text_changed()
        elif use == "taken" or self._keys.mode is not mode:
            self._refresh()
        return use

    def settle(self) -> None:
        """Move the cursor to a position that the mode allows."""
        if self._keys is not None:
            self._keys.settle()

    def reset(self) -> None:
        """Reset for a new prompt."""
        if self._keys is not None:
            self._keys.reset()
