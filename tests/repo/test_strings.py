"""The list of the program's texts is as the source is."""

from __future__ import annotations

from benchmarks.strings import PAGE, strings
from tests.repo.checkout import ROOT


def test_the_list_of_texts_is_current() -> None:
    found = strings(ROOT)
    assert found.count("\n- ") > 1_500
    assert found == (ROOT / "docs" / PAGE).read_text("utf-8"), "run: make docs"


def test_texts_are_found_and_what_is_no_text_is_not() -> None:
    page = strings(ROOT)
    assert "\n- Run this command?\n" in page
    assert "Where the cell layer hangs below Textual" not in page
    assert "You name conversations" not in page
