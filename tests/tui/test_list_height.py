"""Lists use the height that there is."""

from __future__ import annotations

import pytest

from tests.tui.recorded import make_app
from tests.tui.test_app_keys import played, settled, text_of
from tui.app import AgentApp
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
        lines = text_of(app.dialogs).split("\n")
        assert sum("item " in line for line in lines) == shown
        assert panel.shown_range == (1, shown, 100)
        await pilot.press("pagedown")
        assert panel.selected is not None
        assert panel.selected > shown
        await pilot.press("escape")
        await settled(pilot)


async def _show(app: AgentApp, panel: ListPanel) -> None:
    await app.show_dialog(panel)


@pytest.mark.parametrize(("height", "offers"), [(12, 3), (15, 5), (24, 6), (40, 10), (60, 12)])
async def test_the_menu_shows_more_offers_in_a_high_screen(height: int, offers: int) -> None:
    app = make_app(played([]))
    async with app.run_test(size=(80, height)) as pilot:
        await settled(pilot)
        await pilot.press("slash")
        await settled(pilot)
        assert len(text_of(app.menu).strip("\n").split("\n")) == offers
