"""Real programs: how they are started, fed, read and ended."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path

import pytest

from hooks.answers.response import HandlerOutcome
from hooks.config.config import HookLayer
from hooks.config.spec import HookSource, PluginRoot
from hooks.events import CwdChanged, FileChanged, PreToolUse, SessionStart, Stop, UserPromptSubmit
from hooks.execution.environment import fill_single_quoted
from hooks.ports import HookPorts
from tests.hooks.conftest import Place

BASH = PreToolUse(tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1")
PROMPT = UserPromptSubmit(prompt="hi “there” \\ 🙂")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def test_a_command_reads_the_whole_payload(place: Place) -> None:
    outcome = await place.runner("UserPromptSubmit", "cat").run(PROMPT)
    # Its own input is no answer, so it is read back from what was printed.
    assert json.loads(outcome.results[0].stdout) == {
        "session_id": "session-1",
        "transcript_path": str(place.root / "transcript.jsonl"),
        "cwd": str(place.project),
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "hi “there” \\ 🙂",
    }
    assert outcome.additional_context is None


@pytest.mark.parametrize(
    "command",
    [
        "a=(1 2); [[ ${a[1]} == 2 ]] && echo yes",
        "# a comment\necho yes",
        'F="$HOME"; [ -d $F ] || [ -d "$F" ] && echo yes',
        "~/run.sh",
        '"$CLAUDE_PROJECT_DIR"/run.sh',
        "'${CLAUDE_PROJECT_DIR}/run.sh'",
        "cat > /dev/null; echo yes",
        "(exit 2) || echo yes",
    ],
)
async def test_shell_form_is_bash_without_profiles(place: Place, command: str) -> None:
    for directory in (place.home, place.project):
        script(directory / "run.sh", "echo yes\n")
        (directory / ".bashrc").write_text("echo profile")
        (directory / ".bash_profile").write_text("echo profile")
    env = {"BASH_ENV": str(place.home / ".bashrc"), "ENV": str(place.home / ".bashrc")}
    outcome = await place.runner("UserPromptSubmit", command, env=env).run(PROMPT)
    assert outcome.additional_context == "yes", outcome.notices


async def test_a_shell_that_reads_line_by_line_sees_the_payload(place: Place) -> None:
    command = 'while IFS= read -r line; do text+="$line"; done; [ -n "$text" ] && echo seen'
    outcome = await place.runner("UserPromptSubmit", command).run(PROMPT)
    assert outcome.additional_context == "seen"


@pytest.mark.parametrize("code", ["import json", "import yaml"])
async def test_python_code_in_a_command_loads_nothing_of_the_project(
    place: Place, code: str
) -> None:
    """What guards files may run where the model may write."""
    (place.project / f"{code.split()[-1]}.py").write_text("print('evil')")
    command = f"{sys.executable} -c '{code}' 2>/dev/null; echo ended"
    outcome = await place.runner("UserPromptSubmit", command).run(PROMPT)
    assert outcome.results[0].stdout == "ended\n"


async def test_no_hook_runs_in_the_temporary_directory_of_the_session(place: Place) -> None:
    """Commands that only read may write there, in plan mode as well."""
    scratch = place.root / "scratch"
    (scratch / "deep").mkdir(parents=True)
    for cwd in (scratch, scratch / "deep", place.project):
        session = place.session()
        session.scratch_dir, session.cwd = scratch, cwd
        outcome = await place.runner("UserPromptSubmit", "pwd", session=session).run(PROMPT)
        assert outcome.results[0].stdout == f"{place.project}\n"


async def test_a_shell_of_the_project_is_not_used(place: Place) -> None:
    script(place.project / "bin" / "bash", f"#!/bin/sh\ntouch '{place.root}/ran'\n")
    env = {"PATH": f"{place.project / 'bin'}:bin:{os.environ['PATH']}"}
    outcome = await place.runner("UserPromptSubmit", "echo yes", env=env).run(PROMPT)
    assert outcome.additional_context == "yes", outcome.notices
    assert not (place.root / "ran").exists()


async def test_exec_form_runs_without_a_shell_and_fills_placeholders(place: Place) -> None:
    script(place.project / "it's.sh", "#!/bin/sh\nprintf '%s|' \"$@\"\n")
    handler = {
        "type": "command",
        "command": "${CLAUDE_PROJECT_DIR}/it's.sh",
        "args": ["${CLAUDE_PROJECT_DIR}", "$HOME; rm -rf /", "*"],
    }
    outcome = await place.runner("UserPromptSubmit", handler).run(PROMPT)
    assert outcome.additional_context == f"{place.project}|$HOME; rm -rf /|*|"


async def test_empty_args_are_exec_form_and_a_script_without_shebang_runs(place: Place) -> None:
    script(place.home / "plain", "echo $0 ran\n")
    handler = {"type": "command", "command": "~/plain", "args": []}
    outcome = await place.runner("UserPromptSubmit", handler).run(PROMPT)
    assert outcome.additional_context == f"{place.home}/plain ran"


def test_placeholders_are_filled_inside_single_quotes_only() -> None:
    env = {"CLAUDE_PLUGIN_ROOT": "/a b"}
    fill = fill_single_quoted
    assert fill("'${CLAUDE_PLUGIN_ROOT}/x'", env) == "'/a b/x'"
    assert fill('"${CLAUDE_PLUGIN_ROOT}/x"', env) == '"${CLAUDE_PLUGIN_ROOT}/x"'
    assert fill("\"it's ${CLAUDE_PLUGIN_ROOT}\" '", env) == "\"it's ${CLAUDE_PLUGIN_ROOT}\" '"
    evil = {"CLAUDE_PLUGIN_ROOT": "/x'; touch /tmp/pwned; '"}
    assert fill("'${CLAUDE_PLUGIN_ROOT}'", evil) == "'${CLAUDE_PLUGIN_ROOT}'"


async def test_the_environment_has_our_names_and_the_usual_ones(place: Place) -> None:
    plugin = PluginRoot("demo", place.root / "plug in", place.root / "data", {"api key": "k"})
    section = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "env -0"}]}]}}
    session = place.session()
    session.effort = "high"
    runner = place.layered(
        HookLayer(HookSource.PLUGIN, section, plugin=plugin),
        session=session,
        env={"OTEL_EXPORTER": "x", "KEPT": "1", "BASH_FUNC_ls%%": "() { :; }"},
    )
    outcome = await runner.run(SessionStart(source="startup"))
    stdout = outcome.results[0].stdout
    env = dict(entry.split("=", 1) for entry in stdout.split("\0") if "=" in entry)
    env_file = str(place.root / "state" / "hook-env" / "others" / "env-SessionStart.sh")
    for prefix in ("CLAUDE", "AGENT_TUI"):
        assert env[f"{prefix}_PROJECT_DIR"] == str(place.project)
        assert env[f"{prefix}_PLUGIN_ROOT"] == str(place.root / "plug in")
        assert env[f"{prefix}_PLUGIN_DATA"] == str(place.root / "data")
        assert env[f"{prefix}_PLUGIN_OPTION_API_KEY"] == "k"
        assert env[f"{prefix}_ENV_FILE"] == env_file
        assert env[f"{prefix}_EFFORT"] == "high"
        assert env[f"{prefix}_PID"] == "4242"
    assert env["CLAUDE_CODE_SESSION_ID"] == env["AGENT_TUI_SESSION_ID"] == "session-1"
    assert env["CLAUDECODE"] == env["CLAUDE_CODE_CHILD_SESSION"] == env["KEPT"] == "1"
    assert not [name for name in env if name.startswith(("OTEL_", "BASH_FUNC", "CLAUDE_TOOL"))]


async def test_secrets_are_scrubbed_on_request(place: Place) -> None:
    env = {"ANTHROPIC_API_KEY": "secret", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1"}
    runner = place.runner("UserPromptSubmit", "echo [$ANTHROPIC_API_KEY]", env=env)
    assert (await runner.run(PROMPT)).additional_context == "[]"


async def test_an_env_file_is_reported_only_when_written(place: Place) -> None:
    silent = place.runner("SessionStart", "true")
    assert (await silent.run(SessionStart(source="startup"))).env_file is None
    runner = place.runner("CwdChanged", 'echo "export A=1" >> "$CLAUDE_ENV_FILE"')
    outcome = await runner.run(CwdChanged(old_cwd="/a", new_cwd="/b"))
    assert outcome.env_file is not None
    assert outcome.env_file.read_text() == "export A=1\n"
    assert stat.S_IMODE(outcome.env_file.stat().st_mode) == 0o600
    assert runner.env_files.written_files() == (outcome.env_file,)
    await runner.run(CwdChanged(old_cwd="/b", new_cwd="/c"))
    assert outcome.env_file.read_text() == "export A=1\n"


async def test_an_env_file_of_another_run_is_not_used(place: Place) -> None:
    """The session's directory may have been copied from another machine."""
    directory = place.root / "state" / "hook-env"
    elsewhere = place.root / "elsewhere"
    directory.mkdir(parents=True)
    elsewhere.mkdir()
    for event in ("SessionStart", "CwdChanged", "FileChanged"):
        (directory / f"env-{event}.sh").write_text("touch planted\n")
    (directory / "others").symlink_to(elsewhere)
    runner = place.runner("FileChanged", "true")
    payload = FileChanged(file_path=str(place.root / "x"), event="change")
    assert (await runner.run(payload)).env_file is None
    runner = place.runner("CwdChanged", 'echo "export A=1" >> "$CLAUDE_ENV_FILE"')
    outcome = await runner.run(CwdChanged(old_cwd="/a", new_cwd="/b"))
    assert outcome.env_file is not None
    assert outcome.env_file.read_text() == "export A=1\n"
    assert runner.env_files.written_files() == (outcome.env_file,)
    assert list(elsewhere.iterdir()) == []


