"""Items in the format of the Responses API, as plain dicts or as objects of a vendor's SDK.

Both kinds may be mixed in one list; the functions here read both.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

RawItem: TypeAlias = Any
"""One item: a dict, a `DictItem`, or an object of an SDK with the same fields."""

InputItem: TypeAlias = dict[str, Any]
"""One item as input for a model."""


HANDLER_MESSAGE_ID: Final = "__fake_id__"
"""Id of messages that no model wrote."""


class DictItem(dict[str, Any]):
    """A dict whose keys can be read as attributes, as with items of SDKs."""

    def __getattr__(self, name: str) -> RawItem:
        """Return the value of a key.

        Raises:
            AttributeError: there is no such key.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __deepcopy__(self, memo: dict[int, object]) -> DictItem:
        """Return a copy with deep copies of the values."""
        return DictItem({key: copy.deepcopy(value, memo) for key, value in self.items()})


def read(item: RawItem, name: str, default: RawItem = None) -> RawItem:
    """Return a field of an item of either kind, or `default`."""
    if isinstance(item, Mapping):
        return item.get(name, default)
    return getattr(item, name, default)


def item_type(item: RawItem) -> str:
    """Return the item's type; without one, `message` if it has a role, else ""."""
    kind = read(item, "type")
    if isinstance(kind, str):
        return kind
    return "message" if read(item, "role") is not None else ""


def as_input(item: RawItem) -> InputItem:
    """Return an item as a plain dict without fields that were never set."""
    if isinstance(item, Mapping):
        return dict(item)
    dump = getattr(item, "model_dump", None)
    if callable(dump):
        return dict(dump(exclude_unset=True))
    raise TypeError(f"not an item of a conversation: {type(item).__name__}")


def as_json(item: RawItem) -> RawItem:
    """Return a value of JSON types only; anything else becomes text."""
    if isinstance(item, Mapping):
        return {str(key): as_json(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [as_json(value) for value in item]
    if item is None or isinstance(item, str | int | float | bool):
        return item
    dump: Callable[..., RawItem] | None = getattr(item, "model_dump", None)
    if callable(dump):
        return dump(mode="json", exclude_unset=True)
    return str(item)


def input_list(input: str | list[InputItem]) -> list[InputItem]:
    """Return a copy of an input as a list; text becomes a user message."""
    if isinstance(input, str):
        return [{"content": input, "role": "user"}]
    return copy.deepcopy(input)
