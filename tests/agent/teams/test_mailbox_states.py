"""A mailbox under every order of sending, receiving and dying, before and after the record."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from agent.teams.mailbox import MailDirectory
from agent.teams.team_message import TeamMessage
from tests.agent.teams.members import mailbox, message, place_at
from tests.soak.scale import IS_SOAK

SENDERS = ("ada", "bob", "eve")


class _Died(BaseException):
    """The receiver was killed."""


class MailboxStates(RuleBasedStateMachine):
    """What was sent is delivered once and in its sender's order, whatever dies in between."""

    def __init__(self) -> None:
        super().__init__()
        self._home = tempfile.TemporaryDirectory()
        self._box: MailDirectory = mailbox(place_at(Path(self._home.name)), "leader")
        self._sent: defaultdict[str, list[TeamMessage]] = defaultdict(list)
        self._transcript: list[TeamMessage] = []
        self._seen: set[str] = set()

    def teardown(self) -> None:
        self._receive()
        while self._box.has_mail():
            self._receive()
        for sender, sent in self._sent.items():
            got = [one for one in self._transcript if one.sender == f"{sender}@crew"]
            assert got == sent
        self._home.cleanup()

    @rule(sender=st.sampled_from(SENDERS))
    def send(self, sender: str) -> None:
        one = message(sender, "leader", len(self._sent[sender]))
        self._sent[sender].append(one)
        self._box.put(one)

    @rule(sender=st.sampled_from(SENDERS))
    def send_again(self, sender: str) -> None:
        """A sender that was killed does not know whether its last message was sent."""
        if self._sent[sender]:
            self._box.put(self._sent[sender][-1])

    @rule()
    def receive(self) -> None:
        self._receive()

    @rule(after=st.integers(0, 3), is_recorded=st.booleans())
    def die(self, after: int, is_recorded: bool) -> None:
        """The receiver is killed at its message of that number, and comes back."""
        left = after

        async def record(one: TeamMessage) -> bool:
            nonlocal left
            if left > 0 or is_recorded:
                self._transcript.append(one)
            if left == 0:
                raise _Died
            left -= 1
            return True

        try:
            asyncio.run(self._box.receive(self._seen, record))
        except _Died:
            self._seen = {one.id for one in self._transcript}

    @invariant()
    def nothing_is_recorded_twice(self) -> None:
        ids = [one.id for one in self._transcript]
        assert len(ids) == len(set(ids))

    def _receive(self) -> None:
        async def record(one: TeamMessage) -> bool:
            self._transcript.append(one)
            return True

        asyncio.run(self._box.receive(self._seen, record))


MailboxStates.TestCase.settings = settings(
    max_examples=500 if IS_SOAK else 25, stateful_step_count=30, deadline=None
)
TestMailboxStates = MailboxStates.TestCase
