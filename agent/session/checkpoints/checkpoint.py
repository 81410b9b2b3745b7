"""Stores files before each change, so that turns can be undone, file by file, and redone.

Snapshots are stored in the session's directory, outside the project; a log beside them has the
state of each path before each change. Next: `agent.session.checkpoints.blobs`,
`agent.session.checkpoints.worktree`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from agent.errors import SessionError
from agent.session.checkpoints.blobs import FILES_NAME, LOG_NAME, BlobStore, PathState, Snapshot
from agent.session.checkpoints.turn_changes import REDO, UNDO, TurnChange, turn_changes
from agent.session.checkpoints.worktree import Listing, Worktree
from agent.session.record_lines import Line, read_forwards
from agent.session.transcript import Transcript
from agent.tools.base import ToolError
from agent.tools.files.atomic_write import remove_file, replace_file, set_mode
from permissions.base.text.failure_text import error_reason

_SEALED: Final = ("kind", "turn_id", "tool_use_id", "path", "state")


class FileChange(Struct, frozen=True):
    """What a restore does to one path."""

    path: Path
    action: Literal["write", "delete", "cannot"]
    current: PathState
    target: PathState
    detail: str = ""
    """For `cannot`, the reason, for users."""


class Preview(Struct, frozen=True):
    """What a restore would do, without having done it."""

    turn_id: str
    changes: tuple[FileChange, ...]
    """Changes by path, without files that already have the old state."""
    not_covered: tuple[str, ...]
    """Possible changes by commands that no snapshot covers, for users."""


class RestoreResult(Struct, frozen=True):
    """What a restore did."""

    done_changes: tuple[FileChange, ...]
    failures: tuple[tuple[FileChange, str], ...]
    redo_id: str
    """Pass it to `preview` and `restore` to revert the restore."""


class _FileEdit(Struct):
    """A call's change of one file."""

    path: Path
    old_state: PathState
    new_state: PathState | None = None
    """None until the call has ended."""


