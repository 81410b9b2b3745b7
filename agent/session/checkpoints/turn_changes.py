"""What one prompt changed in files: each as it was before it, and as it was after it.

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
"""Begins the ids under which the present is stored before files are restored."""
UNDO: Final = f"{REDO}undo-"
"""Of those the ones before edits are taken back."""
MAX_BYTES: Final = 2_000_000
"""Of one file; larger ones are named and not compared."""
MAX_FILE_BYTES: Final = 20_000_000
"""Of one file as it is now; larger ones are not even read."""


class TurnChange(Struct, frozen=True):
    """One file that a turn may have changed, and did."""

    path: Path
    old_text: str | None
    """None: there was no file."""
    new_text: str | None
    """None: there is no file."""
    note: str = ""
    """Why the texts are not there, for users; both are empty then."""


def turn_changes(
    snapshots: Sequence[Snapshot], turn_id: str, blobs: BlobStore
) -> tuple[TurnChange, ...]:
    """Return the files that differ, by path.

    A file is afterwards as the next turn that touched it found it, or as it is now. That the user
    took an edit back, and that back again, belongs to the turn of that edit.
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
    """There is nothing to compare line by line."""


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
