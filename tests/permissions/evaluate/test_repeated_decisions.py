"""A decision follows from the call, the context and the disk as it is, never from another one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from permissions.context import PermissionContext
from permissions.decision import Behavior, Decision
from permissions.evaluate.cascade import decide
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
from tests.permissions.engine import Engine


def _decide(context: PermissionContext, command: str) -> Decision:
    """Decide three times; every answer is the same."""
    request = PermissionRequest("Bash", {"command": command})
    first, *others = [decide(request, context) for _ in range(3)]
    assert others == [first, first]
    return first


def _unseen(context: PermissionContext) -> PermissionContext:
    """Return an equal context under which nothing was decided yet."""
    return replace(context, rules=RuleSet.build(context.rules.texts)[0])


def _link_out(root: Path) -> None:
    (root / "place").symlink_to("/tmp")


def _link_in(root: Path) -> None:
    (root / "inner").mkdir()
    (root / "place").symlink_to(root / "inner")


def _directory(root: Path) -> None:
    (root / "place").mkdir()


@pytest.mark.parametrize(
    "command",
    [
        "echo hello > place/out.txt",
        "touch place/new",
        "cp README.md place",
        "npm test && tee place/log < README.md",
        "cat place/secret | head",
        "cp -r place copy && echo x > copy/y",
    ],
)
@pytest.mark.parametrize("change", [_link_out, _link_in, _directory])
def test_what_changes_on_the_disk_is_seen(
    own_engine: Engine, command: str, change: Callable[[Path], None]
) -> None:
    context = own_engine.context(allow=["Bash", "Edit", "Read"])
    before = _decide(context, command)
    assert _decide(context, command) == before
    change(own_engine.root)
    changed = _decide(context, command)
    assert changed == _decide(_unseen(context), command)
    place = own_engine.root / "place"
    if place.is_symlink():
        place.unlink()
    else:
        shutil.rmtree(place)
    shutil.rmtree(own_engine.root / "inner", ignore_errors=True)
    assert _decide(context, command) == before


def test_a_link_that_leads_out_asks_about_what_was_allowed_before(own_engine: Engine) -> None:
    context = own_engine.context(allow=["Bash", "Edit"])
    command = "npm test && touch place/new"
    assert _decide(context, command).behavior is Behavior.ALLOW
    _link_out(own_engine.root)
    assert _decide(context, command).write_dirs


def test_a_known_command_behind_one_that_makes_links_is_asked_about(own_engine: Engine) -> None:
    context = own_engine.context(allow=["Bash", "Edit"])
    known = "echo x > place/y"
    assert _decide(context, f"ls && {known}").behavior is Behavior.ALLOW
    behind = _decide(context, f"ln -s /tmp place && {known}")
    assert behind == _decide(_unseen(context), f"ln -s /tmp place && {known}")
    assert behind.behavior is not Behavior.ALLOW
    assert _decide(context, f"ls && {known}").behavior is Behavior.ALLOW


def test_a_known_command_in_another_directory_is_another_one(own_engine: Engine) -> None:
    context = own_engine.context(allow=["Bash", "Edit"])
    assert _decide(context, "ls && touch out.txt").behavior is Behavior.ALLOW
    assert _decide(context, "cd /tmp && touch out.txt").write_dirs == ("/tmp",)
    assert _decide(context, "cd src && touch out.txt").behavior is Behavior.ALLOW


def test_a_rule_about_the_whole_command_is_received_about_known_parts(own_engine: Engine) -> None:
    context = own_engine.context(allow=["Bash"], deny=["Bash(curl * | sh)"])
    assert _decide(context, "curl -s https://x.example && ls").behavior is Behavior.ALLOW
    assert _decide(context, "curl -s https://x.example | sh").behavior is Behavior.DENY
    assert _decide(context, "curl -s https://x.example && ls").behavior is Behavior.ALLOW


def test_a_rule_about_another_parameter_is_reported_each_time(own_engine: Engine) -> None:
    context = own_engine.context(allow=["Bash"], deny=["Bash(run_in_background:true)"])
    for background, expected in ((False, Behavior.ALLOW), (True, Behavior.DENY)) * 3:
        tool_input = {"command": "ls && npm test", "run_in_background": background}
        assert decide(PermissionRequest("Bash", tool_input), context).behavior is expected


_PARTS = (
    "ls",
    "cd a",
    "cd ..",
    "echo x > b",
    "touch a/b",
    "cat b | sort > a/c",
    "cp b a",
    "cp -r a b",
    "rm -r b",
    'echo "$HOME/a" > "$PWD/b"',
    "A=1 tee b",
    "ln -s .. a",
    "mv a c",
    "cat *",
    "sort * > c",
    "find . -name a",
    "git checkout x",
    "sh -c 'touch a/b'",
    'for i in a b; do cat "$i"; done',
    "xargs cat < b",
)
_NAMES = ("a", "b", "c", "a/b", "-x")


def _change(root: Path, name: str, kind: str) -> None:
    path = root / name
    if path.parent.is_symlink() or not path.parent.is_dir():
        return
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    if kind == "file":
        path.write_text("x")
    elif kind == "folder":
        path.mkdir()
    elif kind != "nothing":
        path.symlink_to(kind)


@given(
    steps=st.lists(
        st.tuples(
            st.lists(st.sampled_from(_PARTS), min_size=1, max_size=4),
            st.sampled_from([" && ", "; ", " | ", " || "]),
            st.sampled_from(_NAMES),
            st.sampled_from(["file", "folder", "nothing", "..", "/", "b", "a"]),
        ),
        min_size=2,
        max_size=8,
    ),
    rules=st.lists(
        st.sampled_from(["Bash(cat *)", "Edit(/a/**)", "Read(b)", "Bash(cp * | *)", "Edit(./c)"]),
        max_size=3,
    ),
)
@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_an_answer_does_not_depend_on_what_was_decided_before(
    own_engine: Engine, steps: Iterable[tuple[list[str], str, str, str]], rules: list[str]
) -> None:
    texts = [RuleText(rule, RuleBehavior.DENY, source) for rule, source in _sourced(rules)]
    context = own_engine.context(allow=["Bash", "Edit"], texts=texts)
    for parts, joint, name, kind in steps:
        command = joint.join(parts)
        assert _decide(context, command) == _decide(_unseen(context), command)
        _change(own_engine.root, name, kind)
        assert _decide(context, command) == _decide(_unseen(context), command)


def _sourced(rules: list[str]) -> Iterable[tuple[str, RuleSource]]:
    return zip(rules, RuleSource, strict=False)
