"""The network dialog: what it shows, what each key answers, what it offers to store."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_gate import HostAnswer, HostRequest
from tests.tui.app.test_app_keys import settled, text_of
from tests.tui.dialogs.test_dialogs import drawn, press
from tests.tui.recorded import RecordedConversation, make_app
from tui.dialogs.sandbox.network import NetworkDialog

REQUEST = HostRequest("registry.example", 443, NetworkCall("toolu_1", "npm install"), None)
SHOWN = """\
[Network registry.example:443]
   npm install
   wants to reach registry.example:443.

   It can send anything that it can read; what it sends is
   not inspected.
--

   Let it reach registry.example:443?
 ❯ 1. Yes, for this session
   2. Yes, always in this project
      WebFetch(domain:registry.example)
      .agent/settings.local.json
   3. No
   4. No, and tell it why
   ↑↓ select · enter confirm · tab no, with a comment · esc reject"""


async def test_what_is_shown() -> None:
    assert drawn(NetworkDialog(REQUEST)) == SHOWN


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("y",), HostAnswer(True)),
        (("enter",), HostAnswer(True)),
        (("1",), HostAnswer(True)),
        (("2",), HostAnswer(True, always=True)),
        (("down", "enter"), HostAnswer(True, always=True)),
        (("3",), HostAnswer(False)),
        (("n",), HostAnswer(False)),
        (("escape",), HostAnswer(False)),
        (("4", "enter", "b", "a", "d", "enter"), HostAnswer(False, "bad")),
        (("tab", "1", "y", "enter"), HostAnswer(False, "1y")),
        (("tab", "x", "escape", "escape"), HostAnswer(False)),
        (("tab", "x", "up", "enter"), HostAnswer(False)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
async def test_keys(keys: tuple[str, ...], answer: HostAnswer) -> None:
    dialog = NetworkDialog(REQUEST)
    press(dialog, *keys)
    assert await dialog.wait() == answer


async def test_a_stray_key_answers_nothing() -> None:
    dialog = NetworkDialog(REQUEST)
    press(dialog, "x", "5", "0")
    dialog.paste("yes")
    assert not dialog.is_done
    assert dialog.ignored_keys == 4


async def test_a_click_selects_and_a_second_one_decides() -> None:
    dialog = NetworkDialog(REQUEST)
    dialog.choose(1)
    assert not dialog.is_done
    dialog.choose(1)
    assert await dialog.wait() == HostAnswer(True, always=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"port": 8443}, ""),
        ({"host": "10.0.0.1", "kind": "private"}, "inside your own network"),
        ({"host": "localhost", "kind": "loopback"}, "your own machine"),
        ({"host": "2001:db8::1"}, "[2001:db8::1]:443"),
    ],
    ids=["port", "private", "loopback", "ipv6"],
)
async def test_always_is_offered_for_usual_ports_of_public_hosts(
    change: dict[str, object], words: str
) -> None:
    dialog = NetworkDialog(replace(REQUEST, **change))
    text = drawn(dialog)
    assert "always" not in text
    assert words in text
    press(dialog, "2")
    assert await dialog.wait() == HostAnswer(False)


async def test_a_command_is_shown_as_it_is_and_not_at_length() -> None:
    command = "curl \u202ehttps://x\x1b[8m " + "a " * 400
    text = drawn(NetworkDialog(replace(REQUEST, call=NetworkCall("1", command))))
    assert "curl U+202Ehttps://x\\x1b[8m" in text
    assert text.index("…") < text.index("wants to reach")
    assert len(text.splitlines()) < 24
    unknown = drawn(NetworkDialog(replace(REQUEST, call=NetworkCall(""))))
    assert "A command in the sandbox wants to reach" in unknown


async def test_on_the_screen_early_keys_go_to_the_prompt_and_it_closes_with_the_wait() -> None:
    conversation = RecordedConversation([])
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert conversation.ports is not None
        asked = asyncio.ensure_future(conversation.ports.user.decide_host(REQUEST))
        await settled(pilot)
        now = [0.0]
        app.parts.dialogs._guard._clock = lambda: now[0]
        app.parts.dialogs._guard.arm()
        assert "Let it reach registry.example:443?" in text_of(app.parts.dialogs)
        await pilot.press("y")
        assert not asked.done()
        now[0] = 10.0
        await pilot.press("4", "b", "a", "d")
        assert app.parts.composer.buffer.text == "y"
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        await settled(pilot)
        assert app.parts.dialogs.current is None
        assert app.parts.composer.buffer.text == "ybad"
