"""A mailbox: a directory with one file for each message.

A message is written to a temporary file and renamed, so that it is complete or absent. It is
consumed once, under a lock: first recorded in the receiver's transcript, then deleted. If the
process is killed in between, the transcript has the id, and the file is deleted without delivery.
Source: the pattern "Mailbox Communication".
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.teams.team_message import URGENT, BadMessage, TeamError, TeamMessage, decode
from permissions.base.files.private_file import make_private_dir, sync_dir
from permissions.base.text.failure_text import error_reason

MAX_BATCH: Final = 50
"""Most messages of one delivery; the rest waits for the next."""

READER_LOCK: Final = "reader.lock"
"""The name of the lock that each delivery opens; to close it counts as a change of the file."""

Record = Callable[[TeamMessage], Awaitable[bool]]
"""Records a message as received; returns False if it cannot be written."""


class Received(Struct, frozen=True):
    """The result of one delivery."""

    messages: tuple[TeamMessage, ...] = ()
    problems: tuple[str, ...] = ()
    """Problems to show to users, each reported once."""
    is_stuck: bool = False
    """Whether the record of a message could not be written, so that it stays in the mailbox."""


class MailDirectory:
    """The mailbox of one member, for its senders and its reader."""

    def __init__(self, member_dir: Path) -> None:
        """`member_dir` is the member's directory."""
        self._new = member_dir / "inbox" / "new"
        self._tmp = member_dir / "inbox" / "tmp"
        self._broken = member_dir / "inbox" / "broken"
        self._lock = member_dir / "inbox" / READER_LOCK

    def make(self) -> None:
        """Create the directories, for this user only. Raises OSError."""
        for directory in (self._new, self._tmp):
            make_private_dir(directory)

    def put(self, message: TeamMessage) -> None:
        """Deliver a message; it is on disk when this returns.

        Raises:
            TeamError: there is no such mailbox, or the message is too large.
            OSError: it cannot be written; nothing was sent.
        """
        data = message.encode()
        if not self._new.is_dir():
            raise TeamError(f"There is no {message.to}: nothing was sent.")
        name = _file_name(message)
        temporary = self._tmp / name
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(temporary, flags, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(self._new / name)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        sync_dir(self._new)

    def has_mail(self) -> bool:
        """Return whether messages are waiting."""
        return bool(self._names())

    async def receive(self, seen_ids: set[str], record: Record) -> Received:
        """Consume waiting messages, urgent kinds first, the senders in turn; update `seen_ids`."""
        messages: list[TeamMessage] = []
        problems: list[str] = []
        with self._reading() as is_reader:
            if not is_reader:
                return Received()
            for name in _round_robin(self._names())[:MAX_BATCH]:
                message = self._read(name, problems)
                if message is None:
                    continue
                if message.id not in seen_ids:
                    if not await record(message):
                        return Received(tuple(messages), tuple(problems), is_stuck=True)
                    seen_ids.add(message.id)
                    messages.append(message)
                with contextlib.suppress(OSError):  # it is in `seen_ids`
                    (self._new / name).unlink()
        return Received(tuple(messages), tuple(problems))

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._new) if name.endswith(".msg"))
        except OSError:
            return []

    def _read(self, name: str, problems: list[str]) -> TeamMessage | None:
        path = self._new / name
        try:
            return decode(path.read_bytes())
        except FileNotFoundError:
            return None
        except (BadMessage, OSError) as error:
            with contextlib.suppress(OSError):
                make_private_dir(self._broken)
                path.replace(self._broken / name)
                problems.append(
                    f"A message cannot be read ({error_reason(error)}); it is in {self._broken}."
                )
            return None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[bool]:
        """Hold the reader's lock; yield False if another reader has it or it cannot be acquired."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(self._lock, flags, 0o600)
        except OSError:
            # On a read-only disk nothing can be deleted, so nothing is consumed.
            yield False
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
        finally:
            os.close(descriptor)


def _file_name(message: TeamMessage) -> str:
    """Return a name that sorts by urgency, then time, and contains sender and id."""
    rank = 0 if message.kind in URGENT else 1
    return f"{rank}-{message.sent_ns:020d}-{message.sender}-{message.id}.msg"


def _round_robin(names: list[str]) -> list[str]:
    """Return urgent messages first, then one of each sender in turn, each sender's in order."""
    urgent = [name for name in names if name.startswith("0-")]
    senders: defaultdict[str, deque[str]] = defaultdict(deque)
    for name in names[len(urgent) :]:
        senders[name[23:].rpartition("-")[0]].append(name)
    order: list[str] = []
    while senders:
        for sender in list(senders):
            order.append(senders[sender].popleft())
            if not senders[sender]:
                del senders[sender]
    return [*urgent, *order]
