"""Sends and receives mail for one member of a team in one process.

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
"""Polling interval, in seconds, for systems that report no file changes."""


class MailWatch:
    """Calls listeners when mail may have arrived; shared by all members of a process."""

    def __init__(self, place: TeamPlace) -> None:
        """Watch the mailboxes of a team, once `start` is called."""
        self._place = place
        self._change = asyncio.Event()
        self._stop = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []
        self._tasks: list[asyncio.Task[None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Add a listener, which is called at least once per second."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Remove a listener; safe to call twice."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def poke(self) -> None:
        """Trigger a check at once, after sending a message."""
        self._change.set()

    def start(self) -> None:
        """Start watching; a second call has no effect."""
        if not self._tasks:
            self._tasks = [
                asyncio.ensure_future(self._follow()),
                asyncio.ensure_future(self._call_listeners()),
            ]

    async def aclose(self) -> None:
        """End."""
        self._stop.set()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _follow(self) -> None:
        with contextlib.suppress(OSError):  # listeners are called once per second in any case
            async for _ in file_changes(
                self._place.members,
                # Each delivery opens it: every notice would lead to the next delivery.
                watch_filter=lambda _, path: not path.endswith(READER_LOCK),
                stop=self._stop,
                collect_ms=10,
                recursive=True,
            ):
                self._change.set()

    async def _call_listeners(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._change.wait()
            self._change.clear()
            for listener in tuple(self._listeners):
                listener()


class Post:
    """Sends and receives the messages of a member."""

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
        """Deliver a message to a member; it is on disk when this returns.

        `message_id`: an id that is the same whenever this message is sent, so that duplicates are
        recognized.

        Raises:
            TeamError: there is no such member, or the message is too large.
            OSError: it cannot be written; nothing was sent.
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
        """Start receiving mail; `seen_ids` are the ids in the transcript."""
        self._directory.make()
        self.watch.listen(self._arrival.set)
        self.watch.start()
        self._arrival.set()
        self._task = asyncio.ensure_future(self._deliver(seen_ids, handle, warn))

    async def aclose(self) -> None:
        """Stop receiving; the rest stays in the mailbox. Safe to call twice."""
        task, self._task = self._task, None
        if task is not None:
            self.watch.forget(self._arrival.set)
            task.cancel()
            await asyncio.wait({task})

    async def _deliver(
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
