"""The channel: a command asked on standard input, and ended when somebody else was faster."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from permissions.decision import Behavior, DecisionSource
from permissions.resolve.command_channel import MAX_ANSWER_BYTES, Channel, ChannelFailed
from permissions.resolve.denial_limits import DenialState
from permissions.resolve.handlers import InteractiveHandler
from tests.permissions.resolving import PENDING, REQUEST, FakeAbort, Scripted

ENV = {"PATH": os.environ["PATH"]}


def shell(script: str) -> Channel:
    return Channel(["sh", "-c", script], env=ENV)


async def test_the_command_gets_the_request_and_prints_the_answer(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    channel = shell(f'cat > {seen}; echo \'{{"behavior": "allow", "message": "from my phone"}}\'')
    decision = await channel.decide(REQUEST, PENDING)
    assert decision is not None
    assert (decision.behavior, decision.source, decision.feedback) == (
        Behavior.ALLOW,
        DecisionSource.CHANNEL,
        "from my phone",
    )
    request = json.loads(seen.read_text())
    assert (request["id"], request["input"]) == ("r1", {"command": "git push"})


async def test_nothing_printed_is_no_opinion() -> None:
    assert await shell("cat > /dev/null").decide(REQUEST, PENDING) is None
    assert await shell("exit 0").decide(REQUEST, PENDING) is None


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('echo \'{"behavior": "allow"}\'; exit 3', "status 3"),
        ("echo yes", "did not print JSON"),
        ('echo \'{"behavior": "yes"}\'', "behavior"),
        ('echo \'{"behavior": "allow"}{"behavior": "deny"}\'', "did not print JSON"),
        (f"head -c {MAX_ANSWER_BYTES * 3} /dev/zero", "more than"),
    ],
)
async def test_a_failure_is_no_answer(script: str, reason: str) -> None:
    with pytest.raises(ChannelFailed, match=reason):
        await shell(script).decide(REQUEST, PENDING)


async def test_a_command_that_is_not_there_is_a_failure() -> None:
    with pytest.raises(ChannelFailed, match="cannot be started"):
        await Channel(["no-such-command"], env=ENV).decide(REQUEST, PENDING)


async def test_it_sees_no_variable_that_was_not_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    await shell(f"env > {tmp_path}/env").decide(REQUEST, PENDING)
    assert "SECRET_KEY" not in (tmp_path / "env").read_text()


async def test_a_failing_channel_leaves_the_dialog_open() -> None:
    dialog = Scripted("dialog")
    handler = InteractiveHandler([shell("exit 1"), dialog])
    running = asyncio.ensure_future(handler.resolve(REQUEST, PENDING, FakeAbort(), DenialState()))
    await dialog.started.wait()
    dialog.go.set()
    assert (await running).source is DecisionSource.USER


async def test_a_faster_answer_ends_the_command_and_what_it_started(tmp_path: Path) -> None:
    # A pipe that only the command and its child hold open: it ends when both are gone.
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    channel = Channel([sys.executable, "-c", _FORKING, str(fifo)], env=ENV)
    running = asyncio.ensure_future(channel.decide(REQUEST, PENDING))
    reader = await asyncio.to_thread(open, fifo, "rb")
    assert await asyncio.to_thread(reader.read, 5) == b"alive"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await asyncio.to_thread(reader.read) == b""
    reader.close()


_FORKING = """
import os, signal, sys
child = os.fork()
stream = open(sys.argv[1], "wb", buffering=0)
if child:
    stream.write(b"alive")
while True:
    signal.pause()
"""


async def test_a_failure_is_reported_once_for_each_reason() -> None:
    told: list[str] = []
    channel = Channel(
        ["sh", "-c", "echo nonsense"], env={"PATH": os.environ["PATH"]}, notify=told.append
    )
    for _ in range(2):
        with pytest.raises(ChannelFailed):
            await channel.decide(REQUEST, PENDING)
    (line,) = told
    assert line.startswith("The permission channel failed: sh did not print JSON")
