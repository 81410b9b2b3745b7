"""`agent-tui permissions replay` on a real home: what changed rules would have decided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from permissions.decision import Behavior
from permissions.explain.audit_log import AuditLog
from permissions.request import PermissionRequest
from permissions.resolve.handlers import user_decision
from tui.command_line.subcommands.permissions_command import command


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with three logged calls of a project, which is the current folder."""
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("AGENT_TUI_HOME", raising=False)
    log = AuditLog(home / ".agent" / "audit" / "2026-01.jsonl", session_id="s", directory=project)
    for text in ("git push", "make", "npm test"):
        log.write(user_decision(Behavior.ALLOW), PermissionRequest("Bash", {"command": text}))
    rules = {"allow": ["Bash(npm test)"], "deny": ["Bash(git push *)"]}
    (home / ".agent" / "settings.json").write_text(json.dumps({"permissions": rules}))
    return home


def test_it_shows_what_would_be_different_and_sums_up(home: Path) -> None:
    result = CliRunner().invoke(command, ["replay"])
    assert result.exit_code == 0
    pushed, tested, total = result.output.splitlines()
    assert "Bash(git push): allow by user → deny" in pushed
    assert "Bash(npm test): allow by user → allow" in tested
    assert total == (
        "3 decisions read, 2 would be different: 0 would ask, 1 would be denied, "
        "1 allowed without asking"
    )


def test_json_is_one_line_per_change(home: Path) -> None:
    result = CliRunner().invoke(command, ["replay", "--json"])
    lines = [json.loads(line) for line in result.output.splitlines()]
    assert [(line["call"], line["now"]) for line in lines] == [
        ("Bash(git push)", "deny"),
        ("Bash(npm test)", "allow"),
    ]


def test_since_is_a_date(home: Path) -> None:
    later = CliRunner().invoke(command, ["replay", "--since", "9999-01-01"])
    assert later.output.startswith("0 decisions read")
    bad = CliRunner().invoke(command, ["replay", "--since", "yesterday"])
    assert bad.exit_code == 2
    assert "YYYY-MM-DD" in bad.output


def test_without_a_log_there_is_nothing_to_read(home: Path) -> None:
    (home / ".agent" / "audit" / "2026-01.jsonl").unlink()
    result = CliRunner().invoke(command, ["replay"])
    assert result.output.startswith("0 decisions read")


def test_rules_are_tried_without_being_stored(home: Path) -> None:
    tried = CliRunner().invoke(command, ["replay", "--deny", "Bash(make *)"])
    assert "3 would be different: 0 would ask, 2 would be denied" in tried.output
    assert "2 would be different" in CliRunner().invoke(command, ["replay"]).output


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ([], 3, "default mode asks"),
        (["--allow", "Bash(make *)"], 0, "» 4. Allow rules allows: Bash(make *) (command line)"),
        (["--allow", "Bash(make *)", "--ask", "Bash"], 3, "» 3. Ask rules   asks: Bash"),
        (["--mode", "bypassPermissions"], 0, "bypass mode (bypassPermissions) allows it"),
        (["--deny", "Bash(make"], 2, "the closing parenthesis is missing"),
    ],
)
def test_explain_tries_rules_and_modes(
    home: Path, options: list[str], status: int, said: str
) -> None:
    arguments = ["explain", "Bash(make x)", *options]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    found = result.return_value if result.exception is None else 2
    assert found == status
    assert said in result.output + str(result.exception)


def test_advise_counts_questions_and_names_idle_rules(home: Path) -> None:
    said = CliRunner().invoke(command, ["advise"]).output.splitlines()
    assert said[0] == "3 decisions, 3 questions in less than an hour"
    assert "Bash(npm test) (your settings, ~/.agent/settings.json:1)" in said[-1]
    data = json.loads(CliRunner().invoke(command, ["advise", "--json"]).output)
    assert (data["decisions"], data["asked"], data["proposals"]) == (3, 3, [])
    assert CliRunner().invoke(command, ["advise", "--since", "soon"]).exit_code == 2


@pytest.mark.parametrize("verb", [["explain", "Bash(ls)"], ["check"], ["lint"], ["replay"]])
def test_a_directory_that_is_gone_is_reported_in_one_line(
    verb: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        result = CliRunner().invoke(command, verb, input="{}\n")
    finally:
        monkeypatch.chdir(tmp_path)
    assert result.exit_code == 1
    assert "Error: The current folder no longer exists." in result.output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "expected a JSON object"),
        ("{", "not valid JSON"),
        ('{"permissions": 3}', "permissions: expected an object"),
        ('{"permissions": {"allow": 3}}', "permissions.allow: expected a list"),
        ('{"permissions": {"denny": []}}', 'permissions.denny: unknown key; did you mean "deny"?'),
        ('{"permissions": {"deny": [5]}}', "permissions.deny.0: a rule is a string"),
    ],
)
def test_lint_and_explain_report_a_settings_file_that_cannot_be_read(
    text: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "settings.json").write_text(text)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert told in CliRunner().invoke(command, ["explain", "Bash(ls)"]).stderr
    for where in ([], [str(tmp_path / ".agent" / "settings.json")]):
        arguments = ["lint", "--json", *where]
        result = CliRunner().invoke(command, arguments, standalone_mode=False)
        (found,) = json.loads(result.stdout)
        assert result.return_value == 1
        assert f"{found['shadowed']}: {found['message']}".removeprefix("None: ").startswith(told)
        text = CliRunner().invoke(command, ["lint", *where]).stdout
        assert "settings.json:1)" in text
        assert text.endswith(" rules, 1 finding\n")


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ('{"id": 1, "rules": {"userSettings": {"allow": ["Bash(ls)"]}}}', 0),
        ('{"id": 1, "rules": {"userSettings": {"allow": ["Bash(ls)"], "deny": ["Bash"]}}}', 1),
        ("no JSON", 1),
        ("", 0),
    ],
)
def test_lint_of_lines_ends_with_1_when_there_is_something(
    home: Path, tmp_path: Path, line: str, status: int
) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text(line + "\n")
    arguments = ["lint", "--jsonl", str(file)]
    assert CliRunner().invoke(command, arguments, standalone_mode=False).return_value == status
