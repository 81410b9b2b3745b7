"""SIGKILL at random instants of members that send and receive: nothing is lost, nothing comes
twice, each sender's order is kept."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from agent.teams.team_history import TeamHistory, read_team_history
from agent.teams.team_message import agent_id
from tests.agent.teams.members import TEAM, mailbox, place_at
from tests.soak.scale import IS_SOAK

ROOT: Final = Path(__file__).resolve().parents[2]
SENDERS: Final = ("ada", "bob", "eve")
MESSAGES: Final = 600 if IS_SOAK else 120
KILLS: Final = 300 if IS_SOAK else 24

DRIVER: Final = """
import asyncio, json, os, signal, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from agent.session.session_recorder import SessionRecorder
from agent.session.store import SessionStore
from agent.teams.post import MailWatch, Post
from agent.teams.team_file import TeamPlace
from agent.teams.team_history import read_team_history
from agent.teams.team_message import derived_id

home = Path(sys.argv[2])
place = TeamPlace(home / "teams" / "crew", "crew")


def opened(name):
    store = SessionStore(home / name)
    known = store.list()
    return store.open(known[0].id) if known else store.create(home, launch_dir=home)


async def send(name, count):
    progress = home / f"{name}.sent"
    first = int(progress.read_text() or 0) if progress.exists() else 0
    post = Post(place, f"{name}@crew", MailWatch(place), SessionRecorder(opened(name)))
    for number in range(first, count):
        await post.send(
            "leader@crew", "text", text=str(number), message_id=derived_id(name, str(number))
        )
        temporary = progress.with_suffix(".new")
        temporary.write_text(str(number + 1))
        temporary.replace(progress)


async def receive():
    session = opened("leader")
    watch = MailWatch(place)
    post = Post(place, "leader@crew", watch, SessionRecorder(session))
    seen = {message.id for message in read_team_history(session.path, "crew").mail}
    post.start(seen, lambda message: None, print)
    await asyncio.Event().wait()


for line in sys.stdin:
    order = json.loads(line)
    if "wait" in order:
        _, status = os.waitpid(order["wait"], 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
        continue
    process = os.fork()
    if process == 0:
        try:
            work = receive() if order["name"] == "leader" else send(order["name"], order["count"])
            asyncio.run(work)
            os._exit(0)
        finally:
            os._exit(1)
    print(process, flush=True)
"""


class _Members:
    """Starts members by forking one process that has everything imported."""

    def __init__(self, home: Path) -> None:
        self._driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(ROOT), str(home)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.running: dict[str, int] = {}

    def _ask(self, **order: object) -> int:
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps(order) + "\n")
        self._driver.stdin.flush()
        return int(self._driver.stdout.readline())

    def start(self, name: str) -> None:
        self.running[name] = self._ask(name=name, count=MESSAGES)

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        os.kill(process, 9)
        self._ask(wait=process)

    def wait(self, name: str) -> None:
        self._ask(wait=self.running.pop(name))

    def close(self) -> None:
        self._driver.communicate()


@pytest.mark.timeout(1800 if IS_SOAK else 120)
async def test_kills_of_senders_and_receiver_lose_and_double_nothing(tmp_path: Path) -> None:
    rng = random.Random(7)
    place = place_at(tmp_path)
    for name in ("leader", *SENDERS):
        mailbox(place, name)
    members = _Members(tmp_path)
    for name in ("leader", *SENDERS):
        await asyncio.to_thread(members.start, name)
    for _ in range(KILLS):
        await asyncio.sleep(rng.uniform(0, 0.1))  # the instant is the point of this test
        name = rng.choice(("leader", *SENDERS))
        await asyncio.to_thread(members.kill, name)
        await asyncio.to_thread(members.start, name)
    for name in SENDERS:
        await asyncio.to_thread(members.wait, name)
    inbox = place.member_dir("leader") / "inbox"
    while os.listdir(inbox / "new"):  # noqa: ASYNC110 - the directory announces nothing
        await asyncio.sleep(0.05)
    await asyncio.to_thread(members.kill, "leader")
    await asyncio.to_thread(members.close)

    [transcript] = (tmp_path / "leader").rglob("*-*-*.jsonl")
    history: TeamHistory = read_team_history(transcript, TEAM)
    for name in SENDERS:
        got = [int(m.text) for m in history.mail if m.sender == agent_id(name, TEAM)]
        assert got == list(range(MESSAGES)), f"of {name}: lost, doubled or out of order"
