"""Parses and checks the keybindings file, which has Claude Code's format.

`{"bindings": [{"context": "Chat", "bindings": {"ctrl+e": "chat:stash", "ctrl+u": null}}]}`. A bad
entry is reported and ignored, the others apply. The caller reads the file and watches it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from tui.input.actions import ABSENT, ACTIONS_BY_ID, Context
from tui.input.dispatch import RESERVED_KEYS
from tui.input.key_names import Chord, KeySyntaxError, display_chord, parse_chord
from tui.input.keymap import COMMAND_PREFIX, BindingChange, Keymap

_UNREACHABLE: Final = frozenset({"capslock", "caps_lock"})
_NEEDED: Final = (
    "chat:submit",
    "confirm:yes",
    "confirm:no",
    "select:accept",
    "select:cancel",
)
"""Actions without which the program cannot be used; each keeps at least one key."""
_MULTIPLEXER_KEYS: Final = {"ctrl+b": "tmux", "ctrl+a": "GNU screen"}


class KeybindingIssue(StrEnum):
    """What is wrong with an entry."""

    PARSE_ERROR = "parse_error"
    UNKNOWN_CONTEXT = "unknown_context"
    UNKNOWN_ACTION = "unknown_action"
    BAD_KEY = "bad_key"
    RESERVED_KEY = "reserved_key"
    DUPLICATE = "duplicate"
    """The same key twice in one context; the later entry applies."""
    SHADOWED_CHORD = "shadowed_chord"
    """A chord that begins with a key bound to something else in the same context."""
    ABSENT_ACTION = "absent_action"
    """An action of Claude Code that has nothing to act on here."""
    UNTYPABLE = "untypable"
    """A character that could no longer be typed into the prompt."""
    LOCKED_OUT = "locked_out"
    """A required action would have no key left; it keeps its default keys."""
    MULTIPLEXER = "multiplexer"
    """A terminal multiplexer intercepts this key unless configured otherwise."""


class KeybindingWarning(Struct, frozen=True):
    """One remark about the file."""

    issue: KeybindingIssue
    message: str
    """What is wrong, with which value, and what to do."""
    line: int | None = None
    """Counted from 1; None if unknown."""
    is_ignored: bool = True
    """Whether the entry has no effect."""


class LoadedKeybindings(Struct, frozen=True):
    """A keymap and the warnings about the file it came from."""

    keymap: Keymap
    warnings: tuple[KeybindingWarning, ...]
    is_readable: bool = True
    """Whether the file could be parsed; if not, the keymap is the default one."""


def load_keybindings(text: str, defaults: Keymap) -> LoadedKeybindings:
    """Return the default keymap with the changes of the file's text applied. Never raises.

    A file that is not JSON, or whose "bindings" is not a list, changes nothing.
    """
    reader = _Reader(text)
    changes = tuple(reader.changes())
    keymap = defaults.with_changes(changes)
    restored_keys = tuple(_restored_keys(keymap, defaults))
    keymap = keymap.with_changes(restored_keys)
    return LoadedKeybindings(
        keymap,
        (
            *reader.warnings,
            *_chord_warnings(keymap, changes, reader),
            *(_lockout_warning(change, reader) for change in restored_keys),
        ),
        reader.is_readable,
    )


def _restored_keys(keymap: Keymap, defaults: Keymap) -> Iterator[BindingChange]:
    """Yield the default keys of required actions that the file left without a key."""
    for action_id in _NEEDED:
        if not keymap.keys_of(action_id):
            context = ACTIONS_BY_ID[action_id].context
            for chord in defaults.keys_of(action_id):
                yield BindingChange(context, chord, action_id)


def _lockout_warning(change: BindingChange, reader: _Reader) -> KeybindingWarning:
    return KeybindingWarning(
        KeybindingIssue.LOCKED_OUT,
        f"{display_chord(change.chord)} stays {change.action_id}, which would have no key at all; "
        "bind that to another key first",
        reader.line_of(" ".join(change.chord)),
    )


class _Reader:
    """Reads one file and collects warnings."""

    def __init__(self, text: str) -> None:
        self.warnings: list[KeybindingWarning] = []
        self.is_readable = True
        self._text = text
        self._lines = text.splitlines()
        self._actions_by_chord: dict[tuple[Context, Chord], str] = {}

    def changes(self) -> Iterator[BindingChange]:
        for block in self._blocks():
            context = self._context(block)
            bindings = block.get("bindings")
            if context is None:
                continue
            if not isinstance(bindings, _Pairs):
                self._warn(
                    KeybindingIssue.PARSE_ERROR,
                    f'"bindings" of {context} must be an object of keys and actions',
                )
                continue
            for keys, action in bindings.pairs:
                change = self._change(context, keys, action)
                if change is not None:
                    yield change

    def line_of(self, keys: str) -> int | None:
        """Return the first line that mentions the keys as a JSON string."""
        quoted_keys = json.dumps(keys, ensure_ascii=False)
        for number, line in enumerate(self._lines, 1):
            if quoted_keys in line:
                return number
        return None

    def _blocks(self) -> Iterator[_Pairs]:
        try:
            data = json.loads(self._text, object_pairs_hook=_Pairs)
        except json.JSONDecodeError as error:
            self._refuse(f"not JSON: {error.msg}", error.lineno)
            return
        except RecursionError:
            self._refuse("not JSON: nested too deeply")
            return
        blocks = data.get("bindings") if isinstance(data, _Pairs) else None
        if not isinstance(blocks, list):
            self._refuse('expected an object with a list "bindings"')
            return
        for block in blocks:
            if isinstance(block, _Pairs):
                yield block
            else:
                self._warn(
                    KeybindingIssue.PARSE_ERROR,
                    'every item of "bindings" must be an object with "context" and "bindings"',
                )

    def _context(self, block: _Pairs) -> Context | None:
        name = block.get("context")
        if isinstance(name, str) and name in {*Context}:
            return Context(name)
        contexts = [context.value for context in Context]
        self._warn(
            KeybindingIssue.UNKNOWN_CONTEXT,
            f"{name!r} is not a valid context{_did_you_mean(name, contexts)}; "
            f"known: {', '.join(contexts)}",
            self.line_of(name) if isinstance(name, str) else None,
        )
        return None

    def _change(self, context: Context, keys: str, action: object) -> BindingChange | None:
        line = self.line_of(keys)
        try:
            chord = parse_chord(keys)
        except KeySyntaxError as error:
            self._warn(KeybindingIssue.BAD_KEY, f"{error}", line)
            return None
        if not RESERVED_KEYS.isdisjoint(chord):
            self._warn(
                KeybindingIssue.RESERVED_KEY,
                f"{keys!r}: ctrl+c and ctrl+d are reserved (interrupt, quit); choose another key",
                line,
            )
            return None
        if not _UNREACHABLE.isdisjoint(chord) or "ctrl+m" in keys.lower().split():
            self._warn(
                KeybindingIssue.RESERVED_KEY,
                f"{keys!r} never reaches a program (ctrl+m is enter); choose another key",
                line,
            )
            return None
        if not self._is_action(action, line):
            return None
        if action is not None:
            self._note_use(context, chord, keys, line)
        return BindingChange(context, chord, action if isinstance(action, str) else None)

    def _is_action(self, action: object, line: int | None) -> bool:
        if action is None:
            return True
        if isinstance(action, str):
            names_command = action.startswith(COMMAND_PREFIX) and action != COMMAND_PREFIX
            if reason := ABSENT.get(action):
                self._warn(
                    KeybindingIssue.ABSENT_ACTION, f"{action!r} does nothing here: {reason}", line
                )
            if action in ACTIONS_BY_ID or names_command:
                return True
            self._warn(
                KeybindingIssue.UNKNOWN_ACTION,
                f"{action!r} is not a valid action{_did_you_mean(action, list(ACTIONS_BY_ID))}",
                line,
            )
            return False
        self._warn(
            KeybindingIssue.UNKNOWN_ACTION, f"{action!r} must be an action's id or null", line
        )
        return False

    def _note_use(self, context: Context, chord: Chord, keys: str, line: int | None) -> None:
        earlier = self._actions_by_chord.get((context, chord))
        if earlier is not None:
            self._warn(
                KeybindingIssue.DUPLICATE,
                f"{keys!r} is bound twice in {context}; the later entry is used",
                line,
                is_ignored=False,
            )
        self._actions_by_chord[context, chord] = keys
        is_typed = chord[0] == "space" or len(chord[0].removeprefix("shift+")) == 1
        if context in (Context.CHAT, Context.GLOBAL) and is_typed and chord != ("?",):
            self._warn(
                KeybindingIssue.UNTYPABLE,
                f"{keys!r}: what begins with {display_chord(chord[:1])} can no longer be typed "
                "into the prompt; add ctrl or alt",
                line,
                is_ignored=False,
            )
        multiplexer = _MULTIPLEXER_KEYS.get(chord[0])
        if multiplexer is not None:
            self._warn(
                KeybindingIssue.MULTIPLEXER,
                f"{keys!r}: {multiplexer} takes {display_chord(chord[:1])} for itself by default",
                line,
                is_ignored=False,
            )

    def _refuse(self, message: str, line: int | None = None) -> None:
        self.is_readable = False
        self._warn(KeybindingIssue.PARSE_ERROR, f"{message}; the key bindings are unchanged", line)

    def _warn(
        self,
        issue: KeybindingIssue,
        message: str,
        line: int | None = None,
        *,
        is_ignored: bool = True,
    ) -> None:
        self.warnings.append(KeybindingWarning(issue, message, line, is_ignored))


class _Pairs:
    """A JSON object that retains repeated keys, which a dict would hide."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs

    def get(self, key: str) -> object:
        """Return the last value of the key; None when it is missing."""
        mapping: Mapping[str, object] = dict(self.pairs)
        return mapping.get(key)


def _chord_warnings(
    keymap: Keymap, changes: tuple[BindingChange, ...], reader: _Reader
) -> Iterator[KeybindingWarning]:
    for change in changes:
        bindings = keymap.bindings_of(change.context)
        if change.action_id is None or len(change.chord) < 2:
            continue
        for length in range(1, len(change.chord)):
            shorter = bindings.get(change.chord[:length])
            if shorter is not None:
                keys = display_chord(change.chord)
                yield KeybindingWarning(
                    KeybindingIssue.SHADOWED_CHORD,
                    f"{keys} begins with {display_chord(change.chord[:length])}, which already "
                    f"does {shorter}: both will happen; unbind that one with null",
                    reader.line_of(" ".join(change.chord)),
                    is_ignored=False,
                )


def _did_you_mean(name: object, names: list[str]) -> str:
    close = difflib.get_close_matches(str(name), names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
