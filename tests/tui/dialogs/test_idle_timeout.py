"""Questions go on with what was chosen when the user is away, and wait while they are not."""

from __future__ import annotations

import asyncio

from agent.tools.services import PartialAnswers
from tests.tui.dialogs.test_question import form, press
from tests.tui.recorded import RecordedConversation
from tui.dialogs.idle_timeout import limit_of, wait_with_idle_limit


async def test_what_was_chosen_is_sent_when_no_one_does_anything() -> None:
    dialog = form()
    dialog.view(80)
    press(dialog, "2", "1")
    async with asyncio.timeout(20):
        answers = await wait_with_idle_limit(dialog, dialog.wait(), 0.01)
    assert isinstance(answers, PartialAnswers)
    assert answers == {"Which database?": "Postgres", "Which extras?": "Docs"}


async def test_a_key_begins_the_time_anew() -> None:
    dialog = form()
    dialog.view(80)
    before = dialog.touched_s
    press(dialog, "down")
    assert dialog.touched_s > before
    before = dialog.touched_s
    dialog.paste("x")
    assert dialog.touched_s > before


async def test_time_begins_when_the_question_is_seen() -> None:
    behind_another = form()
    before = behind_another.touched_s
    assert behind_another.touched_s > before
    behind_another.view(80)
    seen = behind_another.touched_s
    behind_another.view(80)
    assert behind_another.touched_s == seen


async def test_an_answer_in_time_is_a_whole_one() -> None:
    dialog = form()
    press(dialog, "1", "1", "enter", "enter")
    answers = await wait_with_idle_limit(dialog, dialog.wait(), 300.0)
    assert not isinstance(answers, PartialAnswers)
    assert answers == {"Which database?": "SQLite", "Which extras?": "Docs"}


def test_without_the_setting_questions_wait_for_ever() -> None:
    command_service = RecordedConversation([]).commands
    assert command_service is not None
    assert limit_of(command_service) is None
    assert limit_of(None) is None
