"""The keybindings file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.input.actions import Context
from tui.input.keybindings import KeybindingIssue, load_keybindings
from tui.input.keymap import default_keymap


def _file(bindings: dict[str, object], context: str = "Chat") -> str:
    return json.dumps({"bindings": [{"context": context, "bindings": bindings}]}, indent=2)


def test_a_good_file_changes_the_defaults_and_says_nothing() -> None:
    loaded = load_keybindings(
        _file({"ctrl+u": None, "Ctrl+Q": "chat:stash", "ctrl+k ctrl+h": "command:help"}),
        default_keymap(),
    )
    assert loaded.warnings == ()
    chat = loaded.keymap.bindings_of(Context.CHAT)
    assert chat["ctrl+q",] == "chat:stash"
    assert chat["ctrl+k", "ctrl+h"] == "command:help"


@pytest.mark.parametrize(
    ("text", "issue", "line"),
    [
        ("{", KeybindingIssue.PARSE_ERROR, 1),
        ("[]", KeybindingIssue.PARSE_ERROR, None),
        ('{"bindings": [3]}', KeybindingIssue.PARSE_ERROR, None),
        (_file({"ctrl+q": "chat:stash"}, "Chatt"), KeybindingIssue.UNKNOWN_CONTEXT, 4),
        (_file({"ctrl+q": "chat:stahs"}), KeybindingIssue.UNKNOWN_ACTION, 6),
        (_file({"ctrl+q": "command:"}), KeybindingIssue.UNKNOWN_ACTION, 6),
        (_file({"ctrl+q": 3}), KeybindingIssue.UNKNOWN_ACTION, 6),
        (_file({"foo+q": "chat:stash"}), KeybindingIssue.BAD_KEY, 6),
        (_file({"ctrl+c": "chat:stash"}), KeybindingIssue.RESERVED_KEY, 6),
        (_file({"ctrl+x ctrl+d": "chat:stash"}), KeybindingIssue.RESERVED_KEY, 6),
        (_file({"ctrl+d": None}), KeybindingIssue.RESERVED_KEY, 6),
        (_file({"ctrl+m": "chat:stash"}), KeybindingIssue.RESERVED_KEY, 6),
    ],
)
def test_a_bad_entry_is_reported_and_has_no_effect(
    text: str, issue: KeybindingIssue, line: int | None
) -> None:
    loaded = load_keybindings(text, default_keymap())
    (warning,) = loaded.warnings
    assert (warning.issue, warning.line, warning.is_ignored) == (issue, line, True)
    assert loaded.keymap.bindings_of(Context.CHAT) == default_keymap().bindings_of(Context.CHAT)


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        (
            '{"bindings": [{"context": "Chat", "bindings": '
            '{"ctrl+q": "chat:stash", "ctrl+q": "chat:undo"}}]}',
            KeybindingIssue.DUPLICATE,
        ),
        (_file({"ctrl+b": "chat:stash"}), KeybindingIssue.MULTIPLEXER),
        (_file({"ctrl+s ctrl+t": "chat:undo"}), KeybindingIssue.SHADOWED_CHORD),
        (_file({"a": "chat:stash"}), KeybindingIssue.UNTYPABLE),
        (_file({"space s": "chat:stash"}), KeybindingIssue.UNTYPABLE),
        (_file({"Q": "chat:stash"}), KeybindingIssue.UNTYPABLE),
    ],
)
def test_a_doubtful_entry_is_reported_and_counts(text: str, issue: KeybindingIssue) -> None:
    loaded = load_keybindings(text, default_keymap())
    assert [(warning.issue, warning.is_ignored) for warning in loaded.warnings] == [(issue, False)]
    assert loaded.keymap.bindings_of(Context.CHAT) != default_keymap().bindings_of(Context.CHAT)


@pytest.mark.parametrize(
    ("context", "bindings", "action"),
    [
        ("Chat", {"enter": None}, "chat:submit"),
        ("Chat", {"enter": "chat:newline"}, "chat:submit"),
        ("Confirmation", {"n": None, "escape": None}, "confirm:no"),
        ("Select", {"enter": None}, "select:accept"),
    ],
)
def test_no_one_locks_themselves_out(
    context: str, bindings: dict[str, object], action: str
) -> None:
    defaults = default_keymap()
    loaded = load_keybindings(_file(bindings, context), defaults)
    assert loaded.keymap.keys_of(action) == defaults.keys_of(action)
    assert {warning.issue for warning in loaded.warnings} == {KeybindingIssue.LOCKED_OUT}
    assert action in loaded.warnings[0].message
    assert loaded.warnings[0].line


def test_a_key_may_move_away_from_what_is_needed() -> None:
    loaded = load_keybindings(
        _file({"enter": "chat:newline", "ctrl+enter": "chat:submit"}), default_keymap()
    )
    assert loaded.warnings == ()
    assert loaded.keymap.keys_of("chat:submit") == (("ctrl+enter",),)


def test_the_rest_of_a_file_counts() -> None:
    loaded = load_keybindings(_file({"nope+x": "chat:undo", "f5": "chat:undo"}), default_keymap())
    assert ("f5",) in loaded.keymap.keys_of("chat:undo")


def test_a_misspelled_action_gets_a_suggestion() -> None:
    (warning,) = load_keybindings(_file({"f5": "chat:cylceMode"}), default_keymap()).warnings
    assert "did you mean 'chat:cycleMode'?" in warning.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["bindings", "context", "ctrl+q", "x y"]), inner)
    ),
    max_leaves=8,
)


@given(JSON)
def test_no_file_makes_it_fail(data: object) -> None:
    load_keybindings(json.dumps(data), default_keymap())
