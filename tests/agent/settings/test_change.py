"""One setting changed, the rest of the file left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.settings.change import parse_value, set_value


def test_other_keys_and_their_order_stay(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"zeta": 1, "theme": "dark", "alpha": {"b": [1]}}')
    set_value(file, "theme", "light")
    set_value(file, "verbose", True)
    data = json.loads(file.read_text())
    assert list(data) == ["zeta", "theme", "alpha", "verbose"]
    assert data["theme"] == "light"
    set_value(file, "theme", None)
    assert "theme" not in json.loads(file.read_text())


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("thème", "x", "Unknown setting"),
        ("verbose", "maybe", "verbose"),
        ("maxTurns", 0, "maxTurns"),
    ],
)
def test_what_settings_would_not_take_is_refused(
    tmp_path: Path, key: str, value: object, said: str
) -> None:
    file = tmp_path / "settings.json"
    with pytest.raises(ConfigError, match=said):
        set_value(file, key, value)
    assert not file.exists()


def test_a_broken_file_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{ not json")
    with pytest.raises(ConfigError, match="not valid JSON"):
        set_value(file, "theme", "dark")
    assert file.read_text() == "{ not json"


def test_typed_values() -> None:
    assert [parse_value(t) for t in ("true", "3", "dark", '"x"')] == [True, 3, "dark", "x"]


@pytest.mark.parametrize("typed", ["Infinity", "NaN", "1e999", "-Infinity"])
def test_numbers_that_json_has_not_are_not_written(tmp_path: Path, typed: str) -> None:
    file = tmp_path / "settings.json"
    with pytest.raises(ConfigError):
        set_value(file, "maxBudgetUsd", parse_value(typed))
    assert not file.exists()


def test_rules_of_a_key_that_stands_twice_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('\ufeff{"permissions": {"deny": ["A"]}, "permissions": {"deny": ["B"]}}')
    set_value(file, "theme", "dark")
    data = json.loads(file.read_text())
    assert data == {"permissions": {"deny": ["A", "B"]}, "theme": "dark"}


def test_an_empty_file_holds_no_settings_yet(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(" \n")
    set_value(file, "theme", "dark")
    assert json.loads(file.read_text()) == {"theme": "dark"}