class Checkpoints:
    """Snapshots of one session. Implements `CheckpointPort`."""

    def __init__(
        self,
        directory: Path,
        worktree: Worktree,
        *,
        turn_id: Callable[[], str],
        may_write: Callable[[Path], bool],
        seal: Callable[[Mapping[str, object]], str],
    ) -> None:
        """`directory` is the session's; `turn_id` returns the id of the current turn.

        `seal` returns the seal of a snapshot. Snapshots without it are not restored: they may come
        from another machine, and a restore writes protected files as well.
        """
        self._log_path = directory / LOG_NAME
        self._blobs = BlobStore(directory / FILES_NAME)
        self._worktree = worktree
        self._turn_id = turn_id
        self._may_write = may_write
        self._seal = seal
        self._log: Transcript | None = None
        self._snapshots: list[Snapshot] = []
        self._gaps: list[tuple[int, str, str]] = []  # (seq, turn, what is not covered)
        self._turns: list[str] = []
        self._lock = asyncio.Lock()
        self._running: dict[str, Listing] = {}
        self._edits: dict[str, _FileEdit] = {}
        self._read_log()

    async def before_change(self, path: Path, *, tool_use_id: str) -> None:
        """Store the file at a canonical path, or record that it does not exist.

        Raises:
            ToolError: it cannot be stored; then the change must not happen.
        """
        async with self._lock:
            try:
                await asyncio.to_thread(self._store, path, tool_use_id, self._turn_id())
            except (OSError, SessionError) as error:
                raise ToolError(
                    f"A copy of {path} could not be saved for undo, "
                    f"so it was not changed: {error_reason(error)}"
                ) from error

    async def after_change(self, tool_use_id: str) -> None:
        """Remember a file's state after a call, so that `undo` detects later changes."""
        if (edit := self._edits.get(tool_use_id)) is not None:
            async with self._lock:
                edit.new_state = await asyncio.to_thread(self._current_state, edit.path)

    async def before_command(self, tool_use_id: str) -> tuple[str, ...]:
        """Store files that a shell command might change; return texts about what is not covered.

        Never raises: an incomplete undo does not prevent a command, but is reported.
        """
        async with self._lock:
            return await asyncio.to_thread(self._before_command, tool_use_id, self._turn_id())

    async def after_command(self, tool_use_id: str) -> None:
        """Get the old content of files that the command changed from git. Never raises."""
        async with self._lock:
            await asyncio.to_thread(self._after_command, tool_use_id, self._turn_id())

    @property
    def turns(self) -> tuple[str, ...]:
        """Ids of turns with snapshots, oldest first, including redo ids of restores."""
        return tuple(self._turns)

    def files_of(self, turn_id: str) -> tuple[Path, ...]:
        """Return the paths that a turn (or a restore) may have changed."""
        paths = (s.path for s in self._snapshots if s.turn_id == turn_id)
        return tuple(sorted(set(paths)))

    async def changes_of(self, turn_id: str) -> tuple[TurnChange, ...]:
        """Return a turn's changes by path, without unchanged files."""
        async with self._lock:
            snapshots = tuple(self._snapshots)
            return await asyncio.to_thread(turn_changes, snapshots, turn_id, self._blobs)

    async def preview(self, turn_id: str, paths: Iterable[Path] | None = None) -> Preview:
        """Return what a restore to the state before a turn would change; `paths` limits it.

        Raises:
            SessionError: the turn has no snapshots.
        """
        async with self._lock:
            return await asyncio.to_thread(self._preview, turn_id, paths)

    async def restore(
        self, turn_id: str, paths: Iterable[Path] | None = None, *, redo_id: str
    ) -> RestoreResult:
        """Restore files to their state before a turn; the current state is stored as `redo_id`.

        Failures of single files are reported, and the others are restored. Raises SessionError if
        the current state cannot be stored, without having changed anything.
        """
        async with self._lock:
            return await asyncio.to_thread(self._restore, turn_id, paths, redo_id)

    async def undo(self, tool_use_ids: Sequence[str], *, redo_id: str) -> RestoreResult:
        """Restore the files of some calls, given in order, to their state before the first.

        A file that changed since is reported and not restored. Otherwise like `restore`.
        """
        async with self._lock:
            return await asyncio.to_thread(self._undo, tool_use_ids, redo_id)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
            self._log = None

    # -- storing ----------------------------------------------------------------------------

    def _store(self, path: Path, tool_use_id: str, turn_id: str) -> None:
        state = self._blobs.capture(path)
        self._edits[tool_use_id] = _FileEdit(path, state)
        if not any(s.path == path and s.turn_id == turn_id for s in self._snapshots):
            self._add_snapshot(path, state, tool_use_id, turn_id)
            self._sync()

    def _before_command(self, tool_use_id: str, turn_id: str) -> tuple[str, ...]:
        listing = self._worktree.changed_files()
        self._running[tool_use_id] = listing
        not_covered = list(listing.not_covered)
        already = {s.path for s in self._snapshots if s.turn_id == turn_id}
        try:
            for path in listing.paths:
                if path in already:
                    continue
                try:
                    # Flushing each file would delay the first command by seconds.
                    state = self._blobs.capture(path, sync=False)
                except PermissionError:
                    state = PathState("not_kept", detail="no permission to read it")
                self._add_snapshot(path, state, tool_use_id, turn_id)
            self._add_gaps(turn_id, tool_use_id, not_covered)
            self._sync()
        except (OSError, SessionError) as error:
            not_covered.append(f"copies could not be saved: {error_reason(error)}")
        return tuple(not_covered)

    def _after_command(self, tool_use_id: str, turn_id: str) -> None:
        listing = self._running.pop(tool_use_id, None)
        if listing is None:
            return
        already = {s.path for s in self._snapshots if s.turn_id == turn_id}
        try:
            if listing.head is not None:
                for path in self._worktree.changed_since(listing.head):
                    if path not in already and path not in listing.found_paths:
                        content = self._worktree.at_commit(listing.head, path)
                        self._add_snapshot(path, self._from_commit(content), tool_use_id, turn_id)
                        already.add(path)
            # Files that are new now did not exist when the command started.
            for path in self._worktree.changed_files().new_since(listing):
                if path not in already:
                    self._add_snapshot(path, PathState("absent"), tool_use_id, turn_id)
            self._sync()
        except (OSError, SessionError):
            return

    def _from_commit(self, content: tuple[bytes, int] | None) -> PathState:
        if content is None:
            return PathState("absent")
        data, mode = content
        return PathState("file", self._blobs.put(data, sync=False), mode, len(data))

    def _add_snapshot(self, path: Path, state: PathState, tool_use_id: str, turn_id: str) -> None:
        data = {
            "kind": "snapshot",
            "turn_id": turn_id,
            "tool_use_id": tool_use_id,
            "path": str(path),
            "state": state.to_json(),
        }
        seq = self._append({**data, "seal": self._seal(data)})
        self._add(Snapshot(turn_id, tool_use_id, path, state, seq))

    def _add_gaps(self, turn_id: str, tool_use_id: str, texts: Iterable[str]) -> None:
        reported_texts = {text for _, turn, text in self._gaps if turn == turn_id}
        for text in texts:
            if text in reported_texts:
                continue
            data = {"kind": "gap", "turn_id": turn_id, "tool_use_id": tool_use_id, "text": text}
            self._gaps.append((self._append(data), turn_id, text))

    def _append(self, data: Mapping[str, object]) -> int:
        if self._log is None:
            exists = self._log_path.exists()
            self._log = (Transcript.open if exists else Transcript.create)(self._log_path)
        seq = self._log.next_seq
        self._log.append(data)
        return seq

    def _sync(self) -> None:
        if self._log is not None:
            self._log.sync()

    def _add(self, snapshot: Snapshot) -> None:
        self._snapshots.append(snapshot)
        if snapshot.turn_id not in self._turns:
            self._turns.append(snapshot.turn_id)

    def _read_log(self) -> None:
        if not self._log_path.exists():
            return
        try:
            for line in read_forwards(self._log_path):
                if isinstance(line, Line):
                    self._read_line(line)
        except OSError:
            return

    def _read_line(self, line: Line) -> None:
        data = line.data
        try:
            if data["kind"] == "gap":
                self._gaps.append((line.seq, str(data["turn_id"]), str(data["text"])))
                return
            state = PathState.from_json(data["state"])
            if not self._is_own(data):
                state = PathState("not_kept", detail="saved elsewhere, or by an earlier version")
            path = Path(str(data["path"]))
            self._add(
                Snapshot(str(data["turn_id"]), str(data["tool_use_id"]), path, state, line.seq)
            )
        except (KeyError, TypeError, ValueError):
            return

    def _is_own(self, data: Mapping[str, object]) -> bool:
        seal = self._seal({name: data[name] for name in _SEALED})
        return seal != "" and data.get("seal") == seal

    # -- going back -------------------------------------------------------------------------

    def _preview(self, turn_id: str, paths: Iterable[Path] | None) -> Preview:
        if turn_id not in self._turns:
            raise SessionError("No file was changed in that turn.")
        first = min(s.seq for s in self._snapshots if s.turn_id == turn_id)
        targets = self._targets(turn_id, first)
        if paths is not None:
            selection = {Path(os.path.realpath(path)) for path in paths}
            targets = {path: state for path, state in targets.items() if path in selection}
        changes = [self._change(path, state) for path, state in sorted(targets.items())]
        gaps = dict.fromkeys(text for seq, _, text in self._gaps if seq >= first)
        return Preview(turn_id, tuple(c for c in changes if c is not None), tuple(gaps))

    def _targets(self, turn_id: str, first: int) -> dict[Path, PathState]:
        """Return the state of each file before a turn, which later turns do not affect."""
        is_redo = turn_id.startswith(REDO)
        targets: dict[Path, PathState] = {}
        for snapshot in self._snapshots:
            if snapshot.turn_id == turn_id if is_redo else snapshot.seq >= first:
                targets.setdefault(snapshot.path, snapshot.state)
        return targets

    def _current_state(self, path: Path) -> PathState:
        try:
            return self._blobs.capture(path, store=False)
        except OSError as error:
            return PathState("not_kept", detail=error.strerror or str(error))

    def _change(self, path: Path, target: PathState) -> FileChange | None:
        current = self._current_state(path)
        if current.same_as(target):
            return None
        if target.type == "not_kept":
            return FileChange(path, "cannot", current, target, f"not kept: {target.detail}")
        if target.type == "link":
            return FileChange(path, "cannot", current, target, "it was a link")
        match target.type, current.type:
            case ["absent", "file" | "link"]:
                return FileChange(path, "delete", current, target)
            case ["file", "file" | "absent"]:
                return FileChange(path, "write", current, target)
        return FileChange(path, "cannot", current, target, current.detail or "it is a link now")

    def _restore(self, turn_id: str, paths: Iterable[Path] | None, redo_id: str) -> RestoreResult:
        return self._apply_changes(self._preview(turn_id, paths).changes, f"{REDO}{redo_id}")

    def _undo(self, tool_use_ids: Sequence[str], redo_id: str) -> RestoreResult:
        edits = [edit for use_id in tool_use_ids if (edit := self._edits.pop(use_id, None))]
        changes: list[FileChange] = []
        for path in dict.fromkeys(edit.path for edit in edits):
            of_path = [edit for edit in edits if edit.path == path]
            target, current = of_path[0].old_state, self._current_state(path)
            expected_states = [edit.new_state for edit in of_path]
            # The file must not have changed between two calls, else more would be undone.
            next_states = [*(edit.old_state for edit in of_path[1:]), current]
            pairs = zip(expected_states, next_states, strict=True)
            if all(one is not None and one.same_as(other) for one, other in pairs):
                change = self._change(path, target)
                changes += [change] if change is not None else []
            else:
                detail = "it has changed since"
                changes.append(FileChange(path, "cannot", current, target, detail))
        return self._apply_changes(changes, f"{UNDO}{redo_id}")

    def _apply_changes(self, changes: Sequence[FileChange], mark: str) -> RestoreResult:
        work = [change for change in changes if change.action != "cannot"]
        try:
            for change in work:
                self._add_snapshot(change.path, self._blobs.capture(change.path), "", mark)
            self._sync()
        except OSError as error:
            raise SessionError(
                f"The current state cannot be saved: {error_reason(error)}"
            ) from error
        restored_changes: list[FileChange] = []
        failures = [(c, c.detail) for c in changes if c.action == "cannot"]
        for change in work:
            try:
                self._apply(change)
                restored_changes.append(change)
            except (OSError, ValueError, ToolError) as error:
                failures.append((change, error_reason(error)))
        return RestoreResult(tuple(restored_changes), tuple(failures), mark)

    def _apply(self, change: FileChange) -> None:
        path = change.path
        # A parent directory that became a link would redirect the write.
        if os.path.realpath(path.parent) != str(path.parent):
            raise ToolError(f"{path.parent} is a link now")
        if not self._may_write(path):
            raise ToolError(f"{path} is outside the working folders")
        if change.action == "delete":
            remove_file(path)
            return
        data = self._blobs.get(change.target.digest)
        current = change.current.digest if change.current.type == "file" else None
        if current != change.target.digest:
            replace_file(path, data, expected_digest=current, may_write=self._may_write)
        set_mode(path, change.target.mode)
