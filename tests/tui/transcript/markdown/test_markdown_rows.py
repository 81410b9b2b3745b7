"""Markdown as rows, whole and streamed."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from themes.theme import Role
from tui.text.highlight import Highlighter
from tui.text.styled_rows import Row, plain
from tui.text.wrap import runs_width
from tui.transcript.markdown.markdown_rows import markdown_rows
from tui.transcript.markdown.markdown_stream import MarkdownStream

HIGHLIGHTER = Highlighter()

DOCUMENT = """# Title

Some *words* with **weight**, `code` and 漢字漢字漢字 that wrap.

- one
  - nested
- [x] done

1. first
2. second

> quoted 🎉

| a | number |
|---|-------:|
| 1 | 2 |

```python
def f(x):
    return x
```

See [the docs](https://example.com/d) or <https://example.com>.
"""

EXPECTED = """\
Title

Some words with weight, code
and 漢字漢字漢字 that wrap.

• one
  ◦ nested
☑ done

1. first
2. second

▎ quoted 🎉

a   │ number
────┼───────
1   │      2

 def f(x):
     return x

See the docs
(https://example.com/d) or
https://example.com."""


def streamed(text: str, sizes: list[int], width: int) -> list[Row]:
    stream = MarkdownStream(width, HIGHLIGHTER)
    rows: list[Row] = []
    position = 0
    while position < len(text):
        size = sizes.pop() if sizes else 3
        stream.feed(text[position : position + size])
        position += size
        rows.extend(stream.take_finished())
        stream.tail()
    stream.finish()
    rows.extend(stream.take_finished())
    return rows


def test_every_kind_of_block() -> None:
    assert plain(markdown_rows(DOCUMENT, 28, HIGHLIGHTER)) == EXPECTED


@given(st.lists(st.integers(1, 40), max_size=60))
def test_any_chunking_ends_in_the_same_rows(sizes: list[int]) -> None:
    assert streamed(DOCUMENT, sizes, 28) == markdown_rows(DOCUMENT, 28, HIGHLIGHTER)


@given(
    st.text(st.sampled_from("ab `*_#->|[](!\n~1. \t漢🎉<&"), max_size=80),
    st.integers(1, 30),
    st.lists(st.integers(1, 10), max_size=20),
)
def test_anything_is_drawn_within_the_width(text: str, width: int, sizes: list[int]) -> None:
    for rows in (markdown_rows(text, width, HIGHLIGHTER), streamed(text, sizes, width)):
        assert all(runs_width(line.runs) <= max(width, 12) for line in rows)


def test_a_link_shows_where_it_leads() -> None:
    (line,) = markdown_rows("[safe.example](https://evil.example)", 60, HIGHLIGHTER)
    assert line.text == "safe.example (https://evil.example)"
    links = {ink.link: text for text, ink in line.runs if ink.link}
    assert links == {"https://evil.example": "https://evil.example"}


def test_an_open_fence_keeps_the_rows_of_finished_lines() -> None:
    stream = MarkdownStream(40, HIGHLIGHTER)
    stream.feed("```python\nx = 1\n")
    first = stream.tail()[0]
    stream.feed("y = 2\n")
    assert stream.tail()[0] is first
    assert [line.text for line in stream.tail()] == [" x = 1", " y = 2"]


@pytest.mark.parametrize("mark", ["-", "7."])
def test_a_long_list_streams_to_the_same_rows(mark: str) -> None:
    text = "".join(f"{mark} item *{n}* of a long list\n" for n in range(36)) + "\nAfter.\n"
    assert streamed(text, [], 30) == markdown_rows(text, 30, HIGHLIGHTER)


def test_a_growing_list_keeps_the_rows_of_its_items() -> None:
    stream = MarkdownStream(40, HIGHLIGHTER)
    stream.feed("- an item of a list that is long\n" * 40)
    first = stream.tail()[0]
    stream.feed("- one more\n")
    assert stream.tail()[0] is first


def test_code_is_colored_by_language() -> None:
    rows = markdown_rows("```python\nimport os\n```", 40, HIGHLIGHTER)
    roles = {text: ink.role for text, ink in rows[0].runs}
    assert roles["import"] is Role.SYNTAX_KEYWORD


def test_text_after_a_closed_fence_in_the_same_chunk_is_kept() -> None:
    rows = streamed("```\na\n```\nafter", [3, 40], 40)
    assert plain(rows) == " a\n\nafter"


LONG = "".join(
    f"# Part {n}\n\nSome *words* 好 of part {n}.\n\n- one\n- two\n\n"
    f"```python\ndef part_{n}():\n    return {n}\n```\n\n> quoted {n}\n\n"
    for n in range(60)
)


def test_a_long_text_at_once_has_the_rows_of_its_blocks() -> None:
    highlighter = Highlighter()
    stream = MarkdownStream(60, highlighter)
    stream.feed(LONG)
    stream.finish()
    assert stream.take_finished() == markdown_rows(LONG, 60, highlighter)


async def test_colors_that_come_later_change_only_their_rows() -> None:
    ready = asyncio.Event()
    with ThreadPoolExecutor(1) as executor:
        highlighter = Highlighter(executor, ready.set)
        stream = MarkdownStream(60, highlighter)
        code = 'text = """\nnot = code\n"""\n'
        stream.feed(LONG + f"```python\n{code}```\n\nend")
        stream.finish()
        rows = stream.take_finished()
        before = list(rows)
        async with asyncio.timeout(10):
            while len(highlighter._running):
                await ready.wait()
                ready.clear()
        for start, painted in stream.take_repainted():
            rows[start : start + len(painted)] = painted
        assert rows == markdown_rows(LONG + f"```python\n{code}```\n\nend", 60, highlighter)
        changed = [line.text for line, old in zip(rows, before, strict=True) if line != old]
        assert any("not = code" in text for text in changed)
        assert stream.take_repainted() == []


@pytest.mark.parametrize(
    ("text", "links"),
    [
        (
            "See https://example.org/a, or http://b.c/(d).",
            ["https://example.org/a", "http://b.c/(d)"],
        ),
        (
            "(https://a.b/c?d=e&f=%20)! **https://g.h**。",
            ["https://a.b/c?d=e&f=%20", "https://g.h"],
        ),
        ("漢https://a.b/。", ["https://a.b/"]),
        ("`https://a.b` ftp://a.b https:// xhttps://a.b https://a.b/ä", []),
        ("[https://a.b](https://c.d)", ["https://c.d"]),
    ],
)
def test_a_web_address_in_text_is_a_link_to_itself(text: str, links: list[str]) -> None:
    runs = [run for line in markdown_rows(text, 200, Highlighter()) for run in line.runs]
    assert [ink.link for _, ink in runs if ink.link] == links
    assert all(part == ink.link for part, ink in runs if ink.link)
