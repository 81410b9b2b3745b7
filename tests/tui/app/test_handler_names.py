"""Textual calls methods by their names: none of ours may carry the name of a message by chance."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

from textual import events
from textual.message import Message
from textual.message_pump import MessagePump

import tui
from tests.tui.recorded import make_app


def pumps() -> Iterator[type[MessagePump]]:
    for module in pkgutil.walk_packages(tui.__path__, "tui."):
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(found, MessagePump) and found.__module__ == module.name:
                yield found


def messages(base: type[Message] = Message) -> Iterator[type[Message]]:
    for message in base.__subclasses__():
        yield message
        yield from messages(message)


def test_a_method_named_like_a_handler_takes_that_message_or_nothing() -> None:
    handlers = {message.handler_name: message.__name__ for message in messages()}
    found = list(pumps())
    assert len(found) > 10
    wrong: list[str] = []
    for pump in found:
        for name, method in vars(pump).items():
            message = handlers.get(name.removeprefix("_"))
            if message is None or not inspect.isfunction(method):
                continue
            parameters = list(inspect.signature(method).parameters.values())[1:]
            named = [str(parameter.annotation).rpartition(".")[2] for parameter in parameters]
            if named not in ([], [message]):
                wrong.append(f"{pump.__name__}.{name}({', '.join(named)}) is not for {message}")
    assert wrong == []


async def test_a_paste_that_no_one_takes_does_no_harm() -> None:
    app = make_app()
    async with app.run_test() as pilot:
        app.set_focus(None)
        app.post_message(events.Paste("some text"))
        await pilot.pause()
        assert app.is_running
