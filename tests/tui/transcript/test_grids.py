"""What every component looks like in every state, as a text grid."""

from __future__ import annotations

import pytest

from tests.tui.transcript.samples import ACTIVITIES, BLOCKS, STATUSES
from tui.app.activity_line import ActivityView, activity_rows
from tui.status_line.status_widget import status_row
from tui.text.highlight import Highlighter
from tui.text.styled_rows import plain
from tui.text.wrap import runs_width
from tui.transcript.block_rows import block_rows
from tui.transcript.blocks import Activity, RetryCountdown, ToolCard

GRIDS = {
    "person": """\
 ❯ Fix the failing test, and mind 漢字 and 🎉
   in slugs""",
    "person_shell": """\
 ! git status""",
    "person_command": """\
 / compact the tests""",
    "thinking": """\
 ✻ Thinking…  Then that.""",
    "thought": """\
 ✻ Thought  First this.""",
    "tool_writing": """\
 ○ Bash …""",
    "tool_running": """\
 ● Bash pytest -q""",
    "tool_running_output": """\
 ● Bash pytest -q
 └ … 107 earlier lines (ctrl+o)
   line 8
   line 9
   line 10
   line 11
   line 12""",
    "tool_progress_bar": """\
 ● Bash pytest -q
 └ 100%""",
    "tool_asking": """\
 ● Bash pytest -q
 └ waiting for your answer""",
    "tool_ok": """\
 ● Bash pytest -q                       2.4 s
 └ line 1
   line 2
   line 3
   line 4
   … 8 more lines (ctrl+o)""",
    "tool_ok_command": """\
 ● Bash pytest -q
 └ … 8 earlier lines (ctrl+o)
   line 9
   line 10
   line 11
   line 12""",
    "tool_ok_silent": """\
 ● Bash pytest -q
 └ no output""",
    "tool_background": """\
 ● Bash pytest -q
 └ moved to the background (b1)""",
    "tool_failed": """\
 ✗ Bash pytest -q                    1 m 15 s
 └ E  assert 1 == 2""",
    "tool_denied": """\
 ⊘ Bash pytest -q
 └ Denied by you “use uv”""",
    "tool_outside": """\
 ⊘ Bash pytest -q
 └ Blocked: writes /x, outside the working
   directories. Allow a folder with /add-dir.""",
    "tool_allowed_with_a_word": """\
 ● Bash pytest -q
 ❯ use uv
 └ done""",
    "tool_interrupted": """\
 ■ Bash pytest -q
 └ half
   Interrupted""",
    "tool_invalid": """\
 ✗ Bash pytest -q
 └ command: Field required""",
    "tool_counted": """\
 ● Read src/a.py:10-40  12 lines""",
    "tool_diff": """\
 ● Edit src/slug.py                     +3 −1
   1   def slug(text):
   2 -     text = text.lower()
   2 +     text = normalise(text).lower()
   3       return text
   4 +
   5 + # 漢字 🎉""",
    "tool_todos": """\
 ● Tasks 1/3 · Fixing slug""",
    "tool_plan": """\
 ● Plan
 └ Do it.""",
    "tool_plan_long": """\
 ● Plan
 └ Plan

   1. Change slug
   2. Test it
   … 3 more lines (ctrl+o)""",
    "tool_text": """\
 ● WebFetch example.com
 └ A page.""",
    "tool_mcp": """\
 ● github: get_issue 12
 └ Title: 漢字""",
    "tool_agent": """\
 ● Agent find callers
 └ 3 tool calls · Grep slug(""",
    "tool_agent_done": """\
 ● Agent find callers
 └ 3 tool calls
   Two callers.""",
    "notice": """\
 · Two settings files were read.""",
    "warning": """\
 ! A rule could not be understood.""",
    "hook_failed": """\
 ↳ Stop hook 'x' (user): exit status 1""",
    "hook": """\
 ↳ PostToolUse hook  success
   formatted 2 files""",
    "error": """\
 ✗ The key was refused. Set
   ANTHROPIC_API_KEY.
   request req_12""",
    "compaction": """\
  ─ compacted · 150k → 12.3k tokens ────────""",
    "interrupted": """\
 ■ Interrupted""",
    "max_turns": """\
 ■ Stopped at the turn limit; type
   “continue”: 200 turns""",
}

DETAILED = {
    "thought": """\
 ✻ Thought
   First this.
   Then that.""",
    "tool_ok": """\
 ● Bash pytest -q
 └ line 1
   line 2
   line 3
   line 4
   line 5
   line 6
   line 7
   line 8
   line 9
   line 10
   line 11
   line 12""",
    "tool_diff": """\
 ● Edit src/slug.py
   1   def slug(text):
   2 -     text = text.lower()
   2 +     text = normalise(text).lower()
   3       return text
   4 +
   5 + # 漢字 🎉""",
    "compaction": """\
  ─ compacted · 150k → 12.3k tokens ────────

   We fixed slugs.""",
}

NARROW = {
    "person": """\
 ❯ Fix the failing
   test, and mind
   漢字 and 🎉 in
   slugs""",
    "tool_diff": """\
 ● Edit src/… +3 −1
   1   def slug(tex
     ↪ t):
   2 -     text = t
     ↪ ext.lower()
   2 +     text = n
     ↪ ormalise(tex
     ↪ t).lower()
   3       return t
     ↪ ext
   4 +
   5 + # 漢字 🎉""",
    "tool_failed": """\
 ✗ Bash p… 1 m 15 s
 └ E  assert 1 == 2""",
    "tool_agent": """\
 ● Agent find call…
 └ 3 tool calls · …""",
    "error": """\
 ✗ The key was
   refused. Set ANT
   HROPIC_API_KEY.
   request req_12""",
}

