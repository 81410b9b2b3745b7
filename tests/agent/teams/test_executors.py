"""Where workers run: what is chosen, what each terminal is asked for, and a real pane of tmux."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent.options import RunOptions
from agent.teams.executors.choose_executor import Executors
from agent.teams.executors.executor import SpawnConfig, read_start, write_start
from agent.teams.executors.in_process import InProcessExecutor
from agent.teams.executors.own_process import DeathWatch
from agent.teams.executors.pane_terminals import TERMINALS, PaneTerminal, terminal_here
from agent.teams.executors.panes import PaneExecutor
from agent.teams.team_message import TeamError
from tests.agent.teams.members import TEAM, place_at

BY_NAME = {one.name: one for one in TERMINALS}
KITTY = {"KITTY_WINDOW_ID": "1", "KITTY_LISTEN_ON": "unix:/tmp/x"}


def config(place_dir: Path, cwd: Path, name: str = "ada") -> SpawnConfig:
    return SpawnConfig(
        agent_id=f"{name}@{TEAM}",
        team=TEAM,
        team_dir=place_dir,
        leader_id=f"leader@{TEAM}",
        color="green",
        cwd=cwd,
        options=RunOptions(team=None, add_dirs=(cwd,), tools=("Read",), session_id="x"),
        grace_s=1.5,
    )


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        (KITTY, "kitty"),
        ({"KITTY_WINDOW_ID": "1"}, None),
        ({"WEZTERM_PANE": "0"}, "wezterm"),
        ({"TERM_PROGRAM": "iTerm.app"}, "iterm2"),
        ({"TMUX": "/tmp/x"}, "tmux"),
        ({"TMUX": "/tmp/x", **KITTY}, "tmux"),
    ],
)
def test_m7_panes_are_those_of_the_terminal_that_is_here(
    env: dict[str, str], expected: str | None
) -> None:
    found = terminal_here(env)
    assert (found.name if found is not None else None) == expected


@pytest.mark.parametrize(
    ("mode", "env", "expected"),
    [
        ("auto", {"TMUX": "x"}, "in-process"),
        ("in-process", {"TMUX": "x"}, "in-process"),
        ("process", {"TMUX": "x"}, "process"),
        ("panes", {"TMUX": "x"}, "tmux"),
        ("tmux", KITTY, "kitty"),
        ("panes", {}, "in-process"),
    ],
)
async def test_m7_three_executor_backends_are_chosen_by_setting_and_by_what_is_here(
    tmp_path: Path, mode: str, env: dict[str, str], expected: str
) -> None:
    place = place_at(tmp_path)

    async def run(_: SpawnConfig) -> None:
        return

    watch = DeathWatch(place, lambda _: None)
    executors = Executors(place, env, mode, InProcessExecutor(run, lambda _: None), watch)
    assert executors.choose(None).name == expected
    # What an earlier leader used, as far as it is here.
    assert executors.choose("process").name == "process"
    assert executors.choose("iterm2").name in {expected, "process"}


def test_a_start_survives_its_file(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    given = config(place.directory, tmp_path)
    path = write_start(place, given, env={"KEY": "v"})
    assert path.stat().st_mode & 0o777 == 0o600
    found = read_start(path)
    assert found.options == given.options
    assert (found.cwd, found.env, found.place) == (tmp_path, {"KEY": "v"}, place)
    path.write_text("{")
    with pytest.raises(TeamError, match="does not say what to start"):
        read_start(path)


@pytest.mark.parametrize("name", ["kitty", "wezterm", "iterm2", "tmux"])
def test_the_command_is_passed_as_it_is(tmp_path: Path, name: str) -> None:
    command = ("/py", "/a b/agent_tui.py", "worker", "/it's/start.json")
    terminal = BY_NAME[name]  # type: ignore[index]
    argv = terminal.split(config(tmp_path, tmp_path), command, {"WEZTERM_PANE": "3"}, "")
    if name in {"kitty", "wezterm"}:
        assert argv[-4:] == command
    else:
        assert "/a b/agent_tui.py" in argv[-1]
        assert "start.json" in argv[-1]


def test_a_second_pane_is_below_the_first_where_the_terminal_has_no_layout(tmp_path: Path) -> None:
    given, env = config(tmp_path, tmp_path), {"WEZTERM_PANE": "3"}
    beside = BY_NAME["wezterm"].split(given, ("cat",), env, "")
    assert beside[3:6] == ("--pane-id", "3", "--right")
    below = BY_NAME["wezterm"].split(given, ("cat",), env, "7")
    assert below[3:6] == ("--pane-id", "7", "--bottom")
    assert "split vertically" in BY_NAME["iterm2"].split(given, ("cat",), {}, "")[-1]
    assert "split horizontally" in BY_NAME["iterm2"].split(given, ("cat",), {}, "A-B")[-1]


async def test_a_pane_that_closed_is_not_missed(tmp_path: Path) -> None:
    """What should be the pane above the next one is gone; that one opens beside the leader."""
    opened = tmp_path / "opened"
    terminal = PaneTerminal(
        "wezterm",
        lambda _env: True,
        lambda _config, _command, _env, above: (
            "sh", "-c", f"test -z '{above}' && echo 5 && echo x >> {opened}",
        ),
        lambda _pane, _config: (("false",),),
    )  # fmt: skip
    place = place_at(tmp_path)
    env = {"PATH": os.environ["PATH"]}
    executor = PaneExecutor(place, env, terminal, DeathWatch(place, lambda _: None))
    for name in ("ada", "bob"):
        place.member_dir(name).mkdir(parents=True)
        found = await executor.spawn(config(place.directory, tmp_path, name))
        assert found.pane == "5"
    assert opened.read_text() == "x\nx\n"


async def test_an_exception_of_a_worker_ends_that_worker_alone() -> None:
    ended: list[str] = []
    goes_on = asyncio.Event()

    async def run(given: SpawnConfig) -> None:
        if given.name == "ada":
            raise RuntimeError("boom")
        await goes_on.wait()

    executor = InProcessExecutor(run, ended.append)
    here = Path("/")
    await executor.spawn(config(here, here, "ada"))
    await executor.spawn(config(here, here, "bob"))
    while not ended:  # noqa: ASYNC110 - a list announces nothing
        await asyncio.sleep(0)
    assert ended == ["ada@crew"]
    assert await executor.terminate("bob@crew")
    assert not await executor.terminate("bob@crew")


async def test_the_death_of_an_adopted_process_is_reported(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    died = asyncio.Event()
    watch = DeathWatch(place, lambda _: died.set())
    code = (
        "import sys, time; from pathlib import Path; from agent.teams.lease import Lease; "
        "held = Lease.take(Path(sys.argv[1]), 'x'); print('ready', flush=True); time.sleep(600)"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code,
        str(place.lease("ada")), cwd=Path(__file__).resolve().parents[3],
        stdout=asyncio.subprocess.PIPE, env={**os.environ},
    )  # fmt: skip
    assert process.stdout is not None
    await process.stdout.readline()
    watch.follow("ada@crew")
    process.kill()
    await died.wait()
    await process.wait()
    await watch.aclose()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_a_pane_of_tmux_has_its_color_and_its_name(tmp_path: Path) -> None:
    socket = ("tmux", "-L", f"agent-tui-{os.getpid()}", "-f", "/dev/null")

    def tmux(*arguments: str) -> str:
        done = subprocess.run(
            [*socket, *arguments], check=True, capture_output=True, text=True, timeout=30
        )
        return done.stdout.strip()

    tmux("new-session", "-d", "-x", "160", "-y", "40", "-s", "t", "cat")
    try:
        own = tmux("list-panes", "-t", "t", "-F", "#{pane_id}")
        # tmux runs such a part of a name as a command.
        cwd = tmp_path / "#(touch ran)"
        cwd.mkdir()
        given = config(tmp_path, cwd)
        terminal = BY_NAME["tmux"]
        pane = tmux(*terminal.split(given, ("cat",), {"TMUX_PANE": own}, "")[1:])
        for argv in terminal.mark(pane, given):
            tmux(*argv[1:])
        look = "#{pane_id} #{pane_title} #{E:pane-border-style}"
        assert f"{pane} ada@crew fg=green" in tmux("list-panes", "-t", "t", "-F", look)
        assert "fg=green" not in tmux("display-message", "-p", "-t", own, "#{E:pane-border-style}")
        assert tmux("display-message", "-p", "-t", pane, "#{pane_current_path}") == str(cwd)
    finally:
        tmux("kill-server")