async def test_a_shell_prefix_wraps_the_command(place: Place) -> None:
    wrapper = script(place.home / "wrap", '#!/bin/bash\necho "wrapped: $1"; eval "$1"\n')
    env = {"CLAUDE_CODE_SHELL_PREFIX": f"'{wrapper}'"}
    outcome = await place.runner("UserPromptSubmit", "echo it\\'s", env=env).run(PROMPT)
    assert outcome.additional_context == "wrapped: echo it\\'s\nit's"


@pytest.mark.parametrize(
    "command",
    ["exec 0<&-; sleep 0.01", "head -c 10 >/dev/null", "true", ": < /dev/null"],
)
async def test_a_hook_that_does_not_read_its_input_is_no_problem(
    place: Place, command: str
) -> None:
    big = UserPromptSubmit(prompt="x" * 3_000_000)
    outcome = await place.runner("UserPromptSubmit", command).run(big)
    assert outcome.outcome == "success", outcome.notices


async def test_input_ends(place: Place) -> None:
    big = UserPromptSubmit(prompt="x" * 3_000_000)
    outcome = await place.runner("UserPromptSubmit", "wc -c").run(big)
    assert int(str(outcome.additional_context)) > 3_000_000


async def test_the_end_is_the_exit_not_the_end_of_output(place: Place) -> None:
    runner = place.runner("UserPromptSubmit", "echo done; sleep 99 & disown; echo $! > pid; exit 0")
    outcome = await runner.run(PROMPT)
    # It holds the output open, and still runs.
    os.kill(int((place.project / "pid").read_text()), 9)
    assert outcome.additional_context == "done"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 30",
        "trap '' TERM; sleep 30 & wait; sleep 30",
        "cat > /dev/null; cat /dev/zero | cat > /dev/null",
        "yes",
        "(trap '' TERM HUP; sleep 30) & sleep 30",
    ],
)
async def test_a_timeout_ends_the_whole_group_and_is_visible(place: Place, command: str) -> None:
    handler = {"type": "command", "command": f"echo $$ > pid; {command}", "timeout": 0.3}
    outcome = await place.runner("PreToolUse", handler, ports=HookPorts(grace_s=0.2)).run(BASH)
    assert outcome.results[0].outcome is HandlerOutcome.CANCELLED
    assert outcome.decision == "none"
    assert "timed out after 0.3 s" in outcome.notices[0]
    group = int((place.project / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        _wait_for_group_to_go(group)


def _wait_for_group_to_go(group: int) -> None:
    """Raise ProcessLookupError once nothing of a killed group is left (init reaps orphans)."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        os.killpg(group, 0)
        if all(_is_zombie(pid) for pid in _members(group)):
            raise ProcessLookupError


def _members(group: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group:
                found.append(int(entry.name))
    return found


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


async def test_a_hook_has_no_terminal_and_its_own_session(place: Place) -> None:
    command = "(echo hi > /dev/tty) 2>/dev/null && echo tty; ps -o sid= -p $$ || true; echo $$"
    outcome = await place.runner("UserPromptSubmit", command).run(PROMPT)
    lines = str(outcome.additional_context).split()
    assert "tty" not in lines
    assert lines[0] == lines[-1]


async def test_killing_its_own_group_hurts_no_one_else(place: Place) -> None:
    outcome = await place.runner("PreToolUse", "kill -9 0", "echo ok").run(BASH)
    assert [r.exit_code for r in outcome.results] == [-9, 0]
    assert "ended by signal 9" in outcome.notices[0]


async def test_a_gone_directory_falls_back_to_the_project(place: Place) -> None:
    session = place.session()
    session.cwd = place.root / "gone"
    section = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "pwd"}]}]}}
    runner = place.layered(HookLayer(HookSource.USER, section), session=session)
    assert (await runner.run(PROMPT)).additional_context == str(place.project)


async def test_a_hook_may_delete_its_directory(place: Place) -> None:
    runner = place.runner("Stop", 'rm -rf "$PWD"')
    assert (await runner.run(Stop())).outcome == "success"
    assert (await runner.run(Stop())).outcome == "success"
    assert not place.project.exists()


async def test_megabytes_of_output_are_bounded_and_complete_ones_go_to_a_file(
    place: Place,
) -> None:
    runner = place.runner(
        "UserPromptSubmit", "head -c 30000000 /dev/zero | tr '\\0' a; echo; exit 0"
    )
    outcome = await runner.run(PROMPT)
    assert outcome.outcome == "success"
    assert len(str(outcome.additional_context)) < 3_000
    assert outcome.overflow_file is not None
    assert outcome.overflow_file.stat().st_size == 4 * 1024 * 1024
    assert str(outcome.overflow_file) in str(outcome.additional_context)


async def test_ten_thousand_characters_are_kept_as_they_are(place: Place) -> None:
    runner = place.runner("UserPromptSubmit", "head -c 10000 /dev/zero | tr '\\0' a")
    outcome = await runner.run(PROMPT)
    assert outcome.additional_context == "a" * 10_000
    assert outcome.overflow_file is None


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        ({"command": "no-such-tool --x"}, "not on the PATH of hooks"),
        ({"command": "python3 missing.py", "onFailure": "ignore"}, "a script is not where"),
        ({"command": "./missing.sh"}, "a script is not where"),
        ({"command": "./not-executable"}, "chmod +x"),
        ({"command": "/nowhere/at/all", "args": []}, "cannot start: /nowhere/at/all: not found"),
        ({"command": "x", "shell": "powershell"}, "pwsh is not on this PATH"),
        ({"command": "echo 'boom: it broke' >&2; exit 1"}, "exit status 1: boom: it broke"),
        (
            {"command": "python3 -c 'import json; json.loads(str())'"},
            "Traceback (most recent call last): … json.decoder.JSONDecodeError: Expecting value",
        ),
        (
            {
                "command": "printf 'node:internal/x:1\\n  throw err;\\n\\nError: no a.js\\n' "
                ">&2; exit 1"
            },
            "exit status 1: node:internal/x:1 … Error: no a.js",
        ),
        (
            {
                "command": "printf '/x/a.js:3\\n  throw 1\\n\\nTypeError: x is 1\\n    at y\\n' "
                ">&2; exit 1"
            },
            "exit status 1: /x/a.js:3 … TypeError: x is 1",
        ),
    ],
)
async def test_a_failure_says_what_and_why(
    place: Place, handler: dict[str, object], said: str
) -> None:
    (place.project / "not-executable").write_text("true")
    runner = place.runner("SessionStart", {"type": "command", **handler})
    outcome = await runner.run(SessionStart(source="startup"))
    assert outcome.outcome == "non_blocking_error"
    assert any(said in line for line in outcome.notices), outcome.notices


async def test_a_guard_that_is_broken_by_a_space_is_reported(place: Place) -> None:
    runner = place.runner("PreToolUse", "ls $CLAUDE_PROJECT_DIR/guard.py")
    outcome = await runner.run(BASH)
    assert outcome.decision == "deny"
    assert "probably because it is broken" in outcome.notices[0]
    assert "is not quoted, and" in outcome.notices[0]


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "exit 1"},
        {"command": "no-such-tool"},
        {"command": "/nowhere", "args": []},
        {"command": "sleep 9", "timeout": 0.1},
        {"command": "echo '{bad}'"},
    ],
)
async def test_on_failure_block_makes_a_broken_guard_guard(
    place: Place, handler: dict[str, object]
) -> None:
    guarded = {"type": "command", "onFailure": "block", **handler}
    outcome = await place.runner("PreToolUse", guarded).run(BASH)
    assert (outcome.outcome, outcome.decision, outcome.proceeds) == ("blocking", "deny", False)
    assert "failed" in str(outcome.reason)
    assert outcome.reason_source == "failure"
    assert len(outcome.notices) == 1
    open_ = {"type": "command", **handler}
    assert (await place.runner("PreToolUse", open_).run(BASH)).proceeds is True
