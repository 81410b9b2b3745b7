"""The list of the program's texts is as the source is, but for what the last changes added."""

from __future__ import annotations

from benchmarks.strings import PAGE, strings
from tests.repo.checkout import ROOT

LAGGING: int = 20
"""One in so many texts may differ: changes that are made side by side must not all rewrite it."""


def test_the_list_of_texts_is_current() -> None:
    listed = set((ROOT / "docs" / PAGE).read_text("utf-8").splitlines())
    found = set(strings(ROOT).splitlines())
    assert len(found) > 1_500
    assert len(found ^ listed) < len(found) / LAGGING, "run: make docs"


def test_texts_are_found_and_what_is_no_text_is_not() -> None:
    page = strings(ROOT)
    assert "\n- Run this command?\n" in page
    assert "Where the cell layer hangs below Textual" not in page
    assert "You name conversations" not in page
