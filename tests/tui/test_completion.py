"""Offers for commands and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.completion import Candidate, complete, list_files, match_score

COMMANDS = [Candidate("clear"), Candidate("compact"), Candidate("cost"), Candidate("help")]
FILES = ["README.md", "src/", "src/slug.py", "tests/test_slug.py"]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("/co", ["compact", "cost"]),
        ("/", ["clear", "compact", "cost", "help"]),
        ("/etc/hosts", None),
        ("say /co", None),
        ("see @slug", ["src/slug.py", "tests/test_slug.py"]),
        ("@tslug", ["tests/test_slug.py"]),
        ("@nosuchfile", None),
        ("mail a@b", None),
    ],
)
def test_offers(text: str, labels: list[str] | None) -> None:
    found = complete(text, len(text), COMMANDS, FILES)
    assert (found and [c.label for c in found.candidates]) == labels


def test_an_offer_replaces_the_word_at_the_cursor() -> None:
    found = complete("fix @slu now", 8, COMMANDS, FILES)
    assert found is not None
    assert found.applied("fix @slu now", 0) == ("fix @src/slug.py now", 17)


def test_a_folder_stays_open_for_its_files() -> None:
    found = complete("@src", 4, COMMANDS, FILES)
    assert found is not None
    assert found.applied("@src", 0) == ("@src/", 5)


def test_the_nearer_the_better() -> None:
    scores = [match_score("sl", text) for text in ("slug.py", "a/slug.py", "asl", "s/x/l")]
    assert scores == sorted(scores)
    assert match_score("xyz", "slug") == -1


def test_files_are_listed_without_what_nobody_means(tmp_path: Path) -> None:
    for name in ("a.py", "src/b.py", ".git/config", "node_modules/x.js", "odd\x1bname"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    assert list_files(tmp_path) == ["src/", "a.py", "src/b.py"]
