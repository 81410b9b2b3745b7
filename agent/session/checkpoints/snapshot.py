"""One path as it was before one change: what checkpoints are made of."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from agent.session.checkpoints.blobs import PathState


class Snapshot(Struct, frozen=True):
    """One path before one change."""

    turn_id: str
    tool_use_id: str
    path: Path
    state: PathState
    seq: int
    """Order of snapshots in a session."""
