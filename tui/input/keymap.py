"""Maps keys and chords to actions, by context.

`Keymap` is immutable; a changed keybindings file makes a new one. `ChordReader` holds the only
state: the keys of a chord that were typed so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from tui.input.actions import ACTIONS, Context
from tui.input.key_names import Chord, canonical_key, display_chord, parse_chord

CHORD_LIMIT_S: Final = 1.0
"""How long the first key of a chord waits for the next one."""

COMMAND_PREFIX: Final = "command:"
"""An action id "command:name" runs the slash command of that name."""

Bindings = Mapping[Context, Mapping[Chord, str]]


class BindingChange(Struct, frozen=True):
    """One line of a keybindings file: bind a chord to an action, or to nothing."""

    context: Context
    chord: Chord
    action_id: str | None


class Match(Struct, frozen=True):
    """The keys typed so far are a binding."""

    action_id: str
    context: Context


class Pending(Struct, frozen=True):
    """The keys typed so far begin a chord; the key is consumed."""

    chord: Chord


class Keymap:
    """All bindings in force."""

    __slots__ = ("_bindings", "_keys", "_prefixes")

    def __init__(self, bindings: Bindings) -> None:
        """Take complete bindings; `default_keymap` and `with_changes` make them."""
        self._bindings = MappingProxyType(
            {context: dict(chords) for context, chords in bindings.items()}
        )
        self._prefixes = {
            context: {chord[:length] for chord in chords for length in range(1, len(chord))}
            for context, chords in self._bindings.items()
        }
        self._keys: dict[str, tuple[Chord, ...]] = {}
        """Chords by action id, precomputed: frames show some while a turn runs."""
        for chords in self._bindings.values():
            for chord, action_id in chords.items():
                self._keys[action_id] = (*self._keys.get(action_id, ()), chord)

    def with_changes(self, changes: Iterable[BindingChange]) -> Keymap:
        """Return the keymap with the changes applied in order; a None action unbinds."""
        bindings = {context: dict(chords) for context, chords in self._bindings.items()}
        for change in changes:
            chords = bindings.setdefault(change.context, {})
            if change.action_id is None:
                chords.pop(change.chord, None)
            else:
                chords[change.chord] = change.action_id
        return Keymap(bindings)

    def resolve(self, chord: Chord, contexts: Sequence[Context]) -> Match | Pending | None:
        """Return what the keys mean in these contexts, innermost first; Global is asked last.

        A complete binding in an inner context takes precedence over the beginning of a chord in an
        outer one; within one context, over a longer chord that begins with it.
        """
        for context in (*contexts, Context.GLOBAL):
            action_id = self._bindings.get(context, {}).get(chord)
            if action_id is not None:
                return Match(action_id, context)
            if chord in self._prefixes.get(context, ()):
                return Pending(chord)
        return None

    def continuations(self, chord: Chord, contexts: Sequence[Context]) -> list[tuple[Chord, str]]:
        """Return the keys that may follow the beginning of a chord, each with its action's id."""
        length = len(chord)
        actions: dict[Chord, str] = {}
        for context in (*contexts, Context.GLOBAL):
            for keys, action_id in self._bindings.get(context, {}).items():
                if len(keys) > length and keys[:length] == chord:
                    actions.setdefault(keys[length:], action_id)
        return list(actions.items())

    def begins_chord(self, chord: Chord, contexts: Sequence[Context]) -> bool:
        """Return whether a longer binding begins with these keys."""
        return any(
            chord in self._prefixes.get(context, ()) for context in (*contexts, Context.GLOBAL)
        )

    def keys_of(self, action_id: str) -> tuple[Chord, ...]:
        """Return the chords bound to an action, in the order they were bound."""
        return self._keys.get(action_id, ())

    def display(self, action_id: str) -> str:
        """Return the first chord of an action in display form; "" when it is unbound."""
        chords = self.keys_of(action_id)
        return display_chord(chords[0]) if chords else ""

    def bindings_of(self, context: Context) -> Mapping[Chord, str]:
        """Return the bindings of one context."""
        return MappingProxyType(self._bindings.get(context, {}))


def default_keymap() -> Keymap:
    """Return the keymap of the action table."""
    bindings: dict[Context, dict[Chord, str]] = {context: {} for context in Context}
    for action in ACTIONS:
        for keys in action.keys:
            bindings[action.context].setdefault(parse_chord(keys), action.id)
    return Keymap(bindings)


class ChordReader:
    """Reads single keys and reports when they complete a binding."""

    def __init__(self, keymap: Keymap, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.keymap = keymap
        """Replace it when the keybindings file changes."""
        self._clock = clock
        self._prefix: Chord = ()
        self._typed_at_s = float("-inf")

    @property
    def pending(self) -> Chord:
        """The keys of an unfinished chord; empty when there is none. For the footer."""
        return self._prefix

    def continues(self, textual_key: str, contexts: Sequence[Context]) -> bool:
        """Return whether a key would continue an unfinished chord."""
        if not self._prefix or self._clock() - self._typed_at_s > CHORD_LIMIT_S:
            return False
        chord = (*self._prefix, canonical_key(textual_key))
        return self.keymap.resolve(chord, contexts) is not None

    def press(self, textual_key: str, contexts: Sequence[Context]) -> Match | Pending | None:
        """Return what a key reported by Textual means now.

        A key that does not continue an unfinished chord, or comes too late, starts afresh.
        """
        key = canonical_key(textual_key)
        now_s = self._clock()
        prefix = self._prefix if now_s - self._typed_at_s <= CHORD_LIMIT_S else ()
        self._prefix = ()
        resolution = self.keymap.resolve((*prefix, key), contexts)
        is_first = not prefix
        if resolution is None and prefix:
            is_first = True
            resolution = self.keymap.resolve((key,), contexts)
        if isinstance(resolution, Pending):
            self._prefix = resolution.chord
        elif resolution is not None and is_first and self.keymap.begins_chord((key,), contexts):
            # Esc is bound, and so is Esc Esc: the first Esc acts and still begins the chord.
            self._prefix = (key,)
        self._typed_at_s = now_s
        return resolution
