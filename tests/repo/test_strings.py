"""The list of the program's texts matches the source."""

from __future__ import annotations

from benchmarks.strings import PAGE, strings
from tests.repo.checkout import ROOT


def test_the_list_of_texts_is_current_and_has_nothing_else() -> None:
    page = strings(ROOT)
    assert page.count("\n- ") > 1_500
    assert page == (ROOT / "docs" / PAGE).read_text("utf-8"), "run: make docs"
    assert "\n- Run this command?\n" in page
    assert "Where the cell layer hangs below Textual" not in page
    assert "You name conversations" not in page
