"""The question dialog: one question, a form of several, its review, answers of one's own."""

from __future__ import annotations

from msgspec.structs import replace

from agent.tools.services import Question, QuestionOption
from tests.tui.dialogs.test_dialogs import QUESTIONS, drawn
from tui.dialogs.question import QuestionDialog
from tui.input.actions import Context
from tui.input.keymap import ChordReader, Match, default_keymap
from tui.text.highlight import Highlighter

PREVIEWS = Question(
    "Which layout?",
    "Layout",
    (
        QuestionOption("Rows", preview="```\n[a]\n[b]\n```"),
        QuestionOption("Columns", preview="[a] [b]"),
    ),
)


def form(*questions: Question) -> QuestionDialog:
    return QuestionDialog(questions or QUESTIONS, Highlighter())


def press(dialog: QuestionDialog, *keys: str) -> None:
    reader = ChordReader(default_keymap())
    for key in keys:
        meaning = reader.press(key, (Context.TABS, Context.CONFIRMATION))
        action_id = meaning.action_id if isinstance(meaning, Match) else None
        text = " " if key == "space" else key if len(key) == 1 else ""
        dialog.press(key, text, action_id)


async def test_the_first_question() -> None:
    assert drawn(form()) == FIRST


async def test_what_will_be_sent_is_looked_at_before_it_is() -> None:
    dialog = form()
    press(dialog, "down", "enter", "space", "down", "space")
    assert "☑ Docs" in drawn(dialog)
    press(dialog, "enter")
    assert drawn(dialog) == REVIEW
    assert not dialog.is_done
    press(dialog, "enter")
    assert await dialog.wait() == {"Which database?": "Postgres", "Which extras?": "Docs, Tests"}


async def test_an_answer_is_changed_from_the_review_and_comes_back_to_it() -> None:
    dialog = form()
    press(dialog, "2", "1", "enter", "left", "left")
    assert "   2. Postgres ✓" in drawn(dialog).replace("❯", " ")
    press(dialog, "1")
    assert "→ SQLite" in drawn(dialog)
    press(dialog, "enter")
    assert await dialog.wait() == {"Which database?": "SQLite", "Which extras?": "Docs"}


async def test_one_question_is_sent_with_its_answer() -> None:
    dialog = form(QUESTIONS[0])
    press(dialog, "3", *"Duck", "enter")
    assert await dialog.wait() == {"Which database?": "Duck"}
    dialog = form(QUESTIONS[1])
    press(dialog, "2", "enter")
    assert await dialog.wait() == {"Which extras?": "Tests"}


async def test_an_own_answer_comes_beside_the_marked_ones() -> None:
    dialog = form(QUESTIONS[1])
    press(dialog, "1", "3", *"Man pages", "up", "enter")
    assert await dialog.wait() == {"Which extras?": "Docs, Man pages"}


async def test_words_typed_on_the_own_answer_begin_it() -> None:
    dialog = form(QUESTIONS[0])
    press(dialog, "up", *"just y")
    assert "│ just y" in drawn(dialog)
    press(dialog, "enter")
    assert await dialog.wait() == {"Which database?": "just y"}


async def test_a_paste_on_the_own_answer_begins_it() -> None:
    dialog = form(QUESTIONS[0])
    press(dialog, "up")
    dialog.paste("DuckDB")
    press(dialog, "enter")
    assert await dialog.wait() == {"Which database?": "DuckDB"}


async def test_an_empty_own_answer_is_none() -> None:
    for question in QUESTIONS:
        dialog = form(question)
        press(dialog, "3", "enter")
        assert not dialog.is_done


async def test_a_form_is_sent_with_questions_left_out_when_the_user_confirms() -> None:
    dialog = form()
    press(dialog, "1", "right")
    assert "not answered" in drawn(dialog)
    press(dialog, "1")
    assert await dialog.wait() == {"Which database?": "SQLite"}


async def test_what_is_marked_or_written_counts_also_after_going_on_by_arrow() -> None:
    dialog = form()
    press(dialog, "3", *"Duck", "tab", "right", "1", "2", "right")
    assert "→ Duck" in drawn(dialog)
    assert "→ Docs, Tests" in drawn(dialog)
    press(dialog, "left", "1", "right", "1")
    assert await dialog.wait() == {"Which database?": "Duck", "Which extras?": "Tests"}


async def test_escape_declines_and_goes_back_from_the_review_and_out_of_the_field() -> None:
    dialog = form()
    press(dialog, "1", "1", "enter", "escape")
    assert not dialog.is_done
    assert "Which extras?" in drawn(dialog)
    press(dialog, "3", "escape")
    assert not dialog.is_done
    press(dialog, "escape")
    assert await dialog.wait() is None


async def test_the_review_declines_as_well() -> None:
    dialog = form()
    press(dialog, "tab", "tab", "2")
    assert await dialog.wait() is None


async def test_the_selected_answer_shows_what_it_looks_like() -> None:
    dialog = form(PREVIEWS)
    assert "[b]" in [line.strip(" │") for line in drawn(dialog).splitlines()]
    press(dialog, "down")
    assert "│ [a] [b]" in drawn(dialog)


async def test_long_answers_are_wrapped_and_lose_nothing() -> None:
    words = " ".join(f"word{n}" for n in range(40))
    long = replace(QUESTIONS[0], question=words, options=(QuestionOption(words, words),) * 2)
    shown = drawn(form(long), 50)
    assert max(len(line) for line in shown.splitlines()) <= 50
    assert " ".join(shown.split()).count("word39") == 5


async def test_descriptions_stand_in_a_column_of_their_own() -> None:
    options = (
        QuestionOption("SQLite", "one file"),
        QuestionOption("PostgreSQL", "a server for several writers that takes more work to set up"),
    )
    rows = drawn(form(Question("Which database?", "Database", options)), 50).splitlines()
    at = next(n for n, row in enumerate(rows) if "SQLite" in row)
    assert rows[at : at + 3] == [
        " ❯ 1. SQLite      one file",
        "   2. PostgreSQL  a server for several writers",
        "                  that takes more work to set up",
    ]


FIRST = """\
[Question 1 of 2]
   · Database   · Extras   Review

   Which database?
--

 ❯ 1. SQLite  one file
   2. Postgres
   3. Other

   ↑↓ select · enter choose · ←→ questions · esc decline"""

REVIEW = """\
[Review your answers]
   ✓ Database   ✓ Extras   Review

   Which database?
   → Postgres
   Which extras?
   → Docs, Tests
--

 ❯ 1. Submit answers
   2. Decline to answer

   ↑↓ select · enter confirm · ← change an answer · esc back"""
