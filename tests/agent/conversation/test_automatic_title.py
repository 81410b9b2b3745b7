"""A session is named once, by the small model, and never in the place of a user's name."""

from __future__ import annotations

import asyncio

import pytest

from agent.abort import AbortSignal
from agent.conversation.automatic_title import MAX_CHARS, AutomaticTitle, title_in
from agent.messages import Message, text_block, user_message

MESSAGES = (
    user_message("Environment: Linux", origin="reminder"),
    user_message("The basket's total is wrong.", origin="person"),
    Message("assistant", (text_block("It ignores pieces."),), origin="model"),
)


class Model:
    """Answers when it is let to."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.prompts: list[str] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self, *, system: str, prompt: str, max_tokens: int, abort: AbortSignal) -> str:
        self.prompts.append(prompt)
        await self.may_answer.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Recorder:
    def __init__(self, *, is_titled: bool = False) -> None:
        self.is_titled = is_titled
        self.titles: list[str] = []

    async def title(self, title: str) -> None:
        self.titles.append(title)
        self.is_titled = True


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_first_prompt_and_its_answer_give_the_title_once() -> None:
    model, recorder = Model("Fix the basket's total\n"), Recorder()
    title = AutomaticTitle(model, recorder, lambda: True)
    title.after_prompt(MESSAGES)
    title.after_prompt(MESSAGES)
    await settled()
    assert recorder.titles == ["Fix the basket's total"]
    assert len(model.prompts) == 1
    assert "The basket's total is wrong." in model.prompts[0]
    assert "It ignores pieces." in model.prompts[0]
    assert "Environment" not in model.prompts[0]


@pytest.mark.parametrize(("is_wanted", "is_titled"), [(False, False), (True, True)])
async def test_where_it_is_not_wanted_or_there_is_one_nothing_is_asked(
    is_wanted: bool, is_titled: bool
) -> None:
    model = Model("A title")
    AutomaticTitle(model, Recorder(is_titled=is_titled), lambda: is_wanted).after_prompt(MESSAGES)
    await settled()
    assert model.prompts == []


async def test_a_name_that_the_user_gave_meanwhile_stays() -> None:
    model, recorder = Model("A title"), Recorder()
    model.may_answer.clear()
    title = AutomaticTitle(model, recorder, lambda: True)
    title.after_prompt(MESSAGES)
    await settled()
    await recorder.title("mine")
    model.may_answer.set()
    await settled()
    assert recorder.titles == ["mine"]


async def test_a_failure_leaves_no_title_and_no_error() -> None:
    recorder = Recorder()
    title = AutomaticTitle(Model(OSError("no network")), recorder, lambda: True)
    title.after_prompt(MESSAGES)
    await settled()
    await title.aclose()
    assert recorder.titles == []


async def test_the_end_of_the_program_does_not_wait_for_it() -> None:
    model, recorder = Model("A title"), Recorder()
    model.may_answer.clear()
    title = AutomaticTitle(model, recorder, lambda: True)
    title.after_prompt(MESSAGES)
    await settled()
    await title.aclose()
    assert recorder.titles == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Fix basket total", "Fix basket total"),
        ('  "Fix basket total."\nBecause …', "Fix basket total"),
        ("Title: **Tests für den Warenkorb**", "Tests für den Warenkorb"),
        ("\x1b]0;owned\x07Fix", "Fix"),
        ("x" * (MAX_CHARS + 1), ""),
        ("", ""),
    ],
)
def test_what_counts_as_a_title(answer: str, expected: str) -> None:
    assert title_in(answer) == expected
