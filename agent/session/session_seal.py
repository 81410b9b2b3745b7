"""Seals records that raise a session's rights, so that only those of this home are restored.

A transcript may come from a colleague, a build, or another machine. Its author must not decide
what runs here without asking.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.session.record_json import to_json
from agent.session.records import GrantsRecord, ModeRecord
from agent.session.resume import ResumedConversation
from permissions.base.files.plain_file import read_plain
from permissions.base.files.private_file import exclusive, write_private

SealedRecord = GrantsRecord | ModeRecord
_KEY_BYTES: Final = 32
_HARMLESS: Final = (GrantsRecord(), ModeRecord("default"), ModeRecord("plan"))


class SessionSeal:
    """The seal of one session, with the key of the agent's home (0600)."""

    def __init__(self, agent_home: Path, session_id: str, project_root: Path) -> None:
        """Read nothing yet; the key is created with the first seal."""
        self._path = agent_home / "sessions" / "seal.key"
        # A copy keeps the mode of its original; grants are for one conversation in one project.
        self._place = {"grants": [session_id, str(project_root)], "mode": []}
        self._known_key = b""

    def seal(self, record: SealedRecord) -> SealedRecord:
        """Return the record with a seal, if it needs one and a key can be stored."""
        if _is_harmless(record):
            return record
        try:
            return replace(record, seal=self._digest(record, self._key()))
        except OSError:
            return record

    def snapshot_seal(self, snapshot: Mapping[str, object]) -> str:
        """Return the seal of a saved state of a file, also in a copy; empty if no key can be
        stored."""
        try:
            self._known_key = self._known_key or self._key()
        except OSError:
            return ""
        content = json.dumps(["snapshot", snapshot], sort_keys=True)
        return hmac.new(self._known_key, content.encode(), hashlib.sha256).hexdigest()

    def check(self, conversation: ResumedConversation) -> ResumedConversation:
        """Return a conversation without rights that were not granted in this home, with a note to
        the user about them."""
        grants, mode = conversation.grants, conversation.mode_record
        left_out = []
        if not self._is_own(grants):
            count = len(grants.grants) + len(grants.directories) + len(grants.hosts)
            left_out.append(f"{count} grants" if count > 1 else "1 grant")
            grants = GrantsRecord()
        if mode is not None and not self._is_own(mode):
            left_out.append(f"the mode {mode.mode}")
            mode = None
        if not left_out:
            return conversation
        note = (
            f"Not restored: {' and '.join(left_out)} of this session, which were not given here "
            "(another machine, project, or version)."
        )
        return replace(
            conversation,
            grants=grants,
            mode_record=mode,
            states=tuple(
                one
                for one in conversation.states
                if not isinstance(one, GrantsRecord | ModeRecord) or self._is_own(one)
            ),
            notes=(*conversation.notes, note),
        )

    def _is_own(self, record: SealedRecord) -> bool:
        if _is_harmless(record):
            return True
        try:
            key = read_plain(self._path, _KEY_BYTES)
        except OSError:
            return False
        return hmac.compare_digest(record.seal, self._digest(record, key))

    def _digest(self, record: SealedRecord, key: bytes) -> str:
        content = json.dumps([self._place[record.kind], to_json(replace(record, seal=""))])
        return hmac.new(key, content.encode(), hashlib.sha256).hexdigest()

    def _key(self) -> bytes:
        with exclusive(self._path):
            try:
                key = read_plain(self._path, _KEY_BYTES)
            except OSError:
                key = b""
            if len(key) != _KEY_BYTES:
                key = secrets.token_bytes(_KEY_BYTES)
                write_private(self._path, key)
            return key


def _is_harmless(record: SealedRecord) -> bool:
    return replace(record, seal="") in _HARMLESS
