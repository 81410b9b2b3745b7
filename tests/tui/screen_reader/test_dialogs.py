"""Questions in lines: which typed line answers which question, and what ends one."""

from __future__ import annotations

import asyncio
import io
import os
import threading
from collections.abc import Iterator

import pytest

from permissions.decision import Behavior
from tests.tui.dialogs.test_dialogs import QUESTIONS, permission
from tui.dialogs.question import QuestionDialog
from tui.panels.list_panel import Item, ListPanel
from tui.screen_reader.dialogs import LineDialogs
from tui.screen_reader.line_input import LineReader
from tui.screen_reader.line_output import LineOutput
from tui.text.highlight import Highlighter


class Said(io.StringIO):
    """What was said; tells whoever waits for more."""

    def __init__(self) -> None:
        super().__init__()
        self.news = asyncio.Event()

    def write(self, text: str) -> int:
        self.news.set()
        return super().write(text)

    async def until(self, text: str, *, times: int = 1) -> None:
        async with asyncio.timeout(20):
            while self.getvalue().count(text) < times:
                self.news.clear()
                await self.news.wait()


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A descriptor; what is written there was typed."""
    read_end, write_end = os.pipe()
    with open(read_end, encoding="utf-8") as typed:
        monkeypatch.setattr("sys.stdin", typed)
        yield write_end
        os.close(write_end)


async def test_a_line_begun_for_another_question_answers_none(keyboard: int) -> None:
    out = Said()
    dialogs = LineDialogs(LineOutput(out, has_marks=False), LineReader(), lambda _lines: None)
    lost = asyncio.ensure_future(dialogs.ask(permission()))
    await out.until("Run this command?")
    lost.cancel()
    await asyncio.wait({lost})
    open_one = permission()
    asked = asyncio.ensure_future(dialogs.ask(open_one))
    await out.until("Run this command?", times=2)
    os.write(keyboard, b"1\n")
    await out.until("started before this question")
    assert not open_one.is_done
    os.write(keyboard, b"3\n")
    async with asyncio.timeout(20):
        assert (await asked).behavior is Behavior.DENY


async def test_a_question_that_cannot_be_asked_ends(keyboard: int) -> None:
    out = io.StringIO()
    dialogs = LineDialogs(LineOutput(out, has_marks=False), LineReader(), lambda _lines: None)
    out.close()
    async with asyncio.timeout(20):
        with pytest.raises(ValueError, match="closed file"):
            await dialogs.ask(permission())


def test_what_a_terminal_cannot_show_is_spelled_out() -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    LineOutput(out, has_marks=False).write(["caf\u00e9 \u2713"])
    out.seek(0)
    assert out.read() == "caf\u00e9 \\u2713\n"


async def test_what_comes_later_to_a_list_is_reported_and_can_be_chosen(keyboard: int) -> None:
    out = Said()
    dialogs = LineDialogs(LineOutput(out, has_marks=False), LineReader(), lambda _lines: None)
    panel = ListPanel("Model", [Item("one")])
    asked = asyncio.ensure_future(dialogs.ask(panel))
    await out.until("1. one")
    panel.extend([Item("two")])
    await out.until("2. two")
    assert out.getvalue().count("1. one") == 1
    os.write(keyboard, b"2\n")
    async with asyncio.timeout(20):
        picked = await asked
    assert picked is not None
    assert picked.index == 1


async def test_the_end_of_the_input_closes_a_list_that_is_searched(keyboard: int) -> None:
    out, reader = Said(), LineReader()
    panel = ListPanel("Numbers", [Item(f"item {n}") for n in range(12)])
    dialogs = LineDialogs(LineOutput(out, has_marks=False), reader, lambda _lines: None)
    asked = asyncio.ensure_future(dialogs.ask(panel))
    await out.until("1 to 10 of 12.")
    os.write(keyboard, b"item 7\n")
    await out.until("item 7 (selected)")
    reader.end_input()
    async with asyncio.timeout(20):
        assert await asked is None
        assert await reader.line("") is None
        # The thread that reads must not outlive what it reads from.
        os.write(keyboard, b"\n")
        for thread in threading.enumerate():
            if thread.name == "typed-line":
                await asyncio.to_thread(thread.join)


async def test_a_line_that_changes_nothing_is_answered(keyboard: int) -> None:
    out = Said()
    panel = ListPanel("Numbers", [Item(f"item {n}") for n in range(12)])
    dialogs = LineDialogs(LineOutput(out, has_marks=False), LineReader(), lambda _lines: None)
    asked = asyncio.ensure_future(dialogs.ask(panel))
    await out.until("1 to 10 of 12.")
    os.write(keyboard, b"last\n")
    await out.until("3 to 12 of 12.")
    os.write(keyboard, b"more\n")
    await out.until("3 to 12 of 12.", times=2)
    os.write(keyboard, b"esc\n")
    async with asyncio.timeout(20):
        assert await asked is None


async def test_another_question_is_read_whole_though_lines_of_it_were_heard(keyboard: int) -> None:
    out = Said()
    dialogs = LineDialogs(LineOutput(out, has_marks=False), LineReader(), lambda _lines: None)
    asked = asyncio.ensure_future(dialogs.ask(QuestionDialog(QUESTIONS, Highlighter())))
    await out.until("Which database?")
    for line, heard in ((b"1\n", "Which extras?"), (b"1\n", "1. marked, Docs")):
        os.write(keyboard, line)
        await out.until(heard)
    os.write(keyboard, b"enter\n")
    await out.until("Review your answers:")
    review = out.getvalue().partition("Review your answers:")[2]
    assert [line for line in review.splitlines() if line][1:5] == [
        "Which database?",
        "→ SQLite",
        "Which extras?",
        "→ Docs",
    ]
    os.write(keyboard, b"1\n")
    async with asyncio.timeout(20):
        await asked


async def test_why_it_asks_is_read_without_the_question_again(keyboard: int) -> None:
    out = Said()
    dialogs = LineDialogs(LineOutput(out, has_marks=False), LineReader(), lambda _lines: None)
    asked = asyncio.ensure_future(dialogs.ask(permission()))
    await out.until("Run this command?")
    os.write(keyboard, b"why\n")
    await out.until("(» = deciding step)")
    os.write(keyboard, b"3\n")
    async with asyncio.timeout(20):
        assert (await asked).behavior is Behavior.DENY
    assert out.getvalue().count("Run this command?") == 1
    assert out.getvalue().count("pytest -q && git push") == 1


async def test_what_is_reported_after_someone_else_answered_begins_a_line(keyboard: int) -> None:
    out = Said()
    output = LineOutput(out, has_marks=False)
    reader = LineReader()
    asked = asyncio.ensure_future(
        LineDialogs(output, reader, lambda _lines: None).ask(permission())
    )
    await out.until("Run this command?")
    asked.cancel()
    await asyncio.wait({asked})
    output.write(["permission: allowed by hook"])
    assert "\npermission: allowed by hook\n" in out.getvalue()
    os.write(keyboard, b"\n")
    async with asyncio.timeout(20):
        assert await reader.line("") == ""


def test_lines_break_at_spaces_where_the_terminal_would_break_words() -> None:
    out = io.StringIO()
    output = LineOutput(out, has_marks=False, columns=lambda: 20)
    output.write(["a list of words that is long", "short", "averyverylongwordthatstays whole"])
    assert out.getvalue().splitlines() == [
        "a list of words",
        "that is long",
        "short",
        "averyverylongwordthatstays",
        "whole",
    ]
