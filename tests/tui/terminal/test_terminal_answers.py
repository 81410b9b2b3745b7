"""What the terminal says of its background, from its bytes to the colors on the screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.settings.load import load_settings
from tests.tui.app.test_app_keys import settled
from tests.tui.recorded import RecordedConversation, center_for, make_app
from tui.app.activity_line import FRAME_S
from tui.app.bottom_lines import STILL_S
from tui.input.driver import _Reader
from tui.input.terminal_reply import TerminalReply

WHITE = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"
BLACK = "\x1b]11;rgb:0000/0000/0000\x07"


def test_answers_that_someone_waits_for_are_messages_and_no_keys() -> None:
    reader = _Reader(debug=False)
    messages = [
        message
        for data in (WHITE, "\x1b[?997;2n", "\x1b]10;rgb:0/0/0\x07", "\x1b[>41;354;0c")
        for message in reader.feed(data.encode())
    ]
    assert [m.text for m in messages if isinstance(m, TerminalReply)] == [WHITE, "\x1b[?997;2n"]
    assert len(messages) == 2


async def test_the_screen_turns_light_and_dark_with_the_terminal() -> None:
    app = make_app()
    app.parts.appearance.themes.theme_name = "auto"
    async with app.run_test(size=(70, 24)) as pilot:
        await settled(pilot)
        app.post_message(TerminalReply(WHITE))
        await pilot.pause()
        assert (app.parts.appearance.theme.name, app.palette.theme.name) == ("light", "light")
        app.post_message(TerminalReply(BLACK))
        await pilot.pause()
        assert app.parts.appearance.theme.name == "dark"


async def test_a_chosen_theme_stays() -> None:
    app = make_app(theme="high-contrast")
    async with app.run_test(size=(70, 24)) as pilot:
        await settled(pilot)
        app.post_message(TerminalReply(WHITE))
        await pilot.pause()
        assert app.parts.appearance.theme.name == "high-contrast"


@pytest.mark.parametrize("key", ["reducedMotion", "prefersReducedMotion"])
@pytest.mark.parametrize("is_still", [True, False])
async def test_who_wants_nothing_to_move_sees_the_seconds_alone(
    tmp_path: Path, key: str, is_still: bool
) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "settings.json").write_text(json.dumps({key: is_still}))
    conversation = RecordedConversation([])
    settings = load_settings(launch_dir=tmp_path, home=tmp_path, agent_home=tmp_path / ".agent")
    command_service = center_for(conversation)
    conversation.commands = replace(
        command_service, context=replace(command_service.context, settings=lambda: settings)
    )
    app = make_app(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await settled(pilot)
        app.parts.document.add_prompt("go", at_s=0.0)
        app.parts.lines.show()
        spinner = app.parts.lines._spinner
        assert spinner is not None
        assert spinner._interval == (STILL_S if is_still else FRAME_S)
        before = app.parts.activity.view.frame
        app.parts.lines.turn()
        assert (app.parts.activity.view.frame == before) is is_still
