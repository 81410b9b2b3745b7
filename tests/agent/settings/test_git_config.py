"""What a repository's configuration and hooks would run waits for trust, as git itself reads it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent.settings.git_config import MAX_BYTES, git_items
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined


def labels(root: Path) -> list[str]:
    programs = ReadingPrograms(os.environ, root, launch_unconfined)
    return [item.label for item in git_items(root, programs)]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", "--template=", str(root)], check=True)
    return root


def configure(root: Path, text: str, *, start: str = "") -> None:
    config = root / ".git" / "config"
    config.write_text(start + config.read_text() + text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[remote "o"]\n\turl = https://host/x\n[user]\n\tname = me\n', []),
        ("[core]\n\tfsmonitor = ./evil\n", ["git core.fsmonitor = ./evil"]),
        ("[core]\n\tfsmonitor = true\n", []),
        ('[filter "lfs"]\n\tclean = rm -rf\n', ["git filter.lfs.clean = rm -rf"]),
        ('[Core] sshCommand="touch x"\n', ["git core.sshcommand = touch x"]),
        ("[include]\n\tpath = ../evil\n", ["git include.path = ../evil"]),
        ("[core]\n\tfsmonitor = ./e\\\nvil\n", ["git core.fsmonitor = ./evil"]),
        ('[x]\n\ty = "a\x0c[foo]"\n', ["git x.y = a\x0c[foo]"]),
        ('[remote "o"]\n\turl = ext::sh\n', ["git remote.o.url = ext::sh"]),
        ("[protocol.ext]\n\tallow = always\n", ["git protocol.ext.allow = always"]),
        ("[new]\n\tkey\n", ["git new.key"]),
        ("[broken\n", ["git config (git cannot read it)"]),
    ],
    ids=[
        "harmless",
        "fsmonitor",
        "builtin-monitor",
        "filter",
        "one-line",
        "include",
        "continued",
        "form-feed",
        "transport",
        "protocol",
        "unknown",
        "broken",
    ],
)
def test_entries_that_may_run_programs_are_items(
    repository: Path, text: str, expected: list[str]
) -> None:
    configure(repository, text)
    if "broken" in text:
        # Git does not say where the repository is before it can read its configuration.
        assert len(labels(repository)) == 1
        return
    assert labels(repository) == expected


def test_f13_a_byte_order_mark_hides_nothing(repository: Path) -> None:
    configure(repository, "", start='\ufeff[filter "x"]\n\tclean = "touch /tmp/x; cat"\n')
    assert labels(repository) == ["git filter.x.clean = touch /tmp/x; cat"]


def test_f13_a_large_configuration_is_an_item_as_a_whole(repository: Path) -> None:
    configure(repository, "# x\n" * (MAX_BYTES // 4) + "[core]\n\tfsmonitor = ./evil\n")
    (label,) = labels(repository)
    assert label.startswith("git config (")
    assert "evil" not in label


def test_f13_executable_hooks_are_items_and_samples_are_not(repository: Path) -> None:
    hooks = repository / ".git" / "hooks"
    hooks.mkdir()
    for name, mode in [("post-index-change", 0o755), ("x.sample", 0o755), ("pre-push", 0o644)]:
        (hooks / name).write_text("#!/bin/sh\n")
        (hooks / name).chmod(mode)
    assert labels(repository) == ["git hook post-index-change"]


def test_a_changed_hook_is_another_item(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir()
    programs = ReadingPrograms(os.environ, repository, launch_unconfined)
    digests = set()
    for text in ("one", "two"):
        hook.write_text(text)
        hook.chmod(0o755)
        digests |= {item.digest for item in git_items(repository, programs)}
    assert len(digests) == 2


def test_f11_a_bare_layout_is_judged_like_a_repository(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    (tmp_path / "HEAD").write_text("ref: refs/heads/x\n")
    (tmp_path / "config").write_text("[core]\n\tbare = false\n\tfsmonitor = ./evil\n")
    assert labels(tmp_path), "a program of the directory would run"


def test_a_work_tree_reads_the_common_configuration(repository: Path, tmp_path: Path) -> None:
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "../tree"]):
        command = ["git", *names, *arguments]
        subprocess.run(command, cwd=repository, check=True, capture_output=True)
    configure(repository, "[diff]\n\texternal = evil\n")
    assert labels(tmp_path / "tree") == ["git diff.external = evil"]


@pytest.mark.parametrize("content", [None, "gitdir: elsewhere \n", "\ufeffgitdir: .\n"])
def test_what_is_no_repository_runs_nothing(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / ".git").write_text(content)
    assert all(label.startswith("git repository (") for label in labels(tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_a_repository_of_another_user_is_reported(repository: Path) -> None:
    os.chown(repository, 12345, 12345)
    reason = "it belongs to another user, so git refuses to use it"
    assert labels(repository) == [f"git repository ({reason})"]


def test_without_git_a_repository_is_not_judged_harmless(repository: Path) -> None:
    programs = ReadingPrograms({"PATH": str(repository.parent)}, repository, launch_unconfined)
    assert [item.label for item in git_items(repository, programs)] == [
        "git repository (git cannot be started)"
    ]


def test_git_of_the_project_is_not_the_one_that_is_asked(repository: Path) -> None:
    marker = repository / "ran"
    own = repository / "bin" / "git"
    own.parent.mkdir()
    own.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    own.chmod(0o755)
    env = {**os.environ, "PATH": f"{own.parent}:bin::{os.environ['PATH']}"}
    assert list(git_items(repository, ReadingPrograms(env, repository, launch_unconfined))) == []
    assert not marker.exists()
