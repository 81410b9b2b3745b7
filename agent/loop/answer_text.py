"""The answer of a run: the last text, joined with earlier parts cut off by the output limit."""

from __future__ import annotations

from msgspec import Struct

from agent.messages import Message


class AnswerText(Struct):
    """Follows the committed messages of one agent; `text` is its answer so far."""

    text: str = ""
    _is_cut: bool = False

    def on_message(self, message: Message) -> None:
        """Process the next committed message; only messages of the model with text matter."""
        if message.role != "assistant" or not message.text:
            return
        self.text = self.text + message.text if self._is_cut else message.text
        self._is_cut = message.stop_reason == "max_tokens" and not message.tool_uses()
