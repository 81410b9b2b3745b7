"""Decoding, line endings and exact replacement, as properties."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.tools.files.line_change import NoSuchText, change_text
from agent.tools.files.text_file import NotText, TextFile, decode
from agent.tools.files.text_window import window_of, window_of_stream
from tests.examples import examples

TEXTS = st.lists(st.sampled_from(["a", "b", " ", "\n", "\r\n", "\t", "é", "🙂"]), max_size=60).map(
    "".join
)


@given(st.binary(max_size=300))
def test_what_decodes_encodes_to_the_same_bytes(data: bytes) -> None:
    try:
        file = decode(data)
    except NotText:
        return
    assert file.encode(file.text) == data


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=50),
    st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]),
)
def test_marked_text_is_read_by_its_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@settings(max_examples=examples(300))
@given(TEXTS, st.data())
def test_replacement_touches_nothing_else(text: str, data: st.DataObject) -> None:
    plain = text.replace("\r\n", "\n")
    start = data.draw(st.integers(0, len(plain)))
    end = data.draw(st.integers(start, len(plain)))
    old = plain[start:end]
    new = data.draw(TEXTS)
    if not old:
        return
    everywhere = plain.count(old) > 1
    change = change_text(TextFile(text), old, new, replace_all=everywhere)
    expected = plain.replace(old, new.replace("\r\n", "\n"))
    assert change.text.replace("\r\n", "\n") == expected
    if not everywhere:
        # The same bytes before and after, CR LF included.
        prefix = plain[: plain.index(old)]
        assert change.text.startswith(_as_in(text, prefix))


def _as_in(text: str, prefix: str) -> str:
    """Return the start of the text that reads as `prefix` once its line endings are plain."""
    end = 0
    for character in prefix:
        end += 2 if character == "\n" and text[end] == "\r" else 1
    return text[:end]


@given(TEXTS, TEXTS)
def test_replacement_fails_only_with_an_explanation(text: str, old: str) -> None:
    plain, wanted = text.replace("\r\n", "\n"), old.replace("\r\n", "\n")
    if not wanted:
        return
    if plain.count(wanted) == 1:
        change_text(TextFile(text), old, "x", replace_all=False)
    else:
        with pytest.raises(
            NoSuchText, match=r"the text to replace (was not found|occurs \d+ times)"
        ):
            change_text(TextFile(text), old, "x", replace_all=False)


@given(
    st.lists(st.sampled_from(["", "a", "bb", "ü" * 3]), max_size=30),
    st.integers(1, 35),
    st.integers(1, 10),
    st.booleans(),
)
def test_windows_of_memory_and_stream_agree(
    lines: list[str], offset: int, limit: int, ends_with_newline: bool
) -> None:
    text = "\n".join(lines) + ("\n" if ends_with_newline and lines else "")
    memory = window_of(text, offset, limit)
    stream = window_of_stream(
        io.BytesIO(text.encode()), "utf-8", offset, limit, is_aborted=lambda: False
    )
    assert stream == memory
