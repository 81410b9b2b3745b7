"""What is used of Textual without a promise is still there, and means what it meant.

A Textual upgrade that moves one of these must fail here, not in front of a user.
"""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Any

import pytest
from rich.segment import Segment
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip

from tui.input import byte_filter, driver
from tui.input import routed_app as routed
from tui.screen import crash, frame_writer, presenter
from tui.screen import direct_rows as direct
from tui.screen import immediate_screen as frames
from tui.screen import inline_output as inline

MODULES = (
    presenter,
    frame_writer,
    inline,
    crash,
    direct,
    frames,
    byte_filter,
    driver,
    routed,
)
USED = [
    (owner, name)
    for module in MODULES
    for owner, names in module.PRIVATE_NAMES.items()
    for name in names
]


class _Probe(App[None]):
    """An app to look for attributes of instances on."""


def _find(owner: str) -> object:
    try:
        return importlib.import_module(owner)
    except ModuleNotFoundError:
        module, _, name = owner.rpartition(".")
        return getattr(importlib.import_module(module), name)


@cache
def _sources(owner: object) -> str:
    classes = owner.__mro__ if isinstance(owner, type) else ()
    return "".join(
        inspect.getsource(part) for part in classes if part.__module__.startswith("textual.")
    )


@pytest.mark.parametrize(("owner", "name"), USED, ids=[f"{o}.{n}" for o, n in USED])
def test_the_name_is_there(owner: str, name: str) -> None:
    holder = _find(owner)
    if not hasattr(holder, name):
        assert f"self.{name}" in _sources(holder)


async def test_the_app_has_its_private_attributes() -> None:
    app = _Probe()
    async with app.run_test():
        names = presenter.PRIVATE_NAMES["textual.app.App"]
        assert [name for name in names if not hasattr(app, name)] == []


def test_display_takes_a_screen_and_an_update() -> None:
    parameters: Any = inspect.signature(App._display).parameters
    assert list(parameters) == ["self", "screen", "renderable"]


def test_updates_are_what_the_painter_takes_them_for() -> None:
    strip = Strip([Segment("ab")])
    layout = LayoutUpdate([[strip]], Region(1, 2, 2, 1))
    assert (layout.strips, layout.region) == ([[strip]], Region(1, 2, 2, 1))
    chops = ChopsUpdate([{0: strip}], [(0, 0, 2)], [[2]])
    assert (chops.chops, chops.spans, chops.chop_ends) == ([{0: strip}], [(0, 0, 2)], [[2]])
