"""A streaming text of the answer, as one block per part, of which the last one grows."""

from __future__ import annotations

from msgspec.structs import replace

from tui.text.graphemes import settled_length
from tui.transcript.block_list import BlockList
from tui.transcript.blocks import AssistantText
from tui.transcript.markdown.markdown_parts import MarkdownPart, MarkdownParts, split_text


class StreamingAnswer:
    """Text that streams in; its blocks are consecutive in the list."""

    def __init__(self, blocks: BlockList, uid: str, key: str) -> None:
        """Add an empty block to the list."""
        self._blocks = blocks
        self._uid = uid
        self._key = key
        self._count = 1
        self._parts = MarkdownParts()
        self._unsettled_text = ""
        blocks.remember(uid, key)
        blocks.append(AssistantText(key, "", is_streaming=True))

    @property
    def whole(self) -> str:
        """The whole text so far."""
        return self._parts.whole

    def grow(self, text: str) -> None:
        """Append text; a last grapheme cluster that may still grow is held back."""
        text = self._unsettled_text + text
        count = settled_length(text)
        text, self._unsettled_text = text[:count], text[count:]
        if text:
            self._add(text)

    def _add(self, text: str) -> None:
        for part in self._parts.feed(text):
            self._replace_last_part(part, is_streaming=False)
            self._begin_next()
        self._replace_last_part(self._parts.current, is_streaming=True)

    def finish(self) -> None:
        """Finish the last block, because the text is complete."""
        if self._unsettled_text:
            self._add(self._unsettled_text)
            self._unsettled_text = ""
        self._replace_last_part(self._parts.current, is_streaming=False)

    def _replace_last_part(self, part: MarkdownPart, *, is_streaming: bool) -> None:
        block = self._blocks.get(part_key(self._key, self._count - 1))
        if isinstance(block, AssistantText):
            self._blocks.replace(
                replace(block, text=part.text, is_streaming=is_streaming, continues=part.continues)
            )

    def _begin_next(self) -> None:
        previous_key = part_key(self._key, self._count - 1)
        key = part_key(self._key, self._count)
        self._count += 1
        self._blocks.remember(self._uid, key)
        self._blocks.insert_after(previous_key, AssistantText(key, "", is_streaming=True))


def append_answer(blocks: BlockList, uid: str, key: str, text: str) -> None:
    """Add the blocks of a complete text."""
    for number, part in enumerate(split_text(text)):
        own_key = part_key(key, number)
        blocks.remember(uid, own_key)
        blocks.append(
            AssistantText(own_key, part.text, is_streaming=False, continues=part.continues)
        )


def part_key(key: str, number: int) -> str:
    """Return the key of a part; the first part has the key of the whole."""
    return f"{key}/{number}" if number else key
