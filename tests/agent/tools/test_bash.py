"""Bash: real processes, from their first byte to the last one killed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agent.display import CommandDisplay
from agent.tools.base import Concurrency, ToolOutcome
from agent.tools.builtin.bash import bash_tool
from permissions.base.process.process_tree import session_members
from tests.agent.tools.conftest import Bench

BASH = bash_tool()


def sleep(seconds: int) -> str:
    """Return a command that no other process on this machine runs."""
    return f"sleep {seconds}.{os.getpid()}"


async def test_output_of_both_streams_keeps_its_order(bench: Bench) -> None:
    text = await bench.text(BASH, command="for i in 1 2 3; do echo o$i; echo e$i >&2; done")
    assert text == "o1\ne1\no2\ne2\no3\ne3"


async def test_structured_result_has_the_fields_hooks_know(bench: Bench) -> None:
    outcome = await bench.call(BASH, command="echo hi")
    assert outcome.tool_response == {
        "stdout": "hi",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "exitCode": 0,
    }
    assert outcome.display == CommandDisplay("echo hi", "hi\n", 0)
    assert not outcome.is_error


@pytest.mark.parametrize(
    ("command", "said", "is_error"),
    [
        ("exit 3", "Exit code 3.", True),
        ("false", "Exit code 1.", True),
        ("grep -q x /dev/null", "Exit code 1 (no match).", False),
        ("grep -q x /dev/null; false", "Exit code 1.", True),
        ("kill -KILL $$", "Ended by signal 9 (SIGKILL).", True),
        ("sh -c 'kill -TERM $$'", "Exit code 143 (SIGTERM).", True),
        ("true", "(no output)", False),
        ("no-such-program", "Exit code 127.", True),
        ("if", "Exit code 2.", True),
    ],
)
async def test_how_it_ended_is_reported(
    bench: Bench, command: str, said: str, is_error: bool
) -> None:
    outcome = await bench.call(BASH, command=command)
    assert isinstance(outcome.content, str)
    assert outcome.content.endswith(said)
    assert outcome.is_error is is_error


@pytest.mark.parametrize(
    "command",
    [
        "cd sub",
        "cd sub; exit 0",
        "cd sub && false",
        "set -e; cd sub; false",
        "cd sub; set -C; exit 7",
        "cd sub\n# trailing comment",
        "cd sub; cat <<X\nunfinished here-document",
        "cd sub; (cd ..; exit 3)",
        "cd sub; kill -TERM $$",
    ],
)
async def test_current_directory_persists_however_the_command_ends(
    bench: Bench, command: str
) -> None:
    (bench.root / "sub").mkdir()
    await bench.call(BASH, command=command)
    assert bench.services.cwd == bench.root / "sub"


async def test_nothing_but_the_directory_persists(bench: Bench) -> None:
    await bench.call(BASH, command="x=1; export y=2; f() { :; }; alias z=true")
    assert await bench.text(BASH, command="echo [$x$y]; type f 2>/dev/null; alias") == "[]"


async def test_directory_names_may_hold_anything(bench: Bench) -> None:
    name = os.fsdecode("new\nline ‘ü’ 🙂 ".encode() + b"\xff")
    (bench.root / name).mkdir()
    await bench.call(BASH, command="cd new*")
    assert bench.services.cwd == bench.root / name
    assert await bench.text(BASH, command='basename "$PWD" | head -1') == "new"


async def test_directory_outside_the_scope_is_not_kept(bench: Bench) -> None:
    text = await bench.text(BASH, command="cd /; echo here")
    assert text.startswith("here\n[The current directory is still ")
    assert bench.services.cwd == bench.root


async def test_vanished_directory_falls_back_to_the_launch_directory(bench: Bench) -> None:
    (bench.root / "sub").mkdir()
    await bench.call(BASH, command="cd sub")
    (bench.root / "sub").rmdir()
    text = await bench.text(BASH, command="pwd")
    assert text.startswith(f"{bench.root}\n[")
    assert bench.services.cwd == bench.root


async def test_environment_cannot_run_code_before_the_command(bench: Bench) -> None:
    planted = bench.file("planted", "echo planted\n")
    bench.services.env = {
        **bench.services.env,
        "BASH_ENV": str(planted),
        "ENV": str(planted),
        "BASH_FUNC_ls%%": "() { echo planted; }",
        "SHELLOPTS": "xtrace",
        "PS4": "$(echo planted)",
        "CDPATH": "/",
    }
    bench.file("home/.bashrc", "echo planted")
    text = await bench.text(BASH, command="ls; echo [$BASH_ENV][$CDPATH]")
    assert text == "home\nplanted\n[][]"


async def test_no_terminal_no_input_own_session(bench: Bench) -> None:
    text = await bench.text(
        BASH,
        command='read x; echo "read:$?"; (echo x >/dev/tty) 2>/dev/null; echo "tty:$?"; '
        "[ $$ = \"$(ps -o sid= -p $$ | tr -d ' ')\" ] && echo leader; echo $TMPDIR",
    )
    assert text == f"read:1\ntty:1\nleader\n{bench.services.scratch_dir}"


async def test_hook_environment_files_are_sourced_first(bench: Bench) -> None:
    bench.services.env_files.append(bench.file("env file.sh", "export FROM_HOOK='a b'\necho noise"))
    assert await bench.text(BASH, command='echo "$FROM_HOOK"') == "a b"


async def test_the_command_runs_exactly_as_given(bench: Bench) -> None:
    command = "printf '%s|' \"$0\" \"$#\" '\\' '🙂' \"$(echo 'a  b')\""
    assert await bench.text(BASH, command=command) == "/bin/bash|0|\\|🙂|a  b|"


async def test_timeout_ends_the_whole_group(bench: Bench) -> None:
    async with asyncio.timeout(40):
        outcome = await bench.call(
            BASH, command=f"echo before; timeout 60 {sleep(50)} & {sleep(51)} & wait", timeout=300
        )
    assert isinstance(outcome.content, str)
    assert outcome.content.startswith("before\nTimed out after 0.3 s and was ended.")
    assert outcome.is_error
    assert not await _running(sleep(50), sleep(51))


async def test_processes_that_ignore_term_are_killed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.tools.shell.shell_process.GRACE_S", 0.2)
    outcome = await bench.call(
        BASH, command="trap '' TERM; while :; do sleep 0.01; done", timeout=200
    )
    assert outcome.is_error


async def test_interrupt_returns_what_was_printed(bench: Bench) -> None:
    bench.on_live = lambda _: bench.controller.abort()
    outcome = await bench.call(BASH, command=f"echo partial; {sleep(61)}")
    assert isinstance(outcome.content, str)
    # Bash may still tell that its child was terminated.
    assert outcome.content.startswith("partial\n")
    assert "by the user, and ended." in outcome.content
    assert outcome.tool_response is not None
    assert outcome.tool_response["interrupted"] is True
    assert not await _running(sleep(61))


async def test_interrupt_through_the_race_of_the_lifecycle(bench: Bench) -> None:
    bench.on_live = lambda _: bench.controller.abort()

    async def run() -> ToolOutcome:
        return await bench.call(BASH, command=f"echo partial; {sleep(62)}")

    outcome = await bench.controller.signal.race(run())
    assert "Interrupted" in str(outcome.content)
    assert not await _running(sleep(62))


async def test_cancelled_task_leaves_no_process(bench: Bench) -> None:
    started = asyncio.Event()
    bench.on_live = lambda _: started.set()
    task = asyncio.ensure_future(bench.call(BASH, command=f"echo go; {sleep(63)}"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not await _running(sleep(63))


async def test_commands_still_run_where_nothing_can_be_written(bench: Bench) -> None:
    bench.services.results_dir.write_text("a file where the folder should be")
    (bench.root / "sub").mkdir()
    text = await bench.text(BASH, command="cd sub; pwd")
    assert text.startswith(f"{bench.root}/sub\n[")
    assert "do not carry over" in text
    assert bench.services.cwd == bench.root


async def test_live_output_arrives_while_the_command_runs(bench: Bench) -> None:
    fifo = bench.root / "fifo"
    os.mkfifo(fifo)

    def release(_text: str) -> None:
        descriptor = os.open(fifo, os.O_RDWR)
        os.write(descriptor, b"x")
        bench.on_live = None

    bench.on_live = release
    assert await bench.text(BASH, command="echo first; head -c1 fifo") == "first\nx"
    assert bench.live[0] == "first\n"


async def test_output_reaches_the_model_as_text(bench: Bench) -> None:
    text = await bench.text(
        BASH,
        command=r"printf '\e[31mred\e[0m\ttab\n10%%\r20%%\r\n"
        r"\e]0;title\a\x9b31mé 🙂\xff\n\u202eevil\n'",
    )
    assert text == "red\ttab\n20%\n�31mé 🙂�\nevil"


async def test_flood_is_bounded_and_kept_in_a_private_file(bench: Bench) -> None:
    outcome = await bench.call(BASH, command="seq 1 200000")
    assert isinstance(outcome.content, str)
    assert outcome.content.startswith("1\n2\n")
    assert outcome.content.endswith("\n200000")
    assert len(outcome.content) < BASH.max_result_size_chars
    assert outcome.tool_response is not None
    path = Path(str(outcome.tool_response["persistedOutputPath"]))
    assert str(path) in outcome.content
    assert path.read_text() == "".join(f"{i}\n" for i in range(1, 200_001))
    assert path.stat().st_mode & 0o777 == 0o600


async def test_long_line_does_not_stall(bench: Bench) -> None:
    outcome = await bench.call(BASH, command="head -c 5000000 /dev/zero | tr '\\0' x")
    assert isinstance(outcome.content, str)
    assert len(outcome.content) < BASH.max_result_size_chars
    assert "4,970,000 characters left out" in outcome.content


async def test_what_outlives_the_command_is_named_and_ended_with_the_session(bench: Bench) -> None:
    outcome = await bench.call(BASH, command=f"{sleep(64)} & echo done")
    assert isinstance(outcome.content, str)
    assert outcome.content.startswith("done\n[Processes that the command started are still running")
    assert not outcome.is_error
    await bench.services.shells.kill_all()
    assert not await _running(sleep(64))


async def test_user_can_send_a_running_command_to_the_background(bench: Bench) -> None:
    bench.on_live = lambda _: assert_true(bench.services.shells.send_to_background())
    text = await bench.text(BASH, command="echo early; sleep 65")
    assert "sent the command to the background as bash_1" in text
    shell = bench.services.shells.get("bash_1")
    assert shell is not None
    assert shell.is_running
    assert session_members(shell.child.pid)
    await shell.stop()
    assert not session_members(shell.child.pid)


@pytest.mark.parametrize("command", ["  ", "a\0b"])
async def test_impossible_commands_are_refused(bench: Bench, command: str) -> None:
    assert await bench.objection(BASH, command=command)


async def test_command_too_long_for_the_system_is_refused_plainly(bench: Bench) -> None:
    with pytest.raises(Exception, match="too long"):
        await bench.call(BASH, command="echo " + "x" * 3_000_000)


@pytest.mark.parametrize(
    ("command", "is_harmless"),
    [
        ("ls -la", True),
        ("git status && git log --oneline | head -5", True),
        ("grep -rn x src 2>/dev/null | wc -l", True),
        ("cat a b", True),
        ("cd src && ls", False),
        ("ls > out", False),
        ("ls $(touch x)", False),
        ("find . -delete", False),
        ("sh -c ls", False),
        ("$x", False),
        ("make", False),
        ("ls; (", False),
        ("ls &", True),
    ],
)
def test_only_provably_reading_commands_run_beside_others(command: str, is_harmless: bool) -> None:
    parsed = BASH.parse({"command": command})
    assert BASH.concurrency(parsed) is (
        Concurrency.READ_ONLY if is_harmless else Concurrency.UNSAFE
    )
    assert BASH.is_read_only(parsed) is is_harmless
    assert BASH.is_destructive(parsed) is not is_harmless


def test_blanks_push_nothing_out_of_the_line(tmp_path: Path) -> None:
    parsed = BASH.parse({"command": "git status" + " " * 300 + "; touch x"})
    assert BASH.identifier(parsed, tmp_path) == "Bash git status ⋯ ; touch x"


def test_identifier_is_one_line(tmp_path: Path) -> None:
    parsed = BASH.parse({"command": "echo a\necho b\n"})
    assert BASH.identifier(parsed, tmp_path) == "Bash echo a ↵ echo b"


async def test_many_commands_leave_nothing_behind(bench: Bench) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(10):
        await bench.call(BASH, command="echo x")
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after <= before + 1
    assert not list(bench.services.results_dir.iterdir())


def assert_true(value: bool) -> None:
    assert value


async def _running(*commands: str) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        "ps", "-eo", "args=", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    lines = output.decode().splitlines()
    return [line for line in lines if line.strip() in commands]


async def test_a_command_that_times_out_may_continue_in_the_background(bench: Bench) -> None:
    bench.services.background_on_timeout = True
    outcome = await bench.call(BASH, command=f"echo early; {sleep(62)}", timeout=200)
    assert not outcome.is_error
    assert "Not done after 0.2 s; it continues in the background as" in str(outcome.content)
    assert outcome.tool_response is not None
    assert outcome.tool_response["backgroundTaskId"]
    assert await _running(sleep(62))
