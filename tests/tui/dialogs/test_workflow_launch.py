"""The question before a workflow starts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.display import WorkflowDisplay
from permissions.decision import Behavior, Decision, DecisionSource, GrantChoice, Reason, ReasonType
from permissions.request import PermissionRequest
from tests.tui.recorded_workflows import audit_display
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import GrantOffer, PermissionAsk
from tui.text.highlight import Highlighter
from tui.text.safe_text import shown_display

SCRIPT = "export const meta = { name: 'audit', description: 'x' }\nreturn await agent('look')\n"
PLAN = audit_display(SCRIPT, SCRIPT, mode="acceptEdits")
PENDING = Decision(
    Behavior.ASK, DecisionSource.MODE, ReasonType.MODE, Reason.MODE_DEFAULT, "default mode asks"
)
OFFERS = tuple(
    GrantOffer(GrantChoice(("Workflow(audit@0123)",), place))
    for place in ("session", "localSettings")
)


def shown(plan: WorkflowDisplay, width: int = 80) -> list[str]:
    request = PermissionRequest("Workflow", {"script": plan.script})
    dialog = PermissionDialog(PermissionAsk(request, PENDING, plan, OFFERS), Highlighter())
    view = dialog.view(width)
    rows = [*view.body, *view.pinned_rows, *(one.row for one in view.footer)]
    assert all(len(line.text.rstrip()) <= width for line in rows)
    return ["".join(text for text, _ in view.title), *(line.text for line in rows)]


async def test_all_that_matters_is_on_one_low_screen() -> None:
    lines = shown(PLAN)
    text = "\n".join(lines)
    assert lines[0] == "Run this workflow? audit"
    for part in (
        "“Looks at every route”",
        "Phases  Find: one agent a route → Refute",
        "at most 1,000, 10 at once · 388 left in this session",
        "3 runs so far: $0.42, 12 agents each",
        "accept edits mode (acceptEdits); no agent may do more",
        ".agent/workflows/audit.js · as it last ran",
        "Workflow(audit@0123)",
    ):
        assert part in text
    assert len(lines) <= 22


async def test_a_changed_script_is_shown_as_what_changed() -> None:
    lines = shown(replace(PLAN, script=SCRIPT.replace("'look'", "'look twice'")))
    assert any("changed since it last ran" in line for line in lines)
    assert any("agent('look')" in line for line in lines)
    assert any("agent('look twice')" in line for line in lines)


async def test_subtasks_are_listed_and_verifiers_counted() -> None:
    tasks = tuple(f"look at {number}" for number in range(1, 41))
    plan = WorkflowDisplay(
        name="subtasks", subtasks=tasks, most_agents=80, at_once=10, agents_left=400, mode="plan"
    )
    lines = shown(plan)
    assert lines[0] == "Run these subtasks?"
    text = "\n".join(lines)
    assert "at most 80 (40, and as many to verify), 10 at once" in text
    assert " 1. look at 1" in text
    assert "and 20 more" in text
    assert "unknown, no workflow of this name has run yet" in text


@pytest.mark.parametrize("field", ["name", "description", "path", "script"])
def test_nothing_of_a_script_talks_to_the_terminal(field: str) -> None:
    hostile = shown_display(replace(PLAN, **{field: "a\x1b[2Jb\u202e"}))
    assert "\x1b" not in str(hostile)
    assert "\u202e" not in str(hostile)
