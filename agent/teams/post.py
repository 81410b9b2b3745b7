"""Sending, and noticing that something arrived, for one member of a team in one process.

Next: `agent.teams.mailbox`.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import to_builtins

from agent.session.session_recorder import SessionRecorder
from agent.session.team_records import MailRecord
from agent.teams.mailbox import READER_LOCK, MailDirectory
from agent.teams.team_file import TeamPlace
from agent.teams.team_message import MessageKind, TeamMessage
from permissions.base.files.file_watch import file_changes

POLL_S: Final = 1.0
"""How late a message may be noticed where the system reports no changes of files."""


class MailWatch:
    """Calls listeners when something may have arrived; one serves all members of a process."""

    def __init__(self, place: TeamPlace) -> None:
        """Watch the mailboxes of a team, from `start` on."""
        self._place = place
        self._change = asyncio.Event()
        self._stop = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []
        self._tasks: list[asyncio.Task[None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this from now on, at least once a second."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Call this no longer; safe to call twice."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def poke(self) -> None:
        """Report that something was sent, without waiting for the system to."""
        self._change.set()

    def start(self) -> None:
        """Begin; a second call changes nothing."""
        if not self._tasks:
            self._tasks = [
                asyncio.ensure_future(self._follow()),
                asyncio.ensure_future(self._call()),
            ]

    async def aclose(self) -> None:
        """End."""
        self._stop.set()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _follow(self) -> None:
        with contextlib.suppress(OSError):  # the listeners are called each second all the same
            async for _ in file_changes(
                self._place.members,
                # Each delivery opens it: every notice would lead to the next delivery.
                watch_filter=lambda _, path: not path.endswith(READER_LOCK),
                stop=self._stop,
                collect_ms=10,
                recursive=True,
            ):
                self._change.set()

    async def _call(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._change.wait()
            self._change.clear()
            for listener in tuple(self._listeners):
                listener()


class Post:
    """Sends a member's messages and takes what arrives for it."""

    def __init__(
        self, place: TeamPlace, own_id: str, watch: MailWatch, recorder: SessionRecorder
    ) -> None:
        """`recorder` writes the member's own transcript."""
        self.place = place
        self.own_id = own_id
        self.watch = watch
        self._recorder = recorder
        self._directory = MailDirectory(place.member_dir(own_id))
        self._sending = asyncio.Lock()
        self._last_ns = 0
        self._arrival = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_stuck = False

    async def send(
        self,
        recipient: str,
        kind: MessageKind,
        *,
        text: str = "",
        data: Mapping[str, object] | None = None,
        message_id: str | None = None,
    ) -> None:
        """Deliver a message to a member; when this returns, it is on the disk.

        `message_id`: one that is the same each time this message is sent, so that a second copy is
        recognized.

        Raises:
            TeamError: there is no such member, or the message is too large.
            OSError: the disk does not take it; nothing was sent.
        """
        async with self._sending:
            self._last_ns = max(time.time_ns(), self._last_ns + 1)
            message = TeamMessage(
                id=message_id or uuid.uuid4().hex,
                sender=self.own_id,
                to=recipient,
                kind=kind,
                sent_ns=self._last_ns,
                text=text,
                data=dict(data or {}),
            )
            await asyncio.to_thread(MailDirectory(self.place.member_dir(recipient)).put, message)
        self.watch.poke()

    def start(
        self, seen_ids: set[str], handle: Callable[[TeamMessage], None], warn: Callable[[str], None]
    ) -> None:
        """Take what arrives from now on; `seen_ids` are those that the transcript has."""
        self._directory.make()
        self.watch.listen(self._arrival.set)
        self.watch.start()
        self._arrival.set()
        self._task = asyncio.ensure_future(self._take(seen_ids, handle, warn))

    async def aclose(self) -> None:
        """Take nothing more; what is not taken stays in the mailbox. Safe to call twice."""
        task, self._task = self._task, None
        if task is not None:
            self.watch.forget(self._arrival.set)
            task.cancel()
            await asyncio.wait({task})

    async def _take(
        self, seen_ids: set[str], handle: Callable[[TeamMessage], None], warn: Callable[[str], None]
    ) -> None:
        while True:
            await self._arrival.wait()
            self._arrival.clear()
            delivery = await self._directory.receive(seen_ids, self._record)
            for problem in delivery.problems:
                warn(problem)
            if delivery.is_stuck and not self._is_stuck:
                warn("Messages of the team wait: the session's disk cannot be written.")
            self._is_stuck = delivery.is_stuck
            for message in delivery.messages:
                handle(message)
            if delivery.messages and self._directory.has_mail():
                self._arrival.set()

    async def _record(self, message: TeamMessage) -> bool:
        return await self._recorder.write(MailRecord(to_builtins(message)))
