"""A prompt; a module of its own, so that the screen can start without importing the loop."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from agent.messages import Block, Message, new_uid, text_block


class Prompt(Struct, frozen=True):
    """Text, and images or documents as blocks."""

    text: str
    blocks: tuple[Block, ...] = ()
    uid: str = field(default_factory=new_uid)
    sender_id: str = ""
    """The id that the sending program gave it; empty if it gave none."""
    origin: Mapping[str, object] | None = None
    """Who wrote it, as the sending program states; None if it does not."""

    def to_message(self) -> Message:
        """Return the message that enters the history."""
        text = (text_block(self.text),) if self.text.strip() else ()
        return Message(role="user", content=(*self.blocks, *text), origin="person", uid=self.uid)
