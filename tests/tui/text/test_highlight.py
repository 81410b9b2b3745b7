"""Colors come off the frame path: something readable at once, the right thing when it is ready."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from themes.theme import Role
from tui.text.highlight import Highlighter, language_of, lex_block

CODE = 'x = """one\nimport two\n"""\n'


def roles(line: tuple[tuple[str, object], ...]) -> list[object]:
    return [getattr(ink, "role", None) for _, ink in line]


async def test_a_string_over_several_lines_is_right_once_the_thread_is_done() -> None:
    ready = asyncio.Event()
    with ThreadPoolExecutor(1) as executor:
        highlighter = Highlighter(executor, ready.set)
        early = highlighter.block(CODE, "python")
        assert Role.SYNTAX_KEYWORD in roles(early[1])
        await ready.wait()
        assert highlighter.generation == 1
        assert set(roles(highlighter.block(CODE, "python")[1])) == {Role.SYNTAX_STRING}


def test_an_unknown_language_is_plain_text() -> None:
    assert Highlighter().block("a b", "nosuch") == Highlighter().block("a b", "")


@given(st.text(st.sampled_from("ab'\"\n\t #({[漢"), max_size=60))
def test_lexing_keeps_every_character(code: str) -> None:
    for language in ("python", "bash", "json"):
        lines = lex_block(code, language)
        assert "\n".join("".join(text for text, _ in line) for line in lines) == code


def test_language_by_file_name() -> None:
    assert [language_of(n) for n in ("a/b.py", "Makefile", "x.unknown", "C.RS")] == [
        "python",
        "make",
        "text",
        "rust",
    ]


async def test_a_thread_that_was_shut_down_costs_the_colors_only() -> None:
    executor = ThreadPoolExecutor(max_workers=1)
    executor.shutdown()
    highlighter = Highlighter(executor)
    lines = highlighter.block("a = 1\nb = 2", "python")
    assert ["".join(text for text, _ in line) for line in lines] == ["a = 1", "b = 2"]
    assert highlighter.take_unready() == frozenset()
