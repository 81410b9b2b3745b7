"""Mentions in texts that are not trusted."""

from __future__ import annotations

from agent.files.mentions import MAX_PATH_CHARS, find_mentions


def test_a_word_that_no_path_can_be_is_none() -> None:
    assert find_mentions("see @a" + "." * 1_000_000) == ()
    assert find_mentions("@" + "a" * MAX_PATH_CHARS + " @b")[0][0].path == "a" * MAX_PATH_CHARS
    ((*readings,),) = find_mentions("@a...")
    assert [one.path for one in readings] == ["a...", "a..", "a.", "a"]
