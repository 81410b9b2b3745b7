"""Lists in lines: numbers, keys of their own, pages, and searches."""

from __future__ import annotations

import pytest

from tui.input.actions import Context
from tui.panels.list_panel import Item, ListPanel, Pick
from tui.screen_reader.dialog_lines import LineEffect, answer, answer_hint, dialog_lines


def numbers(count: int = 35) -> ListPanel:
    return ListPanel("Numbers", [Item(f"item {n}") for n in range(1, count + 1)])


def said(panel: ListPanel) -> list[str]:
    return [line.split(". ")[0] for line in dialog_lines(panel)[1:]]


async def test_a_long_list_is_read_ten_at_a_time() -> None:
    panel = numbers()
    assert said(panel) == [str(n) for n in range(1, 11)]
    assert answer_hint(panel).startswith("1 to 10 of 35. Type a number")
    answer(panel, "more")
    assert said(panel) == [str(n) for n in range(11, 21)]
    for _ in range(5):
        answer(panel, "more")
    assert said(panel)[-1] == "35"
    answer(panel, "back")
    answer(panel, "first")
    assert said(panel)[0] == "1"


@pytest.mark.parametrize("words", [("more", "first"), ("back", "last")])
async def test_pages_of_a_list_with_headings_leave_nothing_out(words: tuple[str, str]) -> None:
    items = [Item(f"item {n}", group=f"group {n // 6}") for n in range(58)]
    panel = ListPanel("Numbers", items)
    answer(panel, words[1])
    lines: set[str] = set()
    for _ in range(8):
        lines |= {line for line in said(panel) if line.isdecimal()}
        answer(panel, words[0])
    assert lines == {str(n) for n in range(1, 59)}


async def test_headings_are_not_counted() -> None:
    panel = ListPanel("Numbers", [Item(f"item {n}", group=f"group {n // 6}") for n in range(58)])
    assert answer_hint(panel).startswith("1 to 8 of 58. Type a number")


async def test_a_search_without_hits_offers_no_numbers() -> None:
    panel = numbers()
    answer(panel, "nothing of that")
    assert answer_hint(panel) == "Type other words to search, or esc."


async def test_a_number_that_was_read_before_still_chooses() -> None:
    panel = numbers()
    answer(panel, "more")
    answer(panel, "2")
    assert await panel.wait() == Pick(1, "enter")


async def test_another_search_takes_the_place_of_the_first() -> None:
    panel = numbers()
    assert answer(panel, "item 7") is LineEffect.APPLIED
    assert said(panel) == ["7", "17", "27"]
    answer(panel, "item 31")
    assert dialog_lines(panel) == ["Numbers:", "31. item 31 (selected)"]
    answer(panel, "nothing of that")
    assert dialog_lines(panel) == ["Numbers:", "nothing found for 'nothing of that'"]
    answer(panel, "esc")
    assert len(said(panel)) == 10
    answer(panel, "esc")
    assert await panel.wait() is None


@pytest.mark.parametrize(
    ("line", "picked"),
    [
        ("delete", Pick(0, "delete")),
        ("3 delete", Pick(2, "delete")),
        ("ctrl+a", Pick(0, "ctrl+a")),
        ("s", Pick(0, "modelPicker:thisSessionOnly")),
        ("2 s", Pick(1, "modelPicker:thisSessionOnly")),
    ],
)
async def test_its_own_keys_are_words_for_any_line(line: str, picked: Pick) -> None:
    panel = ListPanel(
        "Keys",
        [Item("one"), Item("two"), Item("three")],
        contexts=(Context.MODEL_PICKER,),
        letters="keys",
        keys=("delete", "ctrl+a", "modelPicker:thisSessionOnly"),
        hint="enter output · del stop · ctrl+a all · s this session only · / search · esc close",
    )
    assert answer_hint(panel) == (
        "Type a number to choose, delete stop, ctrl+a all, s this session only, a number and a "
        "key for another line, such as 1 ctrl+a, words to search, or esc."
    )
    assert answer(panel, line) is LineEffect.APPLIED
    assert await panel.wait() == picked


async def test_a_number_with_a_word_that_is_no_key_chooses_nothing() -> None:
    panel = numbers(3)
    assert answer(panel, "2 please") is LineEffect.NOT_APPLIED
    assert not panel.is_done


async def test_page_keys_go_through_the_list_on_the_screen() -> None:
    panel = numbers()
    panel.press("pagedown", "", "scroll:pageDown")
    assert panel.selected_item == 15
    panel.press("end", "", None)
    assert panel.selected_item == 34
    panel.press("pagedown", "", "scroll:pageDown")
    assert panel.selected_item == 34
    panel.press("home", "", None)
    assert panel.selected_item == 0
