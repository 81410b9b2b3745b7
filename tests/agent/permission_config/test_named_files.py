"""Which files of a project something in force runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from agent.permission_config.named_files import named_files, written_files
from agent.settings.load import CliSettings, Settings, load_settings


def settings_of(root: Path, home: Path, content: object, *, trust: bool = True) -> Settings:
    (root / ".agent").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".agent" / "settings.json").write_text(json.dumps(content))
    agent_home, cli = home / ".agent", CliSettings(trust=trust)
    return load_settings(launch_dir=root, home=home, agent_home=agent_home, cli=cli)


def hook(command: str, **more: object) -> dict[str, object]:
    handler = {"type": "command", "command": command, **more}
    return {"hooks": {"Stop": [{"hooks": [handler]}]}}


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("./scripts/lint.sh --fix", ["scripts/lint.sh"]),
        ('"$CLAUDE_PROJECT_DIR"/scripts/lint.sh', ["scripts/lint.sh"]),
        ("${CLAUDE_PROJECT_DIR}/scripts/lint.sh", ["scripts/lint.sh"]),
        ("cd scripts && ./lint.sh", ["lint.sh", "scripts/lint.sh"]),
        ("bash -c 'cd /tmp; scripts/lint.sh|cat'", ["scripts/lint.sh"]),
        ("python3 check.py", ["check.py"]),
        ("tool --config=conf/x.toml", ["conf/x.toml"]),
        ("run;./missing", ["missing"]),
        ("echo 'unclosed ./x.sh", ["x.sh"]),
        ("npm run lint", []),
        ("make -C . test", []),
        ("/usr/bin/true ../outside.sh", []),
    ],
)
def test_words_of_a_command_that_are_files(tmp_path: Path, command: str, names: list[str]) -> None:
    root = tmp_path / "project"
    (root / "scripts").mkdir(parents=True)
    (root / "scripts" / "lint.sh").write_text("")
    found = named_files(settings_of(root, tmp_path, hook(command)))
    inside = [path for path in map(Path, found) if path.is_relative_to(root)]
    assert sorted(str(path.relative_to(root)) for path in inside) == names


def test_a_missing_file_counts_in_a_directory_with_a_space(tmp_path: Path) -> None:
    root = tmp_path / "a project"
    found = named_files(settings_of(root, tmp_path, hook('"$CLAUDE_PROJECT_DIR"/check.sh')))
    assert found == {str(root / "check.sh")}


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ('jq .tool_name >> "$CLAUDE_PROJECT_DIR/logs/a.log"', ["logs/a.log"]),
        ("date > ./a.txt 2>> errors.log", ["a.txt", "errors.log"]),
        ("make >| out/x.log && ./scripts/lint.sh < in.txt", ["out/x.log"]),
        ("echo x > ./run.sh; ./run.sh", []),
        ("echo x > ./run.sh; sh -c 'true; ./run.sh'", []),
        ('echo x > "$(./name.sh)"', []),
        ("sh -c 'echo x > ./a.txt'", []),
        ("tee ./a.txt <> ./b.txt", []),
        ("echo x > /var/log/outside.log", []),
    ],
)
def test_files_that_a_hook_only_writes(tmp_path: Path, command: str, names: list[str]) -> None:
    root = tmp_path / "project"
    settings = settings_of(root, tmp_path, hook(command))
    found = written_files(settings)
    assert sorted(str(Path(path).relative_to(root)) for path in found) == names
    assert found <= named_files(settings)


def test_a_file_that_another_command_reads_is_not_only_written(tmp_path: Path) -> None:
    both = {**hook("date > ./line.sh"), "statusLine": {"type": "command", "command": "./line.sh"}}
    assert written_files(settings_of(tmp_path / "project", tmp_path, both)) == frozenset()


def test_a_script_outside_the_project_counts_where_it_is(tmp_path: Path) -> None:
    """Its directory may become a working directory of the session."""
    root, scripts = tmp_path / "project", tmp_path / "dotfiles"
    scripts.mkdir()
    (scripts / "guard.py").write_text("")
    command = f"python3 {scripts}/guard.py {scripts}/none.py"
    found = named_files(settings_of(root, tmp_path, hook(command)))
    assert found == {str(scripts / "guard.py")}


@pytest.mark.parametrize("place", ["scripts", "."])
def test_beside_a_script_that_runs_as_the_user_nothing_is_changed(
    tmp_path: Path, place: str
) -> None:
    """Python loads `json.py` from there."""
    root = tmp_path / "project"
    script = root / place / "guard.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text("")
    (tmp_path / ".agent").mkdir()
    (root / "docs").mkdir()
    (root / "docs" / "notes.md").write_text("")
    content = hook(f"python3 {script} docs/notes.md")
    (tmp_path / ".agent" / "settings.json").write_text(json.dumps(content))
    found = named_files(settings_of(root, tmp_path, {}))
    expected = {script, root / "docs/notes.md", *([root / "scripts"] if place != "." else [])}
    assert found == set(map(str, expected))


def test_servers_status_lines_arguments_and_links(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "real").mkdir(parents=True)
    (root / "real" / "server.py").write_text("")
    (root / "server.py").symlink_to("real/server.py")
    content = {
        "statusLine": {"type": "command", "command": "./line.sh"},
        "mcpServers": {"one": {"command": "python3", "args": ["server.py"]}},
        **hook("node", args=["hook.js"]),
    }
    found = named_files(settings_of(root, tmp_path, content))
    names = ("line.sh", "server.py", "real/server.py", "hook.js")
    assert {path for path in found if Path(path).is_relative_to(root)} == {
        str(root / name) for name in names
    }


def test_what_is_not_in_force_names_nothing(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "project", tmp_path, hook("./x.sh"), trust=False)
    assert named_files(settings) == frozenset()


def test_what_the_configuration_of_git_names(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    settings_of(root, tmp_path, hook("date > x.sh 2> log.txt"))
    (root / ".git").rmdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    for name, value in (
        ("core.hooksPath", ".githooks"),
        ("include.path", "../team.gitconfig"),
        ("filter.x.clean", "scripts/clean.py --fast"),
        ("alias.x", "!./x.sh"),
        ("remote.origin.url", "../elsewhere"),
    ):
        subprocess.run(["git", "-C", root, "config", name, value], check=True)
    settings = load_settings(
        launch_dir=root, home=tmp_path, agent_home=tmp_path / ".agent", cli=CliSettings(trust=True)
    )
    assert sorted(str(Path(path).relative_to(root)) for path in named_files(settings)) == [
        ".githooks",
        "log.txt",
        "scripts/clean.py",
        "team.gitconfig",
        "x.sh",
    ]
    assert written_files(settings) == {str(root / "log.txt")}
