"""A command that is none comes back to the prompt, unless something else is typed there by now."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from tests.tui.app.test_app_keys import settled
from tests.tui.recorded import RecordedConversation, center_for, make_app


async def test_what_was_typed_meanwhile_stays() -> None:
    conversation = RecordedConversation([])
    are_known = asyncio.Event()

    async def ready() -> None:
        await are_known.wait()

    conversation.commands = replace(center_for(conversation), ready=ready)
    app = make_app(conversation)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press(*"/hlep", "escape", "enter")
        await pilot.press(*"more")
        are_known.set()
        await settled(pilot)
        assert app.parts.composer.buffer.text == "more"
        await pilot.press("ctrl+u", *"/hlep", "escape", "enter")
        await settled(pilot)
        assert app.parts.composer.buffer.text == "/hlep"
