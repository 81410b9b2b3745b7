"""Folders as users write them: nothing unseen makes one look like another."""

from __future__ import annotations

from pathlib import Path

from tui.app.workspace import from_home, short_directory

HOME = Path("/home/ada")


def test_a_directory_is_written_from_home() -> None:
    assert from_home(HOME, HOME) == "~"
    assert from_home(HOME / "slugs", HOME) == "~/slugs"
    assert from_home(Path("/srv/slugs"), HOME) == "/srv/slugs"
    assert short_directory(HOME / ("deep/" * 8) / "slugs", HOME) == "…/slugs"


def test_what_is_unseen_in_a_name_is_spelled_out() -> None:
    assert from_home(HOME / "slu\ngs\t\u200b\udcff", HOME) == r"~/slu\ngs\tU+200BU+DCFF"
    assert short_directory(Path("/srv/slu\ngs"), HOME) == r"/srv/slu\ngs"
