"""Leases, the team file and the task list: what is on the disk decides."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.teams.lease import Lease, LeaseTaken, holder, is_held
from agent.teams.task_list import TaskList
from agent.teams.team_file import MemberEntry, TeamPlace, open_team, read_team, write_team
from agent.teams.team_message import TeamError, checked_name
from tests.agent.teams.members import place_at

ENTRY = MemberEntry(
    name="ada",
    agent_id="ada@crew",
    session_id="s",
    executor="process",
    subtask="Count.",
    color="green",
)


def test_alive_is_who_holds_the_lease(tmp_path: Path) -> None:
    path = tmp_path / "ada" / "lease"
    assert not is_held(path)
    lease = Lease.take(path, "ada@crew")
    assert holder(path) == os.getpid()
    with pytest.raises(LeaseTaken, match="ada@crew is already running, in process"):
        Lease.take(path, "ada@crew")
    lease.release()
    assert not is_held(path)


def test_a_lease_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lease"
    code = (
        "import sys, time; from pathlib import Path; from agent.teams.lease import Lease; "
        "held = Lease.take(Path(sys.argv[1]), 'x'); print('ready', flush=True); time.sleep(600)"
    )
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, cwd=root
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert holder(path) == process.pid
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert holder(path) is None


def test_ids_are_names_that_can_be_read(tmp_path: Path) -> None:
    assert checked_name("researcher-2", "team member") == "researcher-2"
    for bad in ("", "Ada", "a/b", "..", "a" * 41, "-a", "a@b"):
        with pytest.raises(TeamError, match="cannot be the name of a team member"):
            checked_name(bad, "team member")
    with pytest.raises(TeamError):
        TeamPlace.of(tmp_path, "../etc")


def test_m6_the_team_file_names_the_leader_and_the_members(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    team = open_team(place, "session-1")
    write_team(place, team.with_member(ENTRY))
    found = open_team(place, "session-2")
    assert (found.leader_id, found.leader_session) == ("leader@crew", "session-2")
    assert found.member("ada@crew") == found.member("ada") == ENTRY
    changed = found.with_member(replace(ENTRY, status="idle"))
    assert [one.status for one in changed.members] == ["idle"]
    assert place.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "{half", "[]", '{"name": "crew"}', "\udcff"])
def test_a_broken_team_file_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    place = place_at(tmp_path)
    place.file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(TeamError, match=r"team\.json is damaged .* Move it away"):
        read_team(place)


def test_the_team_file_of_another_version_is_refused(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    write_team(place, replace(open_team(place, "s"), version=99))
    with pytest.raises(TeamError, match="not one of this version"):
        read_team(place)


def test_a_blocked_task_cannot_be_claimed_until_the_other_is_completed(tmp_path: Path) -> None:
    tasks = TaskList(tmp_path / "tasks.json")
    first = tasks.create("Read", "", ())
    second = tasks.create("Write", "", (first.id,))
    with pytest.raises(TeamError, match="Task 2 waits for 1"):
        tasks.claim(second.id, "ada@crew")
    tasks.claim(first.id, "bob@crew")
    with pytest.raises(TeamError, match="is bob@crew's"):
        tasks.claim(first.id, "ada@crew")
    with pytest.raises(TeamError, match="is bob@crew's"):
        tasks.complete(first.id, "ada@crew")
    tasks.complete(first.id, "bob@crew")
    assert tasks.claim(second.id, "ada@crew").owner == "ada@crew"
    with pytest.raises(TeamError, match="is completed"):
        tasks.claim(first.id, "bob@crew")


def test_a_dependency_has_to_exist(tmp_path: Path) -> None:
    tasks = TaskList(tmp_path / "tasks.json")
    with pytest.raises(TeamError, match="no task 7; there are: none"):
        tasks.create("Write", "", ("7",))


def test_one_of_many_that_claim_at_once_has_the_task(tmp_path: Path) -> None:
    tasks = TaskList(tmp_path / "tasks.json")
    task = tasks.create("Read", "", ())

    def claim(owner: str) -> bool:
        try:
            TaskList(tmp_path / "tasks.json").claim(task.id, owner)
        except TeamError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(claim, [f"w{number}@crew" for number in range(8)]))
    assert won.count(True) == 1


def test_what_a_lost_member_had_claimed_is_free_again(tmp_path: Path) -> None:
    tasks = TaskList(tmp_path / "tasks.json")
    task = tasks.create("Read", "", ())
    tasks.claim(task.id, "ada@crew")
    tasks.release("ada@crew")
    assert tasks.claim(task.id, "bob@crew").owner == "bob@crew"


def test_a_broken_task_list_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text("{")
    with pytest.raises(TeamError, match=r"tasks\.json cannot be read"):
        TaskList(path).all()
