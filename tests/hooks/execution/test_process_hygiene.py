"""Nothing is left behind: no child, no descriptor, no file, after many runs, timeouts and kills."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.events import PreToolUse
from hooks.ports import HookPorts
from permissions.base.process import guardian
from tests.hooks.conftest import Place
from tests.soak.scale import IS_SOAK

BASH = PreToolUse(tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1")
ROUNDS = 72 if IS_SOAK else 4
"""Of two events with seven handlers each: fifty runs and some, a thousand at length."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def children() -> list[str]:
    mine = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                mine.append(entry.name)
    return mine


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


@pytest.mark.parametrize(
    ("missing", "rounds"),
    [((), ROUNDS), (("pidfd_open",), ROUNDS), (("pidfd_open", "waitid"), 4)],
    ids=["pidfd", "thread", "reaping-thread"],
)
async def test_nothing_is_left_after_many_runs(
    place: Place,
    tmp_path: Path,
    missing: tuple[str, ...],
    rounds: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in missing:  # as on macOS and old kernels
        monkeypatch.delattr(os, name)
    runner = place.runner(
        "PreToolUse",
        "true",
        "echo no >&2; exit 2",
        {"type": "command", "command": "sleep 60", "timeout": 0.02},
        {"type": "command", "command": "trap '' TERM; sleep 60", "timeout": 0.02},
        {"type": "command", "command": "yes", "timeout": 0.02},
        {"type": "command", "command": "/nowhere", "args": []},
        {"type": "command", "command": "sleep 60 | cat", "timeout": 0.02},
        ports=HookPorts(grace_s=0.05),
    )
    await runner.run(BASH)
    gc.collect()
    before, files = descriptors(), sorted(tmp_path.rglob("*"))
    others = children()  # of tests before this one
    for _ in range(rounds):
        outcomes = await asyncio.gather(*(runner.run(BASH) for _ in range(2)))
        assert all(outcome.decision == "deny" for outcome in outcomes)
    for _ in range(10):
        task = asyncio.create_task(runner.run(BASH))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert children() == others
    assert descriptors() == before
    assert sorted(tmp_path.rglob("*")) == files


async def test_what_left_the_group_goes_with_a_hook_that_took_too_long(place: Place) -> None:
    leave = "setsid sleep 61.5 & echo $! > left; trap '' TERM; sleep 60"
    handler = {"type": "command", "command": leave, "timeout": 1}
    runner = place.runner("PreToolUse", handler, ports=HookPorts(grace_s=0.1))
    outcome = await runner.run(BASH)
    assert outcome.outcome == "cancelled"
    pid = int((place.project / "left").read_text())
    while is_alive(pid):  # noqa: ASYNC110 - other processes have no event to await
        await asyncio.sleep(0.01)


async def test_a_daemon_of_a_hook_that_ended_well_stays(place: Place) -> None:
    runner = place.runner("PreToolUse", "setsid sleep 60 >/dev/null 2>&1 & echo $! > left")
    await runner.run(BASH)
    pid = int((place.project / "left").read_text())
    assert is_alive(pid)
    # Nor would a kill of this process end it: nobody watches over it any longer.
    assert not guardian._State.watched_pids
    os.kill(pid, 9)


async def test_a_hundred_background_hooks_do_not_hold_anything_up(place: Place) -> None:
    handlers = [
        {"type": "command", "command": f"sleep 60; echo {number}", "async": True}
        for number in range(100)
    ]
    runner = place.runner("PreToolUse", *handlers)
    before, others = descriptors(), children()
    outcome = await runner.run(BASH)
    assert (outcome.outcome, outcome.spawn_count) == ("async", 100)
    while len(children()) < len(others) + 100:  # noqa: ASYNC110 - other processes have no event to await
        await asyncio.sleep(0.01)
    await runner.aclose()
    assert runner.background.running == 0
    assert children() == others
    assert descriptors() == before
    ended = runner.take_background()
    assert {result.outcome.value for result in ended.results} == {"cancelled"}


@pytest.fixture
def ignores_children() -> Iterator[None]:
    """What a parent that ignores SIGCHLD hands down: exit statuses are thrown away."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


@pytest.mark.usefixtures("ignores_children")
async def test_an_inherited_ignore_does_not_turn_a_veto_into_a_success(place: Place) -> None:
    outcome = await place.runner("PreToolUse", "echo no >&2; exit 2").run(BASH)
    assert (outcome.decision, outcome.reason) == ("deny", "no")


@pytest.mark.usefixtures("ignores_children")
async def test_a_lost_exit_status_is_a_failure_and_no_success(place: Place) -> None:
    handler = {"type": "command", "command": "exit 2"}
    runners = [
        place.runner("PreToolUse", handler),
        place.runner("PreToolUse", {**handler, "onFailure": "block"}),
    ]
    # Only the main thread may change what signals do.
    outcomes = await asyncio.to_thread(
        lambda: [asyncio.run(runner.run(BASH)) for runner in runners]
    )
    assert [outcome.decision for outcome in outcomes] == ["none", "deny"]
    assert all("exit status was lost" in outcome.notices[0] for outcome in outcomes)


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """As some systems start programs; the hard limit is far above."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(descriptors()) + 24, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


OTHERS = [f"true {number}" for number in range(40)]


@pytest.mark.usefixtures("few_descriptors")
async def test_a_guard_among_many_hooks_finds_room(place: Place) -> None:
    outcome = await place.runner("PreToolUse", *OTHERS, "echo no >&2; exit 2").run(BASH)
    assert (outcome.decision, outcome.spawn_count, outcome.notices) == ("deny", 41, ())


async def test_a_guard_waits_for_room_where_limits_are_final(place: Place) -> None:
    commands = [{"type": "command", "command": c} for c in (*OTHERS, "echo no >&2; exit 2")]
    settings = place.project / "h.json"
    settings.write_text(json.dumps({"PreToolUse": [{"hooks": commands}]}))
    arguments = ["hooks", "run", "PreToolUse", "--settings", str(settings)]
    code = f"from tui.cli import main; raise SystemExit(main({arguments!r}))"
    limited = await asyncio.create_subprocess_exec(
        *("bash", "-c", 'ulimit -n 64 && exec "$0" -c "$1"', sys.executable, code),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**place.env, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    out, _ = await limited.communicate(b'{"tool_name": "Bash"}')
    line = json.loads(out)
    assert (line["decision"], line["spawned"], line["notices"]) == ("deny", 41, [])
