"""Reads the text of items, and converts return values of functions to outputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Final

from agent.library.base.raw_items import InputItem, RawItem, input_list, item_type, read
from agent.library.base.run_exceptions import ModelBehaviorError
from agent.library.items.run_items import MessageOutputItem, RunItem


@dataclass
class ToolOutputText:
    """Text as a tool's output."""

    text: str
    type: str = "text"


@dataclass
class ToolOutputImage:
    """An image as a tool's output: a URL, a data URL, or a file's id."""

    image_url: str | None = None
    file_id: str | None = None
    detail: str | None = None
    type: str = "image"

    def __post_init__(self) -> None:
        """Check that an image is set. Raises ValueError."""
        if self.image_url is None and self.file_id is None:
            raise ValueError("At least one of image_url or file_id must be provided")


@dataclass
class ToolOutputFileContent:
    """A file as a tool's output."""

    file_data: str | None = None
    file_url: str | None = None
    file_id: str | None = None
    filename: str | None = None
    type: str = "file"

    def __post_init__(self) -> None:
        """Check that a file is set. Raises ValueError."""
        if self.file_data is None and self.file_url is None and self.file_id is None:
            raise ValueError("At least one of file_data, file_url, or file_id must be provided")


_Structured = ToolOutputText | ToolOutputImage | ToolOutputFileContent
_STRUCTURED: Final = {
    "text": ToolOutputText,
    "image": ToolOutputImage,
    "file": ToolOutputFileContent,
}


class ItemHelpers:
    """Functions on items."""

    @classmethod
    def extract_last_content(cls, message: RawItem) -> str:
        """Return the last text or refusal of a message; empty for any other item."""
        last = _last(message)
        if last is None:
            return ""
        if item_type(last) == "output_text":
            return str(read(last, "text") or "")
        if item_type(last) == "refusal":
            return str(read(last, "refusal"))
        raise ModelBehaviorError(f"Unexpected content type: {type(last)}")

    @classmethod
    def extract_last_text(cls, message: RawItem) -> str | None:
        """Return the last text of a message; None if its last part is not text."""
        last = _last(message)
        if last is None or item_type(last) != "output_text":
            return None
        text = read(last, "text")
        return text if isinstance(text, str) else None

    @classmethod
    def extract_text(cls, message: RawItem) -> str | None:
        """Return all text of a message; None if there is none."""
        return _join_texts(message, "output_text", "text")

    @classmethod
    def extract_refusal(cls, message: RawItem) -> str | None:
        """Return the refusal of a message; None if there is none."""
        return _join_texts(message, "refusal", "refusal")

    @classmethod
    def input_to_new_input_list(cls, input: str | list[InputItem]) -> list[InputItem]:
        """Return a copy of an input as a list."""
        return input_list(input)

    @classmethod
    def text_message_outputs(cls, items: Iterable[RunItem]) -> str:
        """Return the text of all messages among the items."""
        return "".join(
            cls.text_message_output(item) for item in items if isinstance(item, MessageOutputItem)
        )

    @classmethod
    def text_message_output(cls, message: MessageOutputItem) -> str:
        """Return the text of one message."""
        return cls.extract_text(message.raw_item) or ""

    @classmethod
    def tool_call_output_item(cls, tool_call: RawItem, output: RawItem) -> InputItem:
        """Return the output of a call in the format of the Responses API."""
        item: InputItem = {
            "call_id": read(tool_call, "call_id"),
            "output": _convert_output(output),
            "type": "function_call_output",
        }
        return item


def _last(message: RawItem) -> RawItem:
    if item_type(message) != "message":
        return None
    content = read(message, "content")
    return content[-1] if isinstance(content, list) and content else None


def _join_texts(message: RawItem, kind: str, name: str) -> str | None:
    if item_type(message) != "message":
        return None
    content = read(message, "content")
    if not isinstance(content, list):
        return None
    texts = [str(read(part, name) or "") for part in content if item_type(part) == kind]
    return "".join(texts) or None


def _convert_output(output: RawItem) -> RawItem:
    if isinstance(output, str):
        return output
    single = _to_structured(output)
    if single is not None:
        return [_content(single)]
    if isinstance(output, list | tuple) and output:
        several = [_to_structured(each) for each in output]
        if all(each is not None for each in several):
            return [_content(each) for each in several if each is not None]
    return str(output)


def _to_structured(value: RawItem) -> _Structured | None:
    if isinstance(value, _Structured):
        return value
    if not isinstance(value, dict) or value.get("type") not in _STRUCTURED:
        return None
    kind = _STRUCTURED[value["type"]]
    names = {each.name for each in fields(kind)}
    try:
        output: _Structured = kind(**{key: each for key, each in value.items() if key in names})
    except (TypeError, ValueError):
        return None
    return output


def _content(value: _Structured) -> InputItem:
    values = {key: each for key, each in asdict(value).items() if each is not None}
    return {**values, "type": f"input_{value.type}"}
