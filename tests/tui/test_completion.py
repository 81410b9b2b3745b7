"""Offers for commands and files."""

from __future__ import annotations

import pytest

from tui.completion import Candidate, complete, match_score, mentioned

COMMANDS = [
    Candidate("clear", "Start over", ("new",)),
    Candidate("compact", "Summarise the conversation"),
    Candidate("cost"),
    Candidate("help"),
]
FILES = ["src/slug.py", "a b.py", "src/"]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("/co", ["compact", "cost"]),
        ("/", ["clear", "compact", "cost", "help"]),
        ("/etc/hosts", None),
        ("say /co", None),
        ("/new", ["clear"]),
        ("/summ", ["compact"]),
        ("see @slug", FILES),
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
    assert found.applied("@src", 2) == ("@src/", 5)


def test_a_name_with_spaces_is_quoted() -> None:
    found = complete("@a", 2, COMMANDS, FILES)
    assert found is not None
    assert found.applied("@a", 1) == ('@"a b.py" ', 10)


@pytest.mark.parametrize(
    ("text", "query"), [("see @slu", "slu"), ('@"a', "a"), ("@", ""), ("a@b", None), ("", None)]
)
def test_what_is_looked_for(text: str, query: str | None) -> None:
    assert mentioned(text, len(text)) == query


def test_the_nearer_the_better() -> None:
    scores = [match_score("sl", text) for text in ("slug.py", "a/slug.py", "asl", "s/x/l")]
    assert scores == sorted(scores)
    assert match_score("xyz", "slug") == -1
