"""The answer of a run: the last text, with the pieces that the output limit cut before it."""

from __future__ import annotations

from msgspec import Struct

from agent.messages import Message


class AnswerText(Struct):
    """Follows the committed messages of one agent; `text` is its answer so far."""

    text: str = ""
    _is_cut: bool = False

    def see(self, message: Message) -> None:
        """Take the next committed message; only the model's own with text count."""
        if message.role != "assistant" or not message.text:
            return
        self.text = self.text + message.text if self._is_cut else message.text
        self._is_cut = message.stop_reason == "max_tokens" and not message.tool_uses()
