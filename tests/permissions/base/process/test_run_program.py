"""One run of a program: its output, its limits, and the end of what it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import pytest

from permissions.base.process.run_program import RunLimits, run_blocking, run_program
from permissions.base.process.spawn import CannotStart, Launch, shell_launch

ENV = {"PATH": os.defpath}
LIMITS = RunLimits(20.0)


async def test_input_goes_in_and_both_outputs_come_out() -> None:
    launch = shell_launch("cat; echo bad >&2; exit 3", env=ENV, stdin=b"x" * 300_000)
    ended = await run_program(launch, LIMITS)
    assert (ended.stdout, ended.stderr, ended.exit_code) == (b"x" * 300_000, b"bad\n", 3)


@pytest.mark.parametrize("stops", [False, True])
async def test_output_is_bounded(stops: bool) -> None:
    command = "yes" if stops else "seq 1 1000"
    limits = RunLimits(20.0, stdout_bytes=100, stops_at_limit=stops)
    ended = await run_program(shell_launch(command, env=ENV), limits)
    assert (len(ended.stdout), ended.stdout_dropped > 0) == (100, True)
    assert (ended.was_stopped, ended.exit_code) == ((True, None) if stops else (False, 0))


async def test_who_has_seen_enough_ends_the_program() -> None:
    ended = await run_program(
        shell_launch("yes", env=ENV), LIMITS, is_enough=lambda chunk: b"y" in chunk
    )
    assert ended.was_stopped


async def test_an_exit_after_the_wait_is_no_error() -> None:
    errors: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    limits = RunLimits(60.0, drain_s=1.0)
    await run_program(shell_launch("yes", env=ENV), limits, is_enough=lambda chunk: b"y" in chunk)
    assert errors == []


@pytest.mark.parametrize("leaves", [False, True])
async def test_what_it_left_running_goes_unless_it_may_stay(leaves: bool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "held")
    reading = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    command = "sleep 600 >held 2>&1 & echo $!"
    limits = RunLimits(20.0, leaves_descendants=leaves)
    ended = await run_program(shell_launch(command, env=ENV, cwd=tmp_path), limits)
    try:
        if leaves:
            os.kill(int(ended.stdout), 9)
        os.set_blocking(reading, True)
        assert os.read(reading, 1) == b""
    finally:
        os.close(reading)


async def test_a_timeout_ends_what_left_the_group(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "held")
    reading = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    command = "setsid sleep 600 >held & trap '' TERM; sleep 600"
    limits = RunLimits(0.3, grace_s=0.1)
    ended = await run_program(shell_launch(command, env=ENV, cwd=tmp_path), limits)
    assert (ended.timed_out, ended.exit_code) == (True, None)
    os.set_blocking(reading, True)
    assert os.read(reading, 1) == b""
    os.close(reading)


async def test_what_cannot_start_has_a_reason(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="/nowhere: not found"):
        await run_program(Launch(("/nowhere",), ENV), LIMITS)
    with pytest.raises(CannotStart, match="is gone"):
        await run_program(Launch(("/bin/sh",), ENV, tmp_path / "gone"), LIMITS)
    with pytest.raises(CannotStart, match="null"):
        run_blocking(Launch(("/bin/sh", "a\0b"), ENV), timeout_s=5)


def test_a_blocking_run_returns_output_and_ends_at_its_timeout() -> None:
    ended = run_blocking(shell_launch("cat", env=ENV, stdin=b"hi"), timeout_s=20)
    assert (ended.stdout, ended.exit_code) == (b"hi", 0)
    assert run_blocking(shell_launch("sleep 600", env=ENV), timeout_s=0.1).timed_out


class _Resources:
    """Records what a confined run is asked to release."""

    is_wrapped = False

    def __init__(self) -> None:
        self.released: list[str] = []

    def running(self, pid: int) -> None:
        """Nothing is watched."""

    def release_start(self) -> None:
        self.released.append("start")

    def finish(self) -> None:
        self.released.append("rest")


@pytest.mark.parametrize("program", ["true", "./missing"])
@pytest.mark.parametrize("blocking", [False, True])
async def test_what_a_confinement_holds_is_released_once(program: str, blocking: bool) -> None:
    resources = _Resources()
    launch = Launch((program,), ENV, confined_run=resources)
    with contextlib.suppress(CannotStart):
        if blocking:
            run_blocking(launch, timeout_s=20.0)
        else:
            await run_program(launch, LIMITS)
    assert resources.released == ["start", "rest"]


async def test_a_program_inherits_the_descriptors_that_it_is_given() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"x")
    os.close(writing)
    launch = Launch(("/bin/cat", f"/dev/fd/{reading}"), ENV, pass_fds=(reading,))
    ended = await run_program(launch, LIMITS)
    os.close(reading)
    assert ended.stdout == b"x"
