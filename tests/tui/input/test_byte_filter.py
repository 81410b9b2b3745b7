"""What terminals send, cut anywhere, becomes the same items."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY

from tui.input.byte_filter import (
    INTRODUCER_TIMEOUT_S,
    ByteFilter,
    ForParser,
    InputItem,
    PastedText,
    Reply,
    TypedKey,
)

SEQUENCES = (
    "a", "hé", "\r", "\x03", "\x1b[A", "\x1b[1;5C", "\x1b[97;1:3u", "\x1b[97;5:1u", "\x1b[97:65;2u",
    "\x1b\r", "\x1bx", "\x1bb", "\x1bX", "\x1bOP", "\x1b[27;2;13~",
    "\x1b[200~a\x1b[31m\r\nb\x1b[201~",
    "\x1b]11;rgb:0/0/0\x1b\\", "\x1b]11;x\x07", "\x1bP1$r0m\x1b\\", "\x1b[?62;4c", "\x1b[?1u",
    "\x1b[?2026;2$y", "\x1b[<0;3;4M", "\x1b[I", "\x1b[O", "\x1b[5;9R", "\x1b[48;24;80;480;640t",
    "👩\u200d💻", "\x1b[0;;128105:8205:128187u", "\x1b[99999999999u", "\x1b[?997;1n", "\x1b[[A",
)  # fmt: skip


def _items(chunks: list[str]) -> list[InputItem]:
    reader = ByteFilter()
    items = [item for chunk in chunks for item in reader.feed(chunk)]
    return [*items, *reader.expire()]


def _merged(items: list[InputItem]) -> list[InputItem]:
    """Neighboring text for the parser counts as one piece."""
    merged: list[InputItem] = []
    for item in items:
        if merged and isinstance(item, ForParser) and isinstance(merged[-1], ForParser):
            merged[-1] = ForParser(merged[-1].text + item.text)
        else:
            merged.append(item)
    return merged


@pytest.mark.parametrize(
    ("sent", "items"),
    [
        ("abc\r", [ForParser("abc\r")]),
        ("\x1b", [TypedKey("escape", "\x1b")]),
        ("\x1b\x1b", [TypedKey("escape", "\x1b"), TypedKey("escape", "\x1b")]),
        ("\x1b\x1b[A", [TypedKey("escape", "\x1b"), ForParser("\x1b[A")]),
        ("\x1b\r", [TypedKey("alt+enter")]),
        ("\x1b\n", [TypedKey("alt+enter")]),
        ("\x1bx", [TypedKey("alt+x")]),
        ("\x1bX", [TypedKey("alt+shift+x")]),
        ("\x1b[", [TypedKey("alt+left_square_bracket")]),
        ("\x1bb", [ForParser("\x1bb")]),
        ("\x1b_\x1b_hi", [TypedKey("alt+underscore")] * 2 + [ForParser("hi")]),
        ("\x1b]x", [TypedKey("alt+right_square_bracket"), ForParser("x")]),
        ("\x1bPx", [TypedKey("alt+shift+p"), ForParser("x")]),
        ("\x1bX1", [TypedKey("alt+shift+x"), ForParser("1")]),
        ("\x1b_Gi=31;OK\x1b\\k", [Reply("\x1b_Gi=31;OK\x1b\\"), ForParser("k")]),
        ("\x1b\x03", [TypedKey("escape", "\x1b"), ForParser("\x03")]),
        ("\x1b[27;2;13~", [ForParser("\x1b[13;2u")]),
        ("\x1b[27;2;65~", [ForParser("A")]),
        ("\x1b[97;1:1u", [ForParser("\x1b[97;1u")]),
        ("\x1b[97;1:3u", []),
        ("\x1b[97:65;2:2;65u", [ForParser("\x1b[97;2;65u")]),
        ("\x1b[1;1:3A", []),
        ("\x1b[1;5:1A", [ForParser("\x1b[1;5A")]),
        ("\x1b[97;;97u", [ForParser("\x1b[97;;97u")]),
        ("\x1b[0;;128105:8205:128187u", [PastedText("👩\u200d💻")]),
        ("x👩\u200d💻y", [ForParser("x"), PastedText("👩\u200d💻"), ForParser("y")]),
        ("你好", [ForParser("你好")]),
        ("\x1b[200~a\r\nb\rc\x1b[31m\x00\x1b[201~d", [PastedText("a\nb\nc[31m"), ForParser("d")]),
        ("\x1b[200~\x1b[I\x1b[201~", [PastedText("[I")]),
        ("\x1b[200~unfinished", [PastedText("unfinished")]),
        ("\x1b[201~", []),
        ("\x1b]11;rgb:1/2/3\x07", [Reply("\x1b]11;rgb:1/2/3\x07")]),
        ("\x1b]11;rgb:1/2/3\x1b\\k", [Reply("\x1b]11;rgb:1/2/3\x1b\\"), ForParser("k")]),
        ("\x1bP1$r0m\x1b\\", [Reply("\x1bP1$r0m\x1b\\")]),
        ("\x1b[?62;22c", [Reply("\x1b[?62;22c")]),
        ("\x1b[?25u", [Reply("\x1b[?25u")]),
        ("\x1b[12;40R", [Reply("\x1b[12;40R")]),
        ("\x1b[1;2R", [TypedKey("shift+f3")]),
        ("\x1b[?2026;2$y", [ForParser("\x1b[?2026;2$y")]),
        ("\x1b[?2027;2$y", [Reply("\x1b[?2027;2$y")]),
        ("\x1b[123456z", [Reply("\x1b[123456z")]),
        ("\x1b[<64;3;4M", [ForParser("\x1b[<64;3;4M")]),
        ("\x1b[M abc", [Reply("\x1b[M ab"), ForParser("c")]),
        ("\x1b[99999999999u", []),
        ("\x1b[55296;;55296u", []),
    ],
)
def test_what_terminals_send(sent: str, items: list[InputItem]) -> None:
    assert _items([sent]) == items


@given(st.lists(st.sampled_from(SEQUENCES), max_size=6), st.data())
def test_chunks_make_no_difference(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    # A cluster typed in two pieces is two clusters: that is as good as it gets.
    if not text.isascii() and "\u200d" in text:
        text = text.replace("\u200d", "")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    places = [0, *cuts, len(text)]
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert _merged(_items(chunks)) == _merged(_items([text]))


@given(st.lists(st.sampled_from([*SEQUENCES, "\x1b[", ";", "9", "\x1b]", "~", "u"]), max_size=12))
def test_textuals_parser_can_read_all_that_it_gets(parts: list[str]) -> None:
    parser = XTermParser()
    for item in _items(parts):
        if isinstance(item, ForParser):
            # Nothing is left open in the parser: a key typed next is that key.
            keys = [*parser.feed(item.text), *parser.feed("k")]
            assert isinstance(keys[-1], events.Key)
            assert keys[-1].key == "k"


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\x1b[13;2u", "shift+enter"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[Z", "shift+tab"),
        ("\x1b[27;5;105~", "ctrl+i"),
        ("\n", "ctrl+j"),
        ("\x1b[99;5u", "ctrl+c"),
        ("\x1b[112;3u", "alt+p"),
        ("\x1b[97;5:1u", "ctrl+a"),
        ("\x1b[27u", "escape"),
        ("\x1b[27;1:1u", "escape"),
    ],
)
def test_keys_have_the_names_of_legacy_and_kitty(sent: str, key: str) -> None:
    (item,) = _items([sent])
    assert isinstance(item, ForParser)
    (event,) = XTermParser().feed(item.text)
    assert isinstance(event, events.Key)
    assert event.key == key


def test_waiting_is_for_what_is_open_only() -> None:
    reader = ByteFilter()
    waits: list[float | None] = [reader.timeout_s]
    for chunk in ("\x1b", "[", "1;", "5A", "\x1b[200~x", "\x1b[201~"):
        reader.feed(chunk)
        waits.append(reader.timeout_s)
    assert [wait is None for wait in waits] == [True, False, False, False, True, False, True]
    # Esc is pressed often, Alt+[ hardly ever; a line with lag may cut a sequence behind either.
    assert waits[1:3] == [ESCAPE_DELAY, INTRODUCER_TIMEOUT_S]
    assert waits[5] == 10.0


def test_a_string_without_end_is_given_up() -> None:
    reader = ByteFilter()
    (item,) = reader.feed("\x1b]52;c;" + "A" * 5000)
    assert isinstance(item, Reply)
    assert reader.feed("k") == [ForParser("k")]


def test_many_lines_at_once_are_one_paste_not_a_prompt_each() -> None:
    lines = [f"\tline {number} of a file without brackets" for number in range(5_000)]
    pasted = [PastedText("\n".join([*lines, "the end"]))]
    assert _items(["\r".join([*lines, "the end"])]) == pasted
    assert _items(["\r\n".join([*lines, "the end"])]) == pasted
    few = "fix it\ryes\rrun the tests\r1\r"
    assert _items([few]) == [ForParser(few)]
    waiting = "ask for something\r" + "\r" * 200
    assert _items([waiting]) == [ForParser(waiting)]


def test_more_text_than_anyone_types_at_once_is_pasted() -> None:
    wall = "word\n" * 200
    assert _items([f"a\r{wall}\rb"]) == [ForParser("a\r"), PastedText(wall), ForParser("\rb")]
    assert _items(["w" * 511]) == [ForParser("w" * 511)]
