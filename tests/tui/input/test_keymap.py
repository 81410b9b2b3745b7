"""Keys to actions."""

from __future__ import annotations

import pytest

from tui.input.actions import ACTIONS, Context
from tui.input.dispatch import RESERVED_KEYS
from tui.input.key_names import KeySyntaxError, canonical_key, display_chord, parse_chord, parse_key
from tui.input.keymap import BindingChange, ChordReader, Match, Pending, default_keymap

CHAT = [Context.CHAT]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ctrl+K", "ctrl+k"),
        ("control+k", "ctrl+k"),
        ("cmd+k", "super+k"),
        ("Option+Shift+P", "alt+shift+p"),
        ("meta+p", "alt+p"),
        ("shift+alt+ctrl+x", "alt+ctrl+shift+x"),
        ("Esc", "escape"),
        ("return", "enter"),
        ("N", "shift+n"),
        ("?", "?"),
        ("+", "+"),
        ("ctrl++", "ctrl++"),
        ("ctrl+shift+-", "ctrl+_"),
        ("ctrl+m", "enter"),
        ("space", "space"),
        ("F5", "f5"),
    ],
)
def test_keys_are_spelled_in_many_ways(text: str, name: str) -> None:
    assert parse_key(text) == name


@pytest.mark.parametrize("text", ["", "ctrl+", "foo+x", "banana", "ctrl"])
def test_nonsense_is_no_key(text: str) -> None:
    with pytest.raises(KeySyntaxError):
        parse_chord(text)


@pytest.mark.parametrize(
    ("textual", "name"),
    [
        ("ctrl+underscore", "ctrl+_"),
        ("question_mark", "?"),
        ("N", "shift+n"),
        ("upper_n", "shift+n"),
        ("alt+shift+p", "alt+shift+p"),
        ("shift+ctrl+up", "ctrl+shift+up"),
        ("plus", "+"),
        ("reverse_solidus", "\\"),
        ("é", "é"),
        ("ctrl+@", "ctrl+@"),
        ("shift+tab", "shift+tab"),
    ],
)
def test_textuals_names_are_understood(textual: str, name: str) -> None:
    assert canonical_key(textual) == name


def test_every_action_has_one_entry_a_namespace_and_readable_keys() -> None:
    assert len({action.id for action in ACTIONS}) == len(ACTIONS)
    assert all(action.id.count(":") == 1 and action.description for action in ACTIONS)
    assert all(parse_chord(keys) for action in ACTIONS for keys in action.keys)


def test_no_default_but_the_reserved_ones_takes_a_reserved_key() -> None:
    takers = {
        action.id
        for action in ACTIONS
        for keys in action.keys
        if not RESERVED_KEYS.isdisjoint(parse_chord(keys))
    }
    assert takers == {
        "app:interrupt",
        "app:exit",
        "historySearch:cancel",
        "transcript:exit",
    }


@pytest.mark.parametrize(
    ("keys", "action"),
    [
        ("shift+tab", "chat:cycleMode"),
        ("ctrl+c", "app:interrupt"),
        ("ctrl+o", "app:toggleTranscript"),
        ("alt+p", "chat:modelPicker"),
        ("ctrl+r", "history:search"),
        ("ctrl+s", "chat:stash"),
    ],
)
def test_defaults_are_those_that_users_know(keys: str, action: str) -> None:
    meaning = ChordReader(default_keymap()).press(keys, CHAT)
    assert isinstance(meaning, Match)
    assert meaning.action_id == action


def test_an_inner_context_wins() -> None:
    reader = ChordReader(default_keymap())
    assert reader.press("up", [Context.AUTOCOMPLETE, Context.CHAT]) == Match(
        "autocomplete:previous", Context.AUTOCOMPLETE
    )


def test_a_chord_waits_and_then_acts() -> None:
    reader = ChordReader(default_keymap())
    assert reader.press("ctrl+x", CHAT) == Pending(("ctrl+x",))
    assert reader.press("ctrl+e", CHAT) == Match("chat:externalEditor", Context.CHAT)
    assert not reader.pending


def test_a_chord_that_does_not_continue_starts_afresh() -> None:
    reader = ChordReader(default_keymap())
    reader.press("ctrl+x", CHAT)
    assert reader.press("ctrl+s", CHAT) == Match("chat:stash", Context.CHAT)


def test_a_chord_is_forgotten_after_a_while() -> None:
    now = [0.0]
    reader = ChordReader(default_keymap(), clock=lambda: now[0])
    reader.press("ctrl+x", CHAT)
    now[0] = 1.5
    assert reader.press("ctrl+e", CHAT) is None


def test_escape_acts_and_escape_escape_is_another_action() -> None:
    reader = ChordReader(default_keymap())
    pressed = [reader.press("escape", CHAT) for _ in range(3)]
    names = [meaning.action_id for meaning in pressed if isinstance(meaning, Match)]
    assert names == ["chat:cancel", "chat:rewind", "chat:cancel"]


def test_changes_bind_and_unbind() -> None:
    keymap = default_keymap().with_changes(
        [
            BindingChange(Context.CHAT, ("ctrl+s",), None),
            BindingChange(Context.CHAT, ("ctrl+k", "ctrl+s"), "chat:stash"),
        ]
    )
    assert keymap.keys_of("chat:stash") == (("ctrl+k", "ctrl+s"),)
    assert keymap.resolve(("ctrl+s",), CHAT) is None
    assert keymap.display("chat:stash") == "ctrl+k ctrl+s"
    assert default_keymap().display("chat:stash") == "ctrl+s"


@pytest.mark.parametrize(
    ("chord", "shown"),
    [(("shift+tab",), "shift+tab"), (("super+k",), "cmd+k"), (("escape", "escape"), "esc esc")],
)
def test_keys_are_shown_as_users_write_them(chord: tuple[str, ...], shown: str) -> None:
    assert display_chord(chord) == shown
