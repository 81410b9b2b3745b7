"""The file changes of one turn: each file before and after it.

Next: `agent.session.checkpoints.checkpoint`, which stores the files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.session.checkpoints.blobs import BlobStore, PathState, Snapshot
from permissions.base.files.plain_file import read_plain
from permissions.base.text.failure_text import error_reason

REDO: Final = "redo-"
"""Prefix of ids under which the current state is stored before a restore."""
UNDO: Final = f"{REDO}undo-"
"""Prefix of ids for states before edits are undone."""
MAX_BYTES: Final = 2_000_000
"""Largest file to compare; larger ones are only named."""
MAX_FILE_BYTES: Final = 20_000_000
"""Largest current file to read."""


class TurnChange(Struct, frozen=True):
    """One file that a turn changed."""

    path: Path
    old_text: str | None
    """None if there was no file."""
    new_text: str | None
    """None if there is no file."""
    note: str = ""
    """Why there are no texts, for users; both are empty then."""


def turn_changes(
    snapshots: Sequence[Snapshot], turn_id: str, blobs: BlobStore
) -> tuple[TurnChange, ...]:
    """Return the changed files of a turn, by path.

    A file's state after the turn is that before the next turn that touched it, or the current
    one. Undoing an edit, and redoing it, counts for the turn of the edit.
    """
    first: dict[Path, Snapshot] = {}
    for snapshot in snapshots:
        if snapshot.turn_id == turn_id:
            first.setdefault(snapshot.path, snapshot)
    changes: list[TurnChange] = []
    for path, first_snapshot in sorted(first.items()):
        later = [
            s
            for s in snapshots
            if s.path == path and s.seq > first_snapshot.seq and s.turn_id != turn_id
        ]
        if later and later[0].turn_id.startswith(UNDO):
            later = [*dropwhile(lambda s: s.turn_id.startswith(REDO), later)]
        next_state = later[0].state if later else None
        change = _change(path, first_snapshot.state, next_state, blobs)
        if change is not None:
            changes.append(change)
    return tuple(changes)


def _change(
    path: Path, old_state: PathState, new_state: PathState | None, blobs: BlobStore
) -> TurnChange | None:
    if new_state is not None and old_state.same_as(new_state):
        return None
    try:
        old = _content(old_state, lambda: blobs.get(old_state.digest))
        if new_state is None:
            new = read_plain(path, MAX_FILE_BYTES) if path.is_file() else None
        else:
            state = new_state
            new = _content(state, lambda: blobs.get(state.digest))
        if old == new:
            return None
        return TurnChange(path, _text(old), _text(new))
    except _NoText as reason:
        return TurnChange(path, "", "", str(reason))
    except (OSError, ValueError) as error:
        return TurnChange(
            path, "", "", f"cannot be compared: {error_reason(error, names_file=False)}"
        )


class _NoText(Exception):
    """The content is not text that can be compared by lines."""


def _content(state: PathState, read: Callable[[], bytes]) -> bytes | None:
    match state.type:
        case "file":
            if state.size > MAX_BYTES:
                raise _NoText(f"too large to compare ({state.size:,} bytes)")
            return read()
        case "absent":
            return None
        case "link":
            raise _NoText("a link")
        case "not_kept":
            raise _NoText(f"not kept: {state.detail}")


def _text(data: bytes | None) -> str | None:
    if data is None:
        return None
    if len(data) > MAX_BYTES:
        raise _NoText(f"too large to compare ({len(data):,} bytes)")
    if b"\0" in data[:8_000]:
        raise _NoText("not text")
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
