"""Hunks as hooks read them, compared with what they were made from."""

from __future__ import annotations

import random

import pytest

from agent.tools.files.structured_patch import structured_patch


def _applied(old: str, hunks: list[dict[str, object]]) -> list[str]:
    lines, result, place = old.splitlines(), [], 0
    for hunk in hunks:
        start, texts = hunk["oldStart"], hunk["lines"]
        assert isinstance(start, int)
        assert isinstance(texts, list)
        result += lines[place : start - 1]
        assert len(result) + 1 == hunk["newStart"]
        old_lines = [text[1:] for text in texts if text[0] in " -"]
        assert old_lines == lines[start - 1 : start - 1 + len(old_lines)]
        assert len(old_lines) == hunk["oldLines"]
        new_lines = [text[1:] for text in texts if text[0] in " +"]
        assert len(new_lines) == hunk["newLines"]
        result += new_lines
        place = start - 1 + len(old_lines)
    return result + lines[place:]


def test_a_change_has_three_lines_of_context() -> None:
    old = "".join(f"{number}\n" for number in range(1, 11))
    assert structured_patch(old, old.replace("5\n", "five\n")) == [
        {
            "oldStart": 2,
            "oldLines": 7,
            "newStart": 2,
            "newLines": 7,
            "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"],
        }
    ]


def test_a_new_or_unchanged_file_has_no_hunk() -> None:
    assert structured_patch("", "a\n") == []
    assert structured_patch("a\n", "a\n") == []


@pytest.mark.parametrize("seed", range(60))
def test_hunks_lead_from_the_old_text_to_the_new(seed: int) -> None:
    source = random.Random(seed)
    count = 3_000 if seed < 3 else 40
    old = [source.choice("abcdef") for _ in range(count)]
    new = list(old)
    for _ in range(source.randrange(1, 8)):
        place = source.randrange(len(new))
        new[place : place + source.randrange(3)] = source.choices("xyz", k=source.randrange(3))
    if seed < 2:
        new = source.choices("uvw", k=3_000)
    old_text, new_text = "\n".join(old) + "\n", "\n".join(new) + "\n"
    assert _applied(old_text, structured_patch(old_text, new_text)) == new_text.splitlines()
