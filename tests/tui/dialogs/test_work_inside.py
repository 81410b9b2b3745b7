"""The offer to work inside the sandbox: where it is made, and what each answer stores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.request import PermissionRequest
from tests.tui.app.test_app_keys import send, settled, text_of
from tests.tui.dialogs.test_dialogs import disarm
from tests.tui.recorded import RecordedConversation, ask, center_for, make_app

PENDING = Decision(
    Behavior.ASK, DecisionSource.MODE, ReasonType.MODE, Reason.MODE_DEFAULT, "default mode asks"
)


def asked_in(tmp_path: Path, tool: str = "Bash") -> RecordedConversation:
    """A conversation that asks about two calls; its settings are in a directory."""
    request = PermissionRequest(tool, {"command": "make", "file_path": "a"}, "1", "t1")
    steps = [ask(request, PENDING), ask(request, PENDING)]
    conversation = RecordedConversation([steps], launch_dir=tmp_path, cwd=tmp_path)
    conversation.commands = center_for(conversation, tmp_path)
    return conversation


@pytest.mark.parametrize(("key", "stored"), [("1", True), ("2", False), ("3", None)])
async def test_the_answer_is_stored_and_the_question_stays(
    key: str, stored: bool | None, tmp_path: Path
) -> None:
    conversation = asked_in(tmp_path)
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        assert "s. Run commands without asking inside the sandbox" in text_of(app.parts.dialogs)
        disarm(app)
        await pilot.press("s")
        await settled(pilot)
        text = text_of(app.parts.dialogs)
        assert "reach only hosts you allow" in text
        assert "3. Not now" in text
        disarm(app)
        await pilot.press(key)
        await settled(pilot)
        assert conversation.answers == []
        disarm(app)
        await pilot.press("1")
        await settled(pilot)
        assert conversation.answers[0] is not None
        assert conversation.answers[0].behavior is Behavior.ALLOW
        if stored is None:
            assert "s. Run commands" not in text_of(app.parts.dialogs)
    file = tmp_path / ".agent" / "settings.json"
    found = json.loads(file.read_text())["sandbox"]["enabled"] if file.exists() else None
    assert found is stored


async def test_other_tools_make_no_offer(tmp_path: Path) -> None:
    app = make_app(asked_in(tmp_path, "WebFetch"))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        assert "s. Run commands" not in text_of(app.parts.dialogs)
