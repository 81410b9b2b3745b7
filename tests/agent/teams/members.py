"""A team's place on the disk and members that send and receive, for tests."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.session.session_recorder import SessionRecorder
from agent.session.store import SessionStore
from agent.teams.mailbox import MailDirectory
from agent.teams.post import MailWatch, Post
from agent.teams.team_file import TeamPlace
from agent.teams.team_message import MessageKind, TeamMessage, agent_id

TEAM = "crew"


def place_at(home: Path) -> TeamPlace:
    """The place of the test's team, with its directories."""
    place = TeamPlace.of(home, TEAM)
    place.members.mkdir(parents=True, exist_ok=True)
    return place


def mailbox(place: TeamPlace, name: str) -> MailDirectory:
    """A member's mailbox, made."""
    directory = MailDirectory(place.member_dir(name))
    directory.make()
    return directory


def message(
    sender: str, to: str, number: int, kind: MessageKind = "text", text: str = ""
) -> TeamMessage:
    """The message of that number of a sender."""
    return TeamMessage(
        id=f"{sender}{number:08d}",
        sender=agent_id(sender, TEAM),
        to=agent_id(to, TEAM),
        kind=kind,
        sent_ns=1_000 + number,
        text=text or f"{sender} {number}",
    )


class Receiver:
    """A member with a transcript of its own."""

    def __init__(self, place: TeamPlace, name: str, home: Path, session_id: str | None = None):
        store = SessionStore(home)
        self.session = (
            store.create(home, launch_dir=home) if session_id is None else store.open(session_id)
        )
        self.recorder = SessionRecorder(self.session)
        self.watch = MailWatch(place)
        mailbox(place, name)
        self.post = Post(place, agent_id(name, TEAM), self.watch, self.recorder)
        self.got: list[TeamMessage] = []
        self.warnings: list[str] = []
        self._arrived = asyncio.Event()

    def start(self, seen: set[str] | None = None) -> None:
        """Take what arrives."""
        self.post.start(seen if seen is not None else set(), self._take, self.warnings.append)

    def _take(self, one: TeamMessage) -> None:
        self.got.append(one)
        self._arrived.set()

    async def wait_for(self, count: int) -> list[TeamMessage]:
        """Return what arrived once it is this many."""
        while len(self.got) < count:
            self._arrived.clear()
            await self._arrived.wait()
        return self.got

    async def aclose(self) -> None:
        """End."""
        await self.post.aclose()
        await self.watch.aclose()
        await self.recorder.aclose()
