"""Rules in settings files: nothing else in the file changes, and no writer loses anything."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissions.grants.settings_writer import (
    StoreError,
    remove_rules,
    replace_rule,
    store_rules,
    undo,
)
from permissions.rule import RuleBehavior
from tests.examples import examples

ALLOW, DENY = RuleBehavior.ALLOW, RuleBehavior.DENY


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".agent" / "settings.json"


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def allow_of(file: Path) -> list[Any]:
    entries: list[Any] = json.loads(file.read_text())["permissions"]["allow"]
    return entries


def test_a_new_file_is_its_owner_s_alone(file: Path) -> None:
    receipt = store_rules(file, ALLOW, ["Bash(ls)"])
    assert receipt.changed_rules == ("Bash(ls)",)
    assert (
        file.read_text()
        == '{\n  "permissions": {\n    "allow": [\n      "Bash(ls)"\n    ]\n  }\n}\n'
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_everything_else_stays_in_its_order(file: Path) -> None:
    text = (
        '{\n\t"zeta": {"of": "somebody"},\n\t"permissions": {\n\t\t"deny": ["Read(x)"],\n'
        '\t\t"allow": [{"rule": "Bash(a)", "match": ["a"]}, 7],\n\t\t"own": null\n\t},\n'
        '\t"alpha": [1, 2.5, "ü"]\n}\n'
    )
    write(file, text)
    os.chmod(file, 0o640)
    store_rules(file, ALLOW, ["Bash(b)", "Bash(a)"])
    data = json.loads(file.read_text())
    assert list(data) == ["zeta", "permissions", "alpha"]
    assert list(data["permissions"]) == ["deny", "allow", "own"]
    assert data["permissions"]["allow"] == [{"rule": "Bash(a)", "match": ["a"]}, 7, "Bash(b)"]
    assert "\n\t\t" in file.read_text()
    assert "ü" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_is_there_already_changes_nothing(file: Path) -> None:
    write(file, '{"permissions": {"allow": ["Bash(ls)"]}}')
    before = file.stat()
    assert store_rules(file, ALLOW, ["Bash(ls)"]).changed_rules == ()
    assert remove_rules(file, ALLOW, ["Bash(rm)"]).changed_rules == ()
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_removed_rule_comes_back_to_its_place(file: Path) -> None:
    entries = ["Bash(a)", {"rule": "Bash(b)", "match": ["b"]}, "Bash(c)"]
    write(file, json.dumps({"permissions": {"allow": entries}}))
    removed = remove_rules(file, ALLOW, ["Bash(b)"])
    store_rules(file, ALLOW, ["Bash(by another)"])
    undo(removed)
    assert allow_of(file) == [*entries, "Bash(by another)"]


def test_an_added_rule_is_taken_back_alone(file: Path) -> None:
    added = store_rules(file, ALLOW, ["Bash(a)", "Bash(b)"])
    store_rules(file, ALLOW, ["Bash(c)"])
    assert undo(added).changed_rules == ("Bash(a)", "Bash(b)")
    assert allow_of(file) == ["Bash(c)"]


def test_an_edited_rule_keeps_its_place_and_can_be_undone(file: Path) -> None:
    store_rules(file, ALLOW, ["Bash(a)", "Bash(b)", "Bash(c)"])
    edited = replace_rule(file, ALLOW, "Bash(b)", "Bash(bb)")
    assert allow_of(file) == ["Bash(a)", "Bash(bb)", "Bash(c)"]
    undo(edited)
    assert allow_of(file) == ["Bash(a)", "Bash(b)", "Bash(c)"]
    with pytest.raises(StoreError, match="any more"):
        replace_rule(file, ALLOW, "Bash(gone)", "Bash(x)")


def test_writers_at_the_same_time_lose_nothing(file: Path) -> None:
    write(file, '{"kept": true}')
    start = threading.Barrier(6)

    def add(number: int) -> None:
        start.wait()
        for step in range(5):
            store_rules(file, DENY if number % 2 else ALLOW, [f"Bash({number} {step})"])

    threads = [threading.Thread(target=add, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    data = json.loads(file.read_text())
    assert data["kept"] is True
    assert len(data["permissions"]["allow"]) == len(data["permissions"]["deny"]) == 15
    assert os.listdir(file.parent) == ["settings.json"]


BROKEN = {
    "no JSON": "{",
    "no object": "[]",
    "comments": '{"a": 1} // x',
    "a key twice": '{"hooks": {}, "hooks": {"x": 1}}',
    "permissions no object": '{"permissions": []}',
    "rules no list": '{"permissions": {"allow": "Bash"}}',
    "too deep": "[" * 100_000,
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_left_as_it_is(file: Path, text: str) -> None:
    write(file, text)
    with pytest.raises(StoreError, match=r"settings\.json"):
        store_rules(file, ALLOW, ["Bash(ls)"])
    assert file.read_text() == text
    assert os.listdir(file.parent) == ["settings.json"]


def test_other_encodings_are_not_guessed(file: Path) -> None:
    write(file, "")
    file.write_bytes('{"a": "ü"}'.encode("latin-1"))
    with pytest.raises(StoreError, match="UTF-8"):
        store_rules(file, ALLOW, ["Bash(ls)"])


def test_half_a_surrogate_pair_survives(file: Path) -> None:
    write(file, '{"odd": "\\ud83d"}')
    store_rules(file, ALLOW, ["Bash(ls)"])
    assert json.loads(file.read_text())["odd"] == "\ud83d"


def test_entries_of_any_shape_are_no_trouble(file: Path) -> None:
    odd: list[Any] = [[], {}, {"rule": ["x"]}, None, 3, "Bash(ls)"]
    write(file, json.dumps({"permissions": {"allow": odd}}))
    store_rules(file, ALLOW, ["Bash(pwd)"])
    assert allow_of(file) == [*odd, "Bash(pwd)"]


def test_a_write_protected_file_stays_as_it_is(file: Path) -> None:
    write(file, "{}")
    os.chmod(file, 0o444)
    with pytest.raises(StoreError, match="write-protected"):
        store_rules(file, ALLOW, ["Bash(ls)"])
    assert file.read_text() == "{}"


def test_what_is_no_file_is_refused_without_waiting(file: Path) -> None:
    file.parent.mkdir()
    os.mkfifo(file)
    with pytest.raises(StoreError, match="not a regular file"):
        store_rules(file, ALLOW, ["Bash(ls)"])


def test_a_link_stays_a_link_and_its_target_is_written(file: Path, tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles" / "settings.json", '{"own": 1}')
    file.parent.mkdir()
    file.symlink_to(real)
    store_rules(file, ALLOW, ["Bash(ls)"])
    assert file.is_symlink()
    assert json.loads(real.read_text()) == {"own": 1, "permissions": {"allow": ["Bash(ls)"]}}


@pytest.mark.parametrize("link", ["file", "folder", "dangling"])
def test_a_repository_cannot_send_a_rule_elsewhere(tmp_path: Path, link: str) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    own = write(home / "settings.local.json", "{}")
    file = project / ".agent" / "settings.local.json"
    if link == "folder":
        file.parent.symlink_to(home)
    else:
        file.parent.mkdir()
        file.symlink_to(own if link == "file" else home / "new.json")
    with pytest.raises(StoreError, match="outside of"):
        store_rules(file, ALLOW, ["Bash(ls)"], within=project)
    assert own.read_text() == "{}"
    assert os.listdir(home) == ["settings.local.json"]


def test_a_link_in_a_circle_is_refused(file: Path) -> None:
    file.parent.mkdir()
    file.symlink_to(file)
    with pytest.raises(StoreError, match="is a link that leads back to itself"):
        store_rules(file, ALLOW, ["Bash(ls)"])


def test_a_directory_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".agent").write_text("a file")
    with pytest.raises(StoreError, match=r"settings\.json: "):
        store_rules(tmp_path / ".agent" / "settings.json", ALLOW, ["Bash(ls)"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(
    others=st.dictionaries(st.text().filter(lambda key: key != "permissions"), JSON, max_size=4),
    entries=st.lists(JSON, max_size=4),
    rules=st.lists(st.text(min_size=1), min_size=1, max_size=3),
)
def test_whatever_a_file_holds_is_kept_and_undone(
    tmp_path_factory: pytest.TempPathFactory,
    others: dict[str, Any],
    entries: list[Any],
    rules: list[str],
) -> None:
    file = tmp_path_factory.mktemp("store") / "settings.json"
    whole = {**others, "permissions": {"allow": entries, "x": 1}}
    file.write_text(json.dumps(whole))
    receipt = store_rules(file, ALLOW, rules)
    data = json.loads(file.read_text("utf-8"))
    assert data["permissions"].pop("allow")[: len(entries)] == entries
    assert data == {**others, "permissions": {"x": 1}}
    assert list(data) == list(whole)
    undo(receipt)
    assert json.loads(file.read_text("utf-8")) == whole
