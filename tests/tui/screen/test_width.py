"""Clusters and widths."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import wcwidth

from tui.screen.width import CLUSTER_LIMIT, clusters, is_plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ab", [("a", 1), ("b", 1)]),
        ("世界", [("世", 2), ("界", 2)]),
        ("e\u0301x", [("e\u0301", 1), ("x", 1)]),
        ("👩\u200d💻!", [("👩\u200d💻", 2), ("!", 1)]),
        ("🇫🇷", [("🇫🇷", 2)]),
        ("❤\ufe0f", [("❤\ufe0f", 2)]),
        ("a\u200bb", [("a\u200b", 1), ("b", 1)]),
        ("\u0301a", [("a", 1)]),
        ("a\x1b[31m\tb", [("a", 1), ("[", 1), ("3", 1), ("1", 1), ("m", 1), ("b", 1)]),
        ("a\ud800b", [("a", 1), ("b", 1)]),
        ("", []),
    ],
)
def test_clusters(text: str, expected: list[tuple[str, int]]) -> None:
    assert list(clusters(text)) == expected


def test_a_pile_of_marks_is_cut() -> None:
    ((grapheme, width),) = clusters("a" + "\u0301" * 1000)
    assert (len(grapheme), width) == (CLUSTER_LIMIT, 1)


def test_plain_characters_are_clusters_of_one_cell() -> None:
    plain = [chr(code) for code in range(0x3000) if is_plain(chr(code))]
    assert len(plain) > 900
    assert {wcwidth.wcwidth(character) for character in plain} == {1}
    text = "".join(plain)
    assert len(list(wcwidth.iter_graphemes(text))) == len(text)


def test_nothing_loads_the_width_tables_before_they_are_needed() -> None:
    code = (
        "import sys, tui.screen.presenter, tui.input.routed_app; "
        "from tui.screen.width import text_width; text_width('─ é ▔ abc'); "
        "print('wcwidth' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_direction_controls_turn_nothing_round() -> None:
    assert clusters("a\u202eb\u2066c\u2069d") == (("a", 1), ("b", 1), ("c", 1), ("d", 1))
