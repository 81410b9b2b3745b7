"""Commands in the background: read in parts, ended completely."""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.assembly.tool_setup import ended_shells
from agent.tools.builtin.bash import bash_tool
from agent.tools.builtin.bash_output import bash_output_tool
from agent.tools.builtin.task_stop import task_stop_tool
from agent.tools.shell.shell_output import (
    MEMORY_CHARS,
    LineFolder,
    ShellOutput,
    count_lines_left_out,
)
from agent.tools.shell.shell_process import ShellProcess
from agent.tools.shell.shells import ShellRegistry
from permissions.base.process.process_tree import session_members
from tests.agent.tools.conftest import Bench

BASH, OUTPUT, STOP = bash_tool(), bash_output_tool(), task_stop_tool()


async def started(bench: Bench, command: str) -> ShellProcess:
    text = await bench.text(BASH, command=command, run_in_background=True)
    assert text.startswith("Running in the background as bash_")
    return bench.services.shells.all()[-1]


async def until_up(bench: Bench) -> None:
    """Wait until a command has written to the pipe `up`, which it does after what matters."""
    await asyncio.to_thread((bench.root / "up").read_text)


@pytest.fixture(autouse=True)
def pipes(bench: Bench) -> None:
    os.mkfifo(bench.root / "gate")
    os.mkfifo(bench.root / "up")


async def test_output_is_read_in_parts(bench: Bench) -> None:
    shell = await started(bench, "echo one; echo >up; cat gate; echo three; exit 4")
    await until_up(bench)
    first = await bench.text(OUTPUT, bash_id=shell.id)
    assert first.startswith("one\n[bash_1: running for 0 s. All output: ")
    assert (await bench.text(OUTPUT, bash_id=shell.id)).startswith("(no new output)\n[bash_1")
    await asyncio.to_thread((bench.root / "gate").write_text, "two\n")
    await shell.wait()
    last = await bench.call(OUTPUT, bash_id=shell.id)
    assert str(last.content).startswith("two\nthree\n[bash_1: ended with exit code 4 after 0 s.")
    assert last.tool_response is not None
    assert last.tool_response["status"] == "failed"
    assert shell.output.path.read_text() == "one\ntwo\nthree\n"


async def test_filter_keeps_matching_lines_only(bench: Bench) -> None:
    shell = await started(bench, "seq 1 20")
    await shell.wait()
    text = await bench.text(OUTPUT, bash_id=shell.id, filter="^1.$")
    assert text.split("\n[")[0].split("\n") == [str(n) for n in range(10, 20)]
    assert await bench.objection(OUTPUT, bash_id=shell.id, filter="(")


async def test_unread_flood_is_cut_at_the_front(bench: Bench) -> None:
    shell = await started(bench, "seq 1 100000")
    await shell.wait()
    text = await bench.text(OUTPUT, bash_id=shell.id)
    assert text.startswith("[… 573,895 characters before this are in ")
    assert "\n100000\n[bash_1: ended" in text
    assert len(text) < 16_000


async def test_stop_ends_everything_it_started(bench: Bench) -> None:
    shell = await started(bench, "sleep 71 & timeout 72 sleep 72 & echo >up; wait")
    await until_up(bench)
    assert len(session_members(shell.child.pid)) >= 3
    text = await bench.text(STOP, task_id=shell.id)
    assert text.startswith("Ended bash_1.")
    assert not session_members(shell.child.pid)
    assert "had already ended (killed)" in await bench.text(STOP, shell_id=shell.id)
    assert "stopped after" in await bench.text(OUTPUT, bash_id=shell.id)


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="seen through /proc")
async def test_stop_ends_what_left_the_session(bench: Bench) -> None:
    shell = await started(bench, "setsid bash -c 'sleep 600 & echo $$ >up; wait' & sleep 600")
    pid = int(await asyncio.to_thread((bench.root / "up").read_text))
    assert pid not in {member.pid for member in session_members(shell.child.pid)}
    assert pid in {member.pid for member in shell.child.family().members()}
    await shell.stop()
    assert not shell.child.family().members()