STATUS_LINES = {
    ("start", 90): """\
 ⏸ default mode                                                                   ~/slugs""",
    ("start", 60): """\
 ⏸ default mode                                     ~/slugs""",
    ("start", 20): """\
 ⏸ default  ~/slugs""",
    ("working", 90): """\
 ⏵⏵ accept edits on          ~/slugs ⎇ main · $0.04 · ▂ 48.2k tokens, 24% · sonnet-5 high""",
    ("working", 60): """\
 ⏵⏵ accept edits on     ▂ 48.2k tokens, 24% · sonnet-5 high""",
    ("working", 20): """\
 ⏵⏵ edits""",
    ("demo", 90): """\
 ⏸ default mode                              demo: scripted model · ~/slugs ⎇ main · demo""",
    ("demo", 60): """\
 ⏸ default mode                 demo: scripted model · demo""",
    ("demo", 20): """\
 ⏸ default     demo""",
    ("nearly_full", 90): """\
 ⏸ plan mode on                          ~/slugs · $12.50 · █ 190k tokens, 95% · sonnet-5""",
    ("nearly_full", 60): """\
 ⏸ plan mode on      $12.50 · █ 190k tokens, 95% · sonnet-5""",
    ("nearly_full", 20): """\
 ⏸ plan    sonnet-5""",
    ("hint", 90): """\
 ⏵⏵ bypass permissions on  press ctrl+c again to quit""",
    ("hint", 60): """\
 ⏵⏵ bypass permissions on  press ctrl+c again to quit""",
    ("hint", 20): """\
 ⏵⏵ bypass  press c…""",
}

ACTIVITY_LINES = {
    "idle": """\
""",
    "writing": """\

 ⠸ Writing… 1 m 15 s · ↓ 1.2k tokens · esc to interrupt
 › do more
 › and this
 › x
   1 more · queued · ↑ to edit""",
    "asking": """\

 ⠸ Waiting for you… 1 m 15 s · esc to interrupt""",
    "hooks": """\

 ⠸ Formatting… 1 m 15 s · esc to interrupt""",
    "retrying": """\

 ⠸ overloaded · retry 1 of 10 in 11 s · esc to stop""",
}


def grid(name: str, width: int, *, is_detailed: bool = False) -> str:
    return plain(
        block_rows(BLOCKS[name], width, is_detailed=is_detailed, highlighter=Highlighter())
    )


def test_every_block_has_a_grid() -> None:
    assert set(GRIDS) == set(BLOCKS)


@pytest.mark.parametrize("name", GRIDS)
def test_block(name: str) -> None:
    assert grid(name, 46) == GRIDS[name]


@pytest.mark.parametrize("name", DETAILED)
def test_block_in_detail(name: str) -> None:
    assert grid(name, 46, is_detailed=True) == DETAILED[name]


@pytest.mark.parametrize("name", NARROW)
def test_block_on_a_narrow_screen(name: str) -> None:
    assert grid(name, 20) == NARROW[name]


@pytest.mark.parametrize("width", [20, 33, 80])
@pytest.mark.parametrize("name", BLOCKS)
def test_no_row_is_wider_than_the_screen(name: str, width: int) -> None:
    for is_detailed in (False, True):
        rows = block_rows(BLOCKS[name], width, is_detailed=is_detailed, highlighter=Highlighter())
        assert [line.text for line in rows if runs_width(line.runs) > width] == []


@pytest.mark.parametrize(("name", "width"), STATUS_LINES)
def test_status_line(name: str, width: int) -> None:
    line = status_row(STATUSES[name], width)
    assert line.text.rstrip() == STATUS_LINES[name, width]
    assert runs_width(line.runs) <= width


@pytest.mark.parametrize("name", ACTIVITY_LINES)
def test_activity_line(name: str) -> None:
    queued = ("do more", "and  this", "x", "y") if name == "writing" else ()
    rows = activity_rows(ActivityView(ACTIVITIES[name], 85.0, 3, queued), 60)
    assert plain(rows) == ACTIVITY_LINES[name]


LIMIT = "Too many requests (HTTP 429): 40,000 input tokens per minute are used up"


@pytest.mark.parametrize(
    ("reason", "has_room", "lines"),
    [
        (
            LIMIT,
            True,
            """\

 ⠸ Too many requests (HTTP 429): 40,000 input tokens per
   minute are used up
   retry 1 of 10 in 11 s · esc to stop""",
        ),
        (
            "The proxy answered: " + "no route to the host " * 12,
            True,
            """\

 ⠸ The proxy answered: no route to the host no route to the
   host no route to the host no route to the host no route
   to the host no route to the host no route to the host n…
   retry 1 of 10 in 11 s · esc to stop""",
        ),
        (LIMIT, False, " ⠸ Too many requests… · retry 1 of 10 in 11 s · esc to stop"),
    ],
    ids=["wrapped", "long", "low window"],
)
def test_a_long_reason_to_try_again_is_readable(reason: str, has_room: bool, lines: str) -> None:
    retry = RetryCountdown(2, 10, 96.0, reason)
    view = ActivityView(Activity("retrying", 10.0, 0, "", retry), 85.0, 3, ())
    assert plain(activity_rows(view, 60, has_room=has_room)) == lines


def test_why_a_call_failed_breaks_between_words() -> None:
    card = ToolCard("c", "Edit", "Edit a.py", "invalid", {}, 0.0, result="the text was not found")
    rows = block_rows(card, 20, is_detailed=False, highlighter=Highlighter())
    assert plain(rows) == " ✗ Edit a.py\n └ the text was not\n   found"
