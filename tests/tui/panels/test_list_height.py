"""Lists use the height that there is, and the wheel goes through them."""

from __future__ import annotations

import pytest
from textual import events

from agent.events import TextDelta
from tests.tui.app.test_app_keys import T, played, send, settled, text_of
from tests.tui.recorded import make_app
from tui.app.app import AgentApp
from tui.panels.list_panel import Item, ListPanel


@pytest.mark.parametrize(("height", "shown"), [(15, 10), (24, 10), (40, 20), (60, 33)])
async def test_a_list_shows_more_in_a_high_screen_and_leaves_some_of_it(
    height: int, shown: int
) -> None:
    app = make_app(played([]))
    async with app.run_test(size=(80, height)) as pilot:
        await settled(pilot)
        panel = ListPanel("All", [Item(f"item {number}") for number in range(100)])
        app.start_worker(_show(app, panel))
        await settled(pilot)
        lines = text_of(app.parts.dialogs).split("\n")
        assert sum("item " in line for line in lines) == shown
        assert panel.shown_range == (1, shown, 100)
        await pilot.press("pagedown")
        assert panel.selected_item is not None
        assert panel.selected_item > shown
        await pilot.press("escape")
        await settled(pilot)


async def _show(app: AgentApp, panel: ListPanel) -> None:
    await app.parts.command_api.show_dialog(panel)


@pytest.mark.parametrize(("height", "offers"), [(12, 3), (15, 5), (24, 6), (40, 10), (60, 12)])
async def test_the_menu_shows_more_offers_in_a_high_screen(height: int, offers: int) -> None:
    app = make_app(played([]))
    async with app.run_test(size=(80, height)) as pilot:
        await settled(pilot)
        await pilot.press("slash")
        await settled(pilot)
        assert len(text_of(app.parts.menu).strip("\n").split("\n")) == offers


async def test_the_wheel_goes_through_a_list_and_elsewhere_through_the_transcript() -> None:
    text = "\n\n".join(f"paragraph {number}" for number in range(60))
    app = make_app(played([TextDelta(T, "m1", 0, text)]))
    async with app.run_test(size=(60, 30)) as pilot:
        await send(pilot, "go")
        region = app.parts.composer.content_region
        assert follows(app)
        await _wheel(app, events.MouseScrollUp, region.y + 1)
        assert not follows(app)
        await _wheel(app, events.MouseScrollDown, region.y + 1)
        assert follows(app)
        panel = ListPanel("All", [Item(f"item {number}") for number in range(9)])
        app.start_worker(_show(app, panel))
        await settled(pilot)
        y = app.parts.dialogs.content_region.y + 2
        for _ in range(12):
            await _wheel(app, events.MouseScrollDown, y)
        assert panel.selected_item == 8
        await _wheel(app, events.MouseScrollUp, y)
        assert panel.selected_item == 7
        await pilot.press("escape")
        await settled(pilot)


def follows(app: AgentApp) -> bool:
    return app.parts.transcript.viewport.is_following


async def _wheel(app: AgentApp, kind: type[events.MouseEvent], y: int) -> None:
    await app.on_event(kind(None, 5, y, 0, 0, 0, False, False, False, 5, y))


@pytest.mark.parametrize("width", [80, 120])
async def test_details_have_half_of_the_row_or_what_they_need(width: int) -> None:
    items = [
        Item("/mcp", "m" * 100, hint="[enable|disable|reconnect <name>]" * 2),
        Item("/copy", "c" * 100),
    ]
    rows = [item.row.text for item in ListPanel("All", items).view(width).footer if item.row.text]
    assert [line.index("mm") if "mm" in line else line.index("cc") for line in rows[:2]] == [
        width // 2 - 1
    ] * 2
    assert "…" in rows[0][: width // 2]
    mixed = [Item("n" * 60, "ctrl+x"), Item("m" * 20, "d" * 100)]
    row = ListPanel("All", mixed).view(width).footer[1].row.text
    assert row.strip(" ❯") == "n" * 60 + "  ctrl+x"
