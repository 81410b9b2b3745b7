"""Nothing foreign talks to the terminal, however it is cut into chunks."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissions.base.text.sanitize import STRING_LIMIT, Sanitizer, reveal, sanitize

CONTROLS = "\x1b \x07 \x9b \x9c \x9d \x90 \x18 \n \t \r \b \x7f".split(" ")
HIDDEN = "\u202e \u2066 \u2028 \U000e0067 \U000e007f \udc80".split(" ")
TEXTS = "[ ] P _ X \\ 31 ; m ? text é 好 🏴 0;title 8;;https://x 52;c;aGk=".split(" ")
PIECES = st.sampled_from([*CONTROLS, *HIDDEN, *TEXTS, " "])
DANGEROUS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
TEXT = st.lists(PIECES, max_size=30).map("".join)


@given(TEXT, st.lists(st.integers(0, 60), max_size=6))
def test_the_result_does_not_depend_on_the_chunks(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    sanitizer = Sanitizer()
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert "".join([*map(sanitizer.feed, chunks), sanitizer.finish()]) == sanitize(text)


@given(TEXT)
def test_character_by_character_gives_the_same(text: str) -> None:
    sanitizer = Sanitizer()
    assert "".join(map(sanitizer.feed, text)) == sanitize(text)


@given(TEXT)
def test_what_is_left_is_text(text: str) -> None:
    left = sanitize(text)
    assert not re.search(DANGEROUS, left)


@given(TEXT)
def test_a_terminal_does_nothing_but_show_it(text: str) -> None:
    shown = pyte.Screen(40, 5)
    pyte.Stream(shown).feed(sanitize(text))
    fresh = pyte.Screen(40, 5)
    assert (shown.title, shown.icon_name, shown.mode, shown.margins, shown.charset) == (
        fresh.title, fresh.icon_name, fresh.mode, fresh.margins, fresh.charset,
    )  # fmt: skip
    assert shown.cursor.attrs == fresh.cursor.attrs


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=30))
def test_plain_text_is_kept(text: str) -> None:
    assert sanitize(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[1;31mb\x1b[0m", "ab"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ('a\x1bP$q"p\x1b\\b', "ab"),
        ("a\x1b_payload\x9cb", "ab"),
        ("a\x9b31mb\x9d52;c;x\x07c", "abc"),
        ("a\x1b(0b", "ab"),
        ("a\x1bcb", "ab"),
        ("a\x1b[3\n1mb", "a\nb"),
        ("a\x1b[3éb", "aéb"),
        ("a\x1b]0;x\x18b", "ab"),
        ("a\x1b]0;x\x1b[31mb", "ab"),
        ("10%\r20%\r\n", "10%20%\n"),
        ("a\u202eb\u2066c", "abc"),
        ("a\u2028b", "a\nb"),
        ("a\U000e0041b", "ab"),
        ("🏴\U000e0067\U000e0062\U000e007f\U000e0041", "🏴\U000e0067\U000e0062\U000e007f"),
        ("a\udcffb", "a\ufffdb"),
        ("👩\u200d💻 e\u0301", "👩\u200d💻 e\u0301"),
    ],
)
def test_cases(text: str, expected: str) -> None:
    assert sanitize(text) == expected


def test_an_unfinished_sequence_is_dropped_with_the_stream() -> None:
    sanitizer = Sanitizer()
    assert sanitizer.feed("a\x1b]0;ti") + sanitizer.finish() == "a"
    assert sanitizer.feed("tle") == "tle"


def test_an_unterminated_string_does_not_hide_the_rest() -> None:
    text = "a\x1b]0;" + "x" * STRING_LIMIT + "seen"
    assert sanitize(text).endswith("seen")
    assert len(sanitize(text)) < 20


def tagged(text: str) -> str:
    """Text in tag characters, which nobody sees, and the one that ends it."""
    return "".join(chr(0xE0000 + ord(character)) for character in text) + "\U000e007f"


ENGLAND = tagged("gbeng")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rm -rf /", "rm -rf /"),
        ("a\x1b[31m", "a\\x1b[31m"),
        ("a\u202eb", "aU+202Eb"),
        ("a\u200bb\u2060", "aU+200BbU+2060"),
        ("a\u00a0b", "aU+00A0b"),
        ("a\u3164b", "aU+3164b"),
        ("a\u180bb\U00016fe4", "aU+180BbU+16FE4"),
        ("a\x9bb\x7f\r", "a\\x9bb\\x7f\\x0d"),
        ("a\nb\tc é 好", "a\nb\tc é 好"),
        ("\udc80", "U+DC80"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("👩🏽\u200d🚀", "👩🏽\u200d🚀"),
        ("👩\u200d\u200d👧", "👩U+200DU+200D👧"),
        ("👩\u200db\u200d👧\u200d", "👩U+200DbU+200D👧U+200D"),
        ("✓\u200d👧", "✓U+200D👧"),
        ("👩\u200c👧", "👩U+200C👧"),
        ("👩\ufe0f\u200d👧", "👩U+FE0FU+200D👧"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("🏳\ufe0f\u200d🌈", "🏳\ufe0f\u200d🌈"),
        ("🕵🏽\u200d♀\ufe0f", "🕵🏽\u200d♀\ufe0f"),
        ("🇫🇷", "🇫🇷"),
        ("1\ufe0f\u20e3 #\ufe0f\u20e3", "1\ufe0f\u20e3 #\ufe0f\u20e3"),
        ("1\ufe0f", "1U+FE0F"),
        ("❤\ufe0f\ufe0f", "❤\ufe0fU+FE0F"),
        ("❤\ufe0e", "❤U+FE0E"),
        ("a\ufe0fb a\u200db", "aU+FE0Fb aU+200Db"),
        ("\ufe0f❤ \u200d", "U+FE0F❤ U+200D"),
        (f"🏴{ENGLAND}", f"🏴{ENGLAND}"),
        (f"🏴{tagged('evil')}", "🏴U+E0065U+E0076U+E0069U+E006CU+E007F"),
        (f"x{tagged('a')}", "xU+E0061U+E007F"),
    ],
)
def test_reveal_spells_out_what_is_not_seen(text: str, expected: str) -> None:
    assert reveal(text) == expected


EMOJI = ("👩", "👧", "🏽", "🚀", "🧑", "❤", "♀")
MIXED = st.lists(
    st.one_of(
        st.sampled_from([*EMOJI, "\u200d", "\ufe0f", "\u200c", "\U0001faff"]), st.characters()
    ),
    max_size=12,
)


@given(MIXED.map("".join))
def test_no_other_unseen_character_passes(text: str) -> None:
    shown = reveal(text)
    for place, character in enumerate(shown):
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"):
            is_between = (
                character == "\u200d"
                and 0 < place < len(shown) - 1
                and all(
                    unicodedata.category(side) in ("So", "Sk") or side == "\ufe0f"
                    for side in (shown[place - 1], shown[place + 1])
                )
            )
            assert is_between or character in "\t\n "
        assert not 0xFE00 <= ord(character) <= 0xFE0E
        if character == "\ufe0f":
            assert place > 0
            assert unicodedata.category(shown[place - 1])[0] in "SPLN"


@given(TEXT)
def test_reveal_is_safe_to_show(text: str) -> None:
    assert sanitize(reveal(text)) == reveal(text)
