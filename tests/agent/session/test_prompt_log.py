"""What was typed, kept for the next time."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.session import prompt_log
from agent.session.prompt_log import PromptLog, TypedPrompt
from tests.examples import examples


def texts(found: tuple[TypedPrompt, ...]) -> list[str]:
    return [prompt.text for prompt in found]


@pytest.fixture
def log(tmp_path: Path) -> PromptLog:
    return PromptLog(tmp_path, Path("/home/ada/a"))


def test_newest_first_each_once(log: PromptLog) -> None:
    for number, text in enumerate(["a", "b", "a", "c\nd"]):
        log.add(TypedPrompt(text, "s", number))
    assert texts(log.recent(10)) == ["c\nd", "a", "b"]
    assert texts(log.recent(2)) == ["c\nd", "a"]
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_scopes(tmp_path: Path, log: PromptLog) -> None:
    other = PromptLog(tmp_path, Path("/home/ada/b"))
    log.add(TypedPrompt("mine", "s1", 1))
    other.add(TypedPrompt("other", "s3", 2))
    log.add(TypedPrompt("later", "s2", 3))
    assert texts(log.recent(9, scope="session", session_id="s1")) == ["mine"]
    assert texts(log.recent(9)) == ["later", "mine"]
    assert texts(log.recent(9, scope="everywhere")) == ["later", "other", "mine"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30))
@given(st.lists(st.text(min_size=1, max_size=60), max_size=12, unique=True))
def test_any_text_comes_back(tmp_path: Path, typed: list[str]) -> None:
    log = PromptLog(tmp_path / "h", Path("/x"))
    log.path.unlink(missing_ok=True)
    for number, text in enumerate(typed):
        log.add(TypedPrompt(text, "s", number))
    assert texts(log.recent(100)) == typed[::-1]


def test_lines_that_cannot_be_read_are_left_out(log: PromptLog) -> None:
    log.add(TypedPrompt("a", "s", 1))
    with log.path.open("ab") as file:
        file.write(b'{"text": "half\n\xff\xfe\n[]\n{"text": 3, "session": 1, "at": 2}\n')
    log.add(TypedPrompt("b", "s", 2))
    assert texts(log.recent(9)) == ["b", "a"]


def test_a_long_file_is_read_from_its_end_and_loses_its_older_half(
    log: PromptLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_log, "MAX_FILE_BYTES", 200_000)
    for number in range(300):
        log.add(TypedPrompt(f"{number} {'x' * 1_000}", "s", number))
    found = log.recent(1_000)
    assert found[0].text.startswith("299 ")
    assert 100 <= len(found) < 300
    assert log.path.stat().st_size <= 200_000


def test_a_missing_file_is_empty(log: PromptLog) -> None:
    assert log.recent(5) == ()
    assert log.recent(5, scope="everywhere") == ()
