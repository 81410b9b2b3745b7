"""What can be told about hooks before they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.config.config import parse_hooks
from hooks.config.spec import HookSource
from hooks.health import check_health, check_round_trip, is_open_guard, start_lines
from hooks.missing_programs import MissingPrograms
from tests.hooks.conftest import Place


def findings(place: Place, handler: dict[str, object]) -> list[str]:
    specs, _ = parse_hooks(
        {"PreToolUse": [{"hooks": [{"type": "command", **handler}]}]}, source=HookSource.USER
    )
    return [found.message for found in check_health(specs, env=place.env, cwd=place.project)]


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "true"},
        {"command": "FOO=1 cat | jq ."},
        {"command": "cd /tmp && ls"},
        {"command": "# note\ncat"},
        {"command": '"$CLAUDE_PROJECT_DIR"/ok.sh --x'},
        {"command": "bash ok.sh"},
        {"command": "$UNKNOWN/thing"},
        {"command": "if true; then ls; fi"},
        {"command": "${CLAUDE_PROJECT_DIR}/ok.sh", "args": []},
        {"command": "python3 -c 'print(1)'"},
        {"command": "echo 'unclosed is fine in heredocs' <<E\nit's\nE"},
    ],
)
def test_working_hooks_have_no_findings(place: Place, handler: dict[str, object]) -> None:
    script = place.project / "ok.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert findings(place, handler) == []


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        ({"command": "uvx-not-here run"}, "is not on the PATH of hooks"),
        ({"command": "./plain.sh"}, "not executable"),
        ({"command": '"$CLAUDE_PROJECT_DIR"/gone.sh'}, "does not exist"),
        ({"command": "python3 gone.py"}, "gone.py does not exist"),
        ({"command": "node", "args": ["gone.js"]}, "gone.js does not exist"),
        ({"command": "if true"}, "cannot read this command"),
        ({"command": "x", "shell": "powershell"}, "pwsh is not on this PATH"),
    ],
)
def test_what_would_fail_is_found(place: Place, handler: dict[str, object], said: str) -> None:
    (place.project / "plain.sh").write_text("true")
    (message,) = findings(place, handler)
    assert said in message


async def test_the_round_trip_finds_a_shell_that_talks(place: Place) -> None:
    assert await check_round_trip(env=place.env, cwd=place.project) is None
    fake = place.root / "bin"
    fake.mkdir()
    bash = fake / "bash"
    bash.write_text("#!/bin/sh\necho Welcome!\ncat\n")
    bash.chmod(0o755)
    env = {**place.env, "PATH": f"{fake}:{place.env['PATH']}"}
    assert "printing in the shell" in str(await check_round_trip(env=env, cwd=Path("/")))


@pytest.mark.parametrize(
    ("event", "handler", "is_open"),
    [
        ("PreToolUse", {"type": "command", "command": "true"}, True),
        ("PreToolUse", {"type": "http", "url": "http://localhost/"}, True),
        ("PreToolUse", {"type": "command", "command": "true", "onFailure": "block"}, False),
        ("PreToolUse", {"type": "command", "command": "true", "async": True}, False),
        ("PreToolUse", {"type": "prompt", "prompt": "ok?"}, False),
        ("PostToolUse", {"type": "command", "command": "true"}, False),
    ],
)
def test_guards_that_let_calls_through_when_they_fail(
    event: str, handler: dict[str, object], is_open: bool
) -> None:
    (spec,), _ = parse_hooks({event: [{"hooks": [handler]}]}, source=HookSource.USER)
    assert is_open_guard(spec) is is_open


def test_a_missing_program_is_one_line(place: Place) -> None:
    missing: list[dict[str, object]] = [
        {"type": "command", "command": "uv run a.py"},
        {"type": "command", "command": "uv run b.py | cat"},
        {"type": "command", "command": "uv", "args": ["run", "c.py"]},
        {"type": "command", "command": "cat"},
        {"type": "command", "command": "./uv"},
    ]
    names = ("SessionStart", "Stop", "PreToolUse", "PostToolUse", "Notification")
    section = {n: [{"hooks": [h]}] for n, h in zip(names, missing, strict=True)}
    specs, _ = parse_hooks(section, source=HookSource.USER)
    env = {**place.env, "PATH": "/usr/bin:/bin"}
    findings = check_health(specs, env=env, cwd=place.project)
    reported = MissingPrograms()
    lines = list(start_lines(findings, reported))
    assert lines[0] == "uv is missing: 3 hooks"
    assert len(lines) == 2
    assert "./uv" in lines[1]
    again = list(start_lines(findings, reported))
    assert again == []


def test_files_that_cannot_be_started_are_one_line_for_a_place(place: Place) -> None:
    section = {
        name: [{"hooks": [{"type": "command", "command": command}]}]
        for name, command in [
            ("SessionStart", "node gone/a.js"),
            ("Stop", "bash gone/b.sh"),
            ("PreToolUse", "gone/c.sh"),
            ("PostToolUse", "./plain.sh"),
        ]
    }
    (place.project / "plain.sh").write_text("true")
    specs, _ = parse_hooks(section, source=HookSource.USER)
    findings = check_health(specs, env=place.env, cwd=place.project)
    many, single = start_lines(findings, MissingPrograms())
    assert many.startswith("3 hooks (")
    assert f"would fail: the script {place.project}/gone/a.js does not exist, and so on" in many
    assert single.startswith("PostToolUse hook './plain.sh'")
    assert "is not executable" in single


def test_scripts_are_looked_for_in_the_projects_root(place: Place) -> None:
    (place.project / "ok.sh").write_text("#!/bin/sh\n")
    (place.project / "sub").mkdir()
    specs, _ = parse_hooks(
        {"Stop": [{"hooks": [{"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/ok.sh'}]}]},
        source=HookSource.USER,
    )
    sub = place.project / "sub"
    assert check_health(specs, env=place.env, cwd=sub)
    assert not check_health(specs, env=place.env, cwd=sub, project_dir=place.project)
