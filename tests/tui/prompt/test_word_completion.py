"""Offers for commands and files."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.files.mention_text import mention_of
from agent.files.mentions import find_mentions
from tui.prompt.word_completion import (
    Candidate,
    complete,
    complete_shell,
    match_score,
    mention_prefix,
)

COMMANDS = [
    Candidate("clear", "Start over", aliases=("new",)),
    Candidate("compact", "Summarize the conversation"),
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
    assert found.apply_to("fix @slu now", 0) == ("fix @src/slug.py now", 17)


def test_a_directory_stays_open_for_its_files() -> None:
    found = complete("@src", 4, COMMANDS, FILES)
    assert found is not None
    assert found.apply_to("@src", 2) == ("@src/", 5)


def test_a_name_with_spaces_is_quoted() -> None:
    found = complete("@a", 2, COMMANDS, FILES)
    assert found is not None
    assert found.apply_to("@a", 1) == ('@"a b.py" ', 10)


@pytest.mark.parametrize(
    ("text", "query"), [("see @slu", "slu"), ('@"a', "a"), ("@", ""), ("a@b", None), ("", None)]
)
def test_what_is_looked_for(text: str, query: str | None) -> None:
    assert mention_prefix(text, len(text)) == query


def test_the_nearer_the_better() -> None:
    scores = [match_score("sl", text) for text in ("slug.py", "a/slug.py", "asl", "s/x/l")]
    assert scores == sorted(scores)
    assert match_score("xyz", "slug") == -1


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('see @"a b', "a b"),
        ('see @"a b" and', None),
        ('@"a\\"b', 'a"b'),
        ("x @src/", "src/"),
        ('@"one two/', "one two/"),
    ],
)
def test_an_open_quote_holds_spaces(text: str, query: str | None) -> None:
    assert mention_prefix(text, len(text)) == query


def test_a_directory_with_spaces_stays_open_for_more() -> None:
    found = complete("@one", 4, (), ["one two/", "one two/a.py"])
    assert found is not None
    text, cursor = found.apply_to("@one", 0)
    assert (text, cursor) == ('@"one two/', 10)
    again = complete(text, cursor, (), ["one two/a.py"])
    assert again is not None
    assert again.apply_to(text, 0) == ('@"one two/a.py" ', 16)


# No file name of a system holds a lone surrogate but those that stand for bytes; see below.
@given(
    st.text(
        st.characters(exclude_characters="\0/", codec="utf-8"),
        min_size=1,
        max_size=20,
    )
)
def test_every_name_that_is_picked_is_found_again(name: str) -> None:
    readings = find_mentions(f"look at {mention_of(name)} please")
    assert any(name == mention.path for found in readings for mention in found)


def test_names_that_are_no_text_are_found_again() -> None:
    name = os.fsdecode(b"caf\xe9\n.txt")
    assert mention_of(name) == '@"caf\\xe9\\n.txt"'
    (readings,) = find_mentions(mention_of(name))
    assert name in [mention.path for mention in readings]


def test_commands_that_begin_alike_come_before_those_that_hold_it() -> None:
    found = complete_shell("!st", 3, ["git status", "stat x", "st"])
    assert found is not None
    assert [candidate.label for candidate in found.candidates] == ["stat x", "git status"]
    assert complete_shell("!", 1, ["ls"]) is None
    assert complete_shell("!l s", 2, ["ls"]) is None