async def test_systems_without_proc_stop_the_group(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = await started(bench, "sleep 77 & echo >up; wait")
    await until_up(bench)
    with monkeypatch.context() as patch:
        patch.setattr("permissions.base.process.process_tree._has_proc", lambda: False)
        assert [member.pid for member in session_members(shell.child.pid)] == [shell.child.pid]
        await shell.stop()
    assert not session_members(shell.child.pid)


async def test_unknown_ids_are_answered_with_the_existing_ones(bench: Bench) -> None:
    await started(bench, "true")
    objection = await bench.objection(OUTPUT, bash_id="bash_9")
    assert objection == "There is no background command 'bash_9'. Known ids: bash_1."
    assert await bench.objection(STOP, task_id="x")


async def test_finished_commands_are_reported_once(bench: Bench) -> None:
    shell = await started(bench, "echo hi")
    other = await started(bench, "sleep 73")
    await shell.wait()
    await shell.wait_ended()
    await asyncio.sleep(0)
    assert bench.services.shells.take_finished() == (shell,)
    await other.stop()
    await asyncio.sleep(0)
    assert bench.services.shells.take_finished() == ()


async def test_how_many_run_is_reported_as_it_changes(bench: Bench) -> None:
    shells, told = bench.services.shells, list[int]()
    shells.on_change = lambda: told.append(shells.running_count)
    shell = await started(bench, "sleep 74")
    await started(bench, "sleep 75")
    await shell.stop()
    await asyncio.sleep(0)
    assert told == [1, 2, 1]


async def test_background_commands_do_not_move_the_directory(bench: Bench) -> None:
    (bench.root / "sub").mkdir()
    shell = await started(bench, "cd sub")
    await shell.wait()
    assert bench.services.cwd == bench.root


async def test_leftovers_are_followed_to_their_end(bench: Bench) -> None:
    await bench.call(BASH, command="(cat gate; echo late) & echo now")
    shell = bench.services.shells.get("bash_1")
    assert shell is not None
    await asyncio.to_thread((bench.root / "gate").write_text, "x\n")
    await shell.wait_ended()
    assert shell.output.path.read_text() == "now\nx\nlate\n"


async def test_kill_all_leaves_no_process_descriptor_or_directory(bench: Bench) -> None:
    descriptors = os.listdir("/dev/fd")
    shells = [await started(bench, f"sleep 7{n} & sleep 8{n}") for n in range(4)]
    await bench.services.shells.kill_all()
    assert [session_members(shell.child.pid) for shell in shells] == [()] * 4
    assert len(os.listdir("/dev/fd")) <= len(descriptors) + 1
    assert sorted(p.name for p in bench.services.results_dir.iterdir() if p.is_dir()) == []


async def test_what_the_end_cuts_off_is_named(bench: Bench) -> None:
    shells = bench.services.shells
    await (await started(bench, "true")).wait_ended()
    await started(bench, "sleep 75")
    await started(bench, f"sleep 76 # {'x' * 100}\n:")
    assert shells.closing_notice() == ()
    await shells.kill_all()
    (line,) = shells.closing_notice()
    cut = f"sleep 76 # {'x' * 100}"[:79]
    assert line == f"ended with the conversation, in the background: sleep 75, {cut}…"


async def test_kill_now_needs_no_loop(bench: Bench) -> None:
    shell = await started(bench, "trap '' TERM; echo >up; sleep 74")
    await until_up(bench)
    bench.services.shells.kill_now()
    await shell.wait()
    assert shell.exit_code == -9


async def test_files_of_an_earlier_run_are_kept(tmp_path: Path) -> None:
    (tmp_path / "bash_1.txt").write_text("earlier")
    shells = ShellRegistry()
    shell = await shells.start("echo x", cwd=tmp_path, env={}, results_dir=tmp_path)
    shells.to_background(shell)
    await shell.wait()
    assert shell.output.path == tmp_path / "bash_1-2.txt"
    assert shell.output.path.read_text() == "x\n"
    await shells.kill_all()


async def test_unwritable_results_cost_only_the_file(tmp_path: Path) -> None:
    output = ShellOutput(tmp_path / "missing" / "x.txt")
    output.feed(b"line\n" * 20_000)
    output.close()
    assert "it was not saved; the file could not be made" in output.text()


LINES = st.lists(st.sampled_from(["a", "bc", "\n", "\r\n", "\r", "é🙂", "\x1b[1m"]), max_size=40)


@given(LINES, st.lists(st.integers(0, 200), max_size=8))
def test_output_does_not_depend_on_how_it_arrives(parts: list[str], cuts: list[int]) -> None:
    data = "".join(parts).encode()
    whole = ShellOutput(Path("/nonexistent/never-made"))
    whole.feed(data)
    whole.close()
    pieces = ShellOutput(Path("/nonexistent/never-made"))
    positions = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in pairwise(positions):
        pieces.feed(data[start:end])
    pieces.close()
    assert pieces.text() == whole.text()


@pytest.mark.parametrize("count", [10, 100_000])
def test_the_note_counts_the_lines_that_are_left_out(count: int) -> None:
    output = ShellOutput(Path("/nonexistent/never-made"))
    output.feed("".join(f"{number}\n" for number in range(count)).encode())
    output.close()
    assert output.text().count("\n") + count_lines_left_out(output.text()) == count


@given(st.lists(st.text(alphabet="ab\n", max_size=9_000), max_size=12))
def test_head_and_tail_are_the_text_itself(parts: list[str]) -> None:
    text = "".join(parts)
    output = ShellOutput(Path("/nonexistent/never-made"))
    for part in parts:
        output.feed(part.encode())
    output.close()
    assert output.total_chars == len(text)
    if len(text) <= MEMORY_CHARS:
        assert output.text() == text
    else:
        assert len(output.text()) < MEMORY_CHARS + 300


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("10%\r20%\r\n", "20%\n"),
        ("a\rb", "b"),
        ("a\r", "a"),
        ("a\r\r\n", "a\n"),
        ("\r\n", "\n"),
        ("a\nb", "a\nb"),
        ("50%\r" * 30_000 + "51%\n", "51%\n"),
        ("50%\r" * 30_000, "50%"),
        ("x" * 70_000 + "\n", "x" * 70_000 + "\n"),
    ],
)
def test_carriage_returns_write_a_line_anew(text: str, folded: str) -> None:
    directory = LineFolder()
    assert directory.feed(text) + directory.finish() == folded


async def test_flood_neither_stalls_the_loop_nor_grows_memory(bench: Bench) -> None:
    longest_s = 0.0
    running = True

    async def watch() -> None:
        nonlocal longest_s
        clock = asyncio.get_running_loop().time
        while running:
            before = clock()
            await asyncio.sleep(0)
            longest_s = max(longest_s, clock() - before)

    watcher = asyncio.ensure_future(watch())
    outcome = await bench.call(BASH, command="head -c 30000000 /dev/zero | tr '\\0' '\\n'")
    running = False
    await watcher
    assert len(str(outcome.content)) < 40_000
    # Generous, for slow machines: without yielding it would be the whole run, seconds.
    assert longest_s < 0.5


async def test_users_and_the_model_read_different_words_about_a_finished_command(
    bench: Bench,
) -> None:
    shells, changed = bench.services.shells, asyncio.Event()
    await started(bench, "cat gate; echo one;\nexit 3")
    shells.on_change = changed.set
    await asyncio.to_thread((bench.root / "gate").write_text, "")
    await changed.wait()
    (report,) = ended_shells(shells)()
    assert report.line == "Background command finished (exit 3): cat gate; echo one; exit 3"
    assert "Use BashOutput" in report.text
