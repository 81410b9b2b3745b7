"""The prompt history over starts and projects."""

from __future__ import annotations

from tui.editing.draft import Draft
from tui.prompt.prompt_history import PromptHistory


def typed(history: PromptHistory, *texts: str) -> None:
    for text in texts:
        history.add(Draft(text, len(text)))


def test_earlier_starts_come_before_this_one() -> None:
    history = PromptHistory()
    typed(history, "now")
    history.extend_older(["yesterday", "now", "last year"])
    found = [history.previous(Draft()) for _ in range(3)]
    assert [draft.text for draft in found if draft] == ["now", "yesterday", "last year"]


def test_walking_continues_while_older_entries_arrive() -> None:
    history = PromptHistory()
    typed(history, "a", "b")
    assert (history.previous(Draft()) or Draft()).text == "b"
    history.extend_older(["old"])
    assert (history.previous(Draft()) or Draft()).text == "a"
    assert (history.previous(Draft()) or Draft()).text == "old"


def test_scopes_of_the_search() -> None:
    history = PromptHistory()
    history.extend_older(["project fix"])
    typed(history, "session fix")
    history.set_everywhere(["other fix"])
    hits = {
        scope: [hit.text for skip in range(4) if (hit := history.search("fix", skip, scope))]
        for scope in ("session", "project", "everywhere")
    }
    assert hits == {
        "session": ["session fix"],
        "project": ["session fix", "project fix"],
        "everywhere": ["session fix", "project fix", "other fix"],
    }
