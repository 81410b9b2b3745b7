"""The offer to undo what was changed without a question: in the status line, for a moment."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.display import DiffDisplay
from agent.events import PermissionResolved, ToolResult
from permissions.decision import Decision, DecisionSource
from tests.tui.app.test_app_keys import (
    T,
    keys,
    played,
    send,
    settled,
    text_of,
    transcript_of,
    until,
)
from tests.tui.dialogs.test_dialogs import BASH, PENDING, disarm
from tests.tui.recorded import Step, ask, make_app
from tests.tui.transcript.samples import DENIED

ALLOWED = replace(DENIED, behavior="allow", source=DecisionSource.MODE)


def change(name: str, use_id: str, decision: Decision = ALLOWED, **changes: object) -> list[Step]:
    display = DiffDisplay(f"src/{name}", "a\n", "b\n")
    result = ToolResult(T, use_id, "Edit", "", False, 0.1, "ok", f"Edit {name}", display)
    return [
        PermissionResolved(T, f"r-{use_id}", use_id, decision),
        replace(result, **changes),
    ]


async def test_a_change_that_was_not_asked_about_can_be_undone_with_a_key() -> None:
    conversation = played(change("basket.py", "u1"))
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await settled(pilot)
        assert "1 file · +1 −1" in transcript_of(app)
        height = app.parts.status_line.size.height
        assert "basket.py changed · ctrl+x u to undo" in text_of(app.parts.status_line)
        # Whatever is typed meanwhile goes where it always goes.
        await pilot.press(*keys("undo"))
        assert app.parts.composer.buffer.text == "undo"
        assert app.parts.status_line.size.height == height
        await pilot.press("ctrl+x", "u")
        await settled(pilot)
        assert conversation.undone == [("u1",)]
        assert app.parts.composer.buffer.text == "undo"
        assert "changed ·" not in text_of(app.parts.status_line)
        assert "Undone: basket.py · the model is informed" in transcript_of(app)
        assert "1 file" not in transcript_of(app)
        await pilot.press("ctrl+x", "u")
        assert "no file change to undo" in text_of(app.parts.status_line)
        assert conversation.undone == [("u1",)]


async def test_several_changes_are_one_offer() -> None:
    files = ("one.py", "two.py", "one.py", "three.py")
    steps = [step for n, name in enumerate(files) for step in change(name, f"u{n}")]
    conversation = played(steps)
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await settled(pilot)
        assert "3 files changed · ctrl+x u to undo" in text_of(app.parts.status_line)
        await pilot.press("ctrl+x", "u")
        await settled(pilot)
    assert conversation.undone == [("u0", "u1", "u2", "u3")]


@pytest.mark.parametrize(
    "steps",
    [
        change("a.py", "u1", replace(ALLOWED, source=DecisionSource.USER)),
        change("a.py", "u1", outcome="failed"),
        change("a.py", "u1", agent_id="agent-1"),
        change("a.py", "u1", display=None),
    ],
    ids=["approved", "failed", "of an agent", "no change"],
)
async def test_nothing_else_is_offered(steps: list[Step]) -> None:
    conversation = played(steps)
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await settled(pilot)
        assert "to undo" not in text_of(app.parts.status_line)
        await pilot.press("ctrl+x", "u")
        await settled(pilot)
    assert conversation.undone == []


async def test_the_offer_ends_after_a_moment_and_beside_a_dialog() -> None:
    now_s = 100.0
    conversation = played([*change("a.py", "u1"), ask(BASH, PENDING)])
    app = make_app(conversation, clock=lambda: now_s)
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await settled(pilot)
        assert app.parts.dialogs.open_count
        assert "to undo" not in text_of(app.parts.status_line)
        disarm(app)
        await pilot.press("escape")
        await until(pilot, lambda: not app.parts.dialogs.open_count)
        now_s = 105.5
        await pilot.press("ctrl+x", "u")
        assert "no file change to undo" in text_of(app.parts.status_line)
    assert conversation.undone == []
