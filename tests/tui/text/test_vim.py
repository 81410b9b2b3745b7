"""Vim's keys in the prompt, as vim's own answers to the same keys have them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.editing.draft import CHIP_CHARS
from tui.editing.text_buffer import TextBuffer
from tui.editing.vim.command import Command, parse
from tui.editing.vim.keys import VimKeys, VimMode


def typed(text: str, keys: str, **options: object) -> tuple[TextBuffer, VimKeys]:
    """`|` in the text is the cursor; `<x>` in the keys is a named key. Begins in normal mode."""
    buffer = TextBuffer()
    buffer.insert(text.replace("|", ""))
    vim = VimKeys(buffer, **options)  # type: ignore[arg-type]
    vim.press("escape", "")
    buffer.move_to(text.index("|"))
    for key, char in spelled(keys):
        if vim.press(key, char) == "passed" and vim.is_typing:
            buffer.backspace() if key == "backspace" else buffer.insert(char)
    return buffer, vim


def spelled(keys: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    while keys:
        if keys[0] == "<" and ">" in keys and (name := keys[1 : keys.index(">")]).isalpha():
            found.append(({"esc": "escape", "bs": "backspace"}.get(name, name), ""))
            keys = keys[len(name) + 2 :]
        else:
            found.append((keys[0], keys[0]))
            keys = keys[1:]
    return found


def after(text: str, keys: str) -> str:
    buffer, _ = typed(text, keys)
    return f"{buffer.text[: buffer.cursor]}|{buffer.text[buffer.cursor :]}"


MOTIONS = [
    ("|one two", "w", "one |two"),
    ("|one.two", "w", "one|.two"),
    ("|one.two three", "W", "one.two |three"),
    ("|one two three", "2w", "one two |three"),
    ("one two| three", "b", "one |two three"),
    ("|one two", "e", "on|e two"),
    ("|one two", "ee", "one tw|o"),
    ("one tw|o", "ge", "on|e two"),
    ("one\n\n|two", "ge", "one\n|\ntwo"),
    ("|a.b c", "E", "a.|b c"),
    ("  |one", "0", "|  one"),
    ("|  one", "^", "  |one"),
    ("|one\ntwo", "$", "on|e\ntwo"),
    ("|one\ntwo\nthree", "G", "one\ntwo\n|three"),
    ("one\ntwo\nthr|ee", "gg", "|one\ntwo\nthree"),
    ("|one\ntwo\nthree", "2G", "one\n|two\nthree"),
    ("|one two one", "fo", "one tw|o one"),
    ("|a,b,c", "2f,", "a,b|,c"),
    ("|one two one", "to", "one t|wo one"),
    ("one two on|e", "Ft", "one |two one"),
    ("one two on|e", "Tt", "one t|wo one"),
    ("|a,b,c,d", "f,;", "a,b|,c,d"),
    ("|a,b,c,d", "f,;,", "a|,b,c,d"),
    ("|a,b,c,d", "t,;", "a,|b,c,d"),
    ("|f(a[1])", "f(%", "f(a[1]|)"),
    ("on|e", "h", "o|ne"),
    ("|one", "h", "|one"),
    ("on|e", "l", "on|e"),
    ("one\n|two", "h", "one\n|two"),
    ("|a\n\nb\n\nc", "}", "a\n|\nb\n\nc"),
    ("a👩‍💻|b", "h", "a|👩‍💻b"),
    ("漢|字 x", "w", "漢字 |x"),
]
EDITS = [
    ("o|ne", "x", "o|e"),
    ("on|e", "x", "o|n"),
    ("|one", "2x", "|e"),
    ("o|ne", "X", "|ne"),
    ("|one two", "dw", "|two"),
    ("one |two", "dw", "one| "),
    ("one |two\nthree", "dw", "one| \nthree"),
    ("|one two three", "d2w", "|three"),
    ("|one two three", "2dw", "|three"),
    ("o|ne two", "de", "o| two"),
    ("one t|wo", "db", "one |wo"),
    ("o|ne two", "d$", "|o"),
    ("o|ne two", "D", "|o"),
    ("one\nt|wo\nthree", "dd", "one\n|three"),
    ("one\nt|wo", "dd", "|one"),
    ("o|ne", "dd", "|"),
    ("|one\ntwo\nthree", "2dd", "|three"),
    ("|one\ntwo\nthree", "dj", "|three"),
    ("one\ntwo\n|three", "dk", "|one"),
    ("o|ne\ntwo", "dG", "|"),
    ("|a,b", "df,", "|b"),
    ("|a,b", "dt,", "|,b"),
    ("|one two", "dfz", "|one two"),
    ("|one two", "cwsix<esc>", "si|x two"),
    ("|a two", "cwsix<esc>", "si|x two"),
    ("one| two", "cwX<esc>", "one|Xtwo"),
    ("o|ne two", "CX<esc>", "o|X"),
    ("one\n  t|wo", "ccX<esc>", "one\n|X"),
    ("one\nt|wo\nx", "SX<esc>", "one\n|X\nx"),
    ("o|ne", "sXY<esc>", "oX|Ye"),
    ("|one two", "dwP", "one| two"),
    ("|one two", "ywP", "one| one two"),
    ("|one\ntwo", "yyp", "one\n|one\ntwo"),
    ("one\n|two", "yyP", "one\n|two\ntwo"),
    ("|one\ntwo", "ddp", "two\n|one"),
    ("|ab", "xp", "b|a"),
    ("|ab", "x3p", "baa|a"),
    ("|one", ">>", "  |one"),
    ("    |one", "<<", "  |one"),
    ("|one\ntwo", ">j", "  |one\n  two"),
    ("|one\n  two", "J", "one| two"),
    ("|a\nb\nc", "3J", "a b| c"),
    ("|one", "rX", "|Xne"),
    ("|one", "2rX", "X|Xe"),
    ("|one", "9rX", "|one"),
    ("|one", "~~", "ON|e"),
    ("|one two", "gUw", "|ONE two"),
    ("ONE t|WO", "guu", "|one two"),
    ("|one", "iX<esc>", "|Xone"),
    ("|one", "aX<esc>", "o|Xne"),
    ("o|ne", "IX<esc>", "|Xone"),
    ("o|ne", "AX<esc>", "one|X"),
    ("|one\ntwo", "oX<esc>", "one\n|X\ntwo"),
    ("one\n|two", "OX<esc>", "one\n|X\ntwo"),
    ("|one", "3iab<esc>", "ababa|bone"),
    ("|one\ntwo", "3oab<esc>", "one\nab\nab\na|b\ntwo"),
    ("|one", "2Oab<esc>", "ab\na|b\none"),
    ("|one", "oab<esc>2.", "one\nab\nab\na|b"),
    ("|one two three", "dwu", "|one two three"),
    ("|one two three", "dw.", "|three"),
    ("|one two three", "cwX<esc>w.", "X |X three"),
    ("|a b c d e", "dw3.", "|e"),
    ("|one", "iX<esc>u", "|one"),
    ("|one", "dwixyz<esc>u", "|"),
    ("one\n|\ntwo", "sX<esc>", "one\n|X\ntwo"),
    ("one\n|\ntwo", "CX<esc>", "one\n|X\ntwo"),
    ("one\n|\ntwo", "cwX<esc>", "one\n|X\ntwo"),
    ("|", "SX<esc>", "|X"),
    ("|", "CX<esc>", "|X"),
    ("a (|b)", "cT(X<esc>", "a (|Xb)"),
    ("one\n|\ntwo", "J", "one\n|two"),
    ("one\ntw|o\n\nthree", "d}", "one\nt|w\n\nthree"),
    ("one\n|two\n\nthree", "d}", "one\n|\nthree"),
    ("one\n\ntwo\n|three", "d{", "one\n|three"),
]
OBJECTS = [
    ("one t|wo three", "diw", "one | three"),
    ("one t|wo three", "daw", "one |three"),
    ("one t|wo", "daw", "on|e"),
    ("a b.|c d", "diW", "a | d"),
    ('say "on|e two" x', 'di"', 'say "|" x'),
    ('say "on|e two" x', 'da"', "say |x"),
    ("|say 'one'", "ci'X<esc>", "say '|X'"),
    ("f(a, |b)", "di(", "f(|)"),
    ("f(a, |b)", "dab", "|f"),
    ("f(g(|b), c)", "ci(X<esc>", "f(g(|X), c)"),
    ("a[|1]", "di[", "a[|]"),
    ("{ |a }", "diB", "{|}"),
    ("|one", "di(", "|one"),
    ("|foo bar(a, (b)) x(y)", "da(", "foo bar| x(y)"),
    ("|foo\n(a)", "di(", "foo\n(|)"),
    ("|foo bar) x(y) z", "di(", "|foo bar) x(y) z"),
    ("f(a) |+ (b", "di(", "f(a) |+ (b"),
    ("|foo (x (y)) z", "2di(", "foo (x (|)) z"),
    ("f(g(|b), c)", "2di(", "f(|)"),
    ("f(|(b))", "d2i(", "f(|)"),
    ("|one two three", "d2aw", "|three"),
    ("|one two three", "d2iw", "|two three"),
    ("|one two", "d9aw", "|one two"),
    ("x <|a> y", "ci<X<esc>", "x <|X> y"),
    ("a\n\nb|c\nd\n\ne", "dip", "a\n\n|\ne"),
    ("a\n\nb|c", "dip", "a\n|"),
    ("a\n|b\n\nc", "yipP", "|a\nb\na\nb\n\nc"),
    ("a|b\n\nc", "cipX<esc>", "|X\n\nc"),
    ('say "on|e"', 'da"', "sa|y"),
]
VISUAL = [
    ("|one two", "vwd", "|wo"),
    ("|one two", "ved", "| two"),
    ("one |two", "vbd", "|wo"),
    ("|one\ntwo\nthree", "Vjd", "|three"),
    ("|one two", "vey$p", "one twoon|e"),
    ("o|ne two", "viwcX<esc>", "|X two"),
    ("|one", "vU", "|One"),
    ("|one", "v$~", "|ONE"),
    ("|one\ntwo", "Vj>", "  |one\n  two"),
    ("|one\ntwo", "VjJ", "one| two"),
    ("|one", "vlrX", "|XXe"),
    ("|one two", "ywwviwp", "one one| "),
    ("|one two", "vlold", "o|e two"),
    ("f(a|, b)", "vi(d", "f(|)"),
    ("|abcd", "vlx.", "|"),
    ("|one\ntwo\nthree", "Vdp", "two\n|one\nthree"),
    ("|one two", "vey", "|one two"),
    ("|one two", "v<esc>x", "|ne two"),
]


@pytest.mark.parametrize(("text", "keys", "expected"), [*MOTIONS, *EDITS, *OBJECTS])
def test_normal_mode(text: str, keys: str, expected: str) -> None:
    assert after(text, keys) == expected


@pytest.mark.parametrize(("text", "keys", "expected"), VISUAL)
def test_visual_mode(text: str, keys: str, expected: str) -> None:
    assert after(text, keys) == expected


def test_modes_and_what_is_marked() -> None:
    _, vim = typed("|one\ntwo", "v")
    assert (vim.mode, vim.selection) == (VimMode.VISUAL, (0, 1))
    _, vim = typed("|one\ntwo", "V")
    assert (vim.mode, vim.selection) == (VimMode.VISUAL_LINE, (0, 4))
    _, vim = typed("|one", "2d")
    assert (vim.mode, vim.pending, vim.selection) == (VimMode.NORMAL, "2d", None)


def test_escape_ends_one_thing_after_the_other_and_then_is_the_screens() -> None:
    _, vim = typed("|one", "vd")
    assert vim.press("v", "v") == "taken"
    assert vim.press("escape", "") == "taken"
    assert vim.press("d", "d") == "taken"
    assert vim.press("escape", "") == "taken"
    assert vim.press("escape", "") == "passed"


def test_keys_that_are_not_for_vim() -> None:
    _, vim = typed("|", "")
    assert vim.press("enter", "") == "passed"
    assert vim.press("ctrl+g", "") == "passed"
    assert [vim.press(key, key) for key in "jk/?"] == ["down", "up", "search", "passed"]


def test_two_letters_leave_insert_mode_when_they_come_quickly() -> None:
    now_s = 0.0
    options = {"remaps": {"jj": "<Esc>"}, "clock": lambda: now_s}
    buffer, vim = typed("|one", "ixjj", **options)
    assert (buffer.text, vim.mode) == ("xone", VimMode.NORMAL)
    buffer, vim = typed("|one", "ij", **options)
    now_s = 2.0
    assert vim.press("j", "j") == "passed"
    assert vim.mode is VimMode.INSERT


def test_an_insertion_is_one_step_of_undo_and_comes_back() -> None:
    buffer, vim = typed("|one", "ia b c d <esc>u")
    assert buffer.text == "one"
    vim.press("ctrl+r", "")
    assert buffer.text == "a b c d one"


def test_a_paste_that_is_cut_and_put_back_is_still_the_paste() -> None:
    buffer = TextBuffer()
    vim = VimKeys(buffer)
    long = "x" * (CHIP_CHARS + 1)
    buffer.paste(long)
    vim.press("escape", "")
    vim.press("x", "x")
    assert buffer.draft.expanded_text == ""
    buffer.clear()
    buffer.paste("y" * (CHIP_CHARS + 1))
    vim.press("P", "P")
    assert buffer.draft.expanded_text.count("x") == len(long)
    assert buffer.draft.expanded_text.count("y") == CHIP_CHARS + 1


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("3dw", Command("d", 3, "w")),
        ("2d3w", Command("d", 6, "w")),
        ("d", "more"),
        ("dg", "more"),
        ("dgg", Command("d", 0, "gg")),
        ("di", "more"),
        ("dz", None),
        ("0", Command("", 0, "0")),
        ("10l", Command("", 10, "l")),
        ("gUU", Command("gU", 0, "line")),
        ("99999999999d", "more"),
    ],
)
def test_keys_as_commands(keys: str, expected: object) -> None:
    assert parse(keys, is_visual=False) == expected


TEXTS = st.text(alphabet="ab_.,()[]\"' \n漢é👩‍💻", max_size=30)
KEYS = st.text(alphabet="hjklwbeWBE0^$gGfFtT;,xXdDcCsSyYpP><J.uiaoOvVr~%{}()\"'p123 ", max_size=25)


@given(TEXTS, KEYS, st.integers(0, 30))
def test_no_keys_break_the_text(text: str, keys: str, cursor: int) -> None:
    buffer = TextBuffer()
    buffer.insert(text)
    vim = VimKeys(buffer)
    vim.press("escape", "")
    buffer.move_to(cursor)
    vim.settle()
    for char in keys:
        if vim.press(char, char) == "passed" and vim.is_typing:
            buffer.insert(char)
        assert 0 <= buffer.cursor <= len(buffer.text)
        marked = vim.selection
        assert marked is None or 0 <= marked[0] <= marked[1] <= len(buffer.text)
    for _ in range(3):
        vim.press("escape", "")
    assert vim.mode is VimMode.NORMAL
    end = buffer.text.find("\n", buffer.cursor)
    line = buffer.text[buffer.text.rfind("\n", 0, buffer.cursor) + 1 : end if end >= 0 else None]
    assert not line or buffer.cursor < len(buffer.text)


@pytest.mark.parametrize("keys", ["Va<", "va(d", "v<j.", "vc\x1b.", "V>.", "vr..", "vJ."])
@pytest.mark.parametrize("text", ["", "\n", "\n\n", "a"])
def test_a_mark_that_holds_nothing_does_no_harm(keys: str, text: str) -> None:
    buffer = TextBuffer()
    buffer.insert(text)
    vim = VimKeys(buffer)
    vim.press("escape", "")
    for char in keys:
        vim.press("escape" if char == "\x1b" else char, "" if char == "\x1b" else char)
        assert 0 <= buffer.cursor <= len(buffer.text)


@given(TEXTS, KEYS)
def test_undo_leads_back_to_the_start(text: str, keys: str) -> None:
    buffer = TextBuffer()
    buffer.insert(text)
    vim = VimKeys(buffer)
    vim.press("escape", "")
    for char in keys.replace("u", ""):
        if vim.press(char, char) == "passed" and vim.is_typing:
            buffer.insert(char)
    vim.press("escape", "")
    vim.press("escape", "")
    for _ in range(200):
        vim.press("u", "u")
    assert buffer.text == ""
