"""A command that was allowed as reading runs nothing that a repository names."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.tools.builtin.bash import bash_tool
from permissions.confinement import Confinement
from tests.agent.tools.conftest import Bench

BASH = bash_tool()
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def evil_program(root: Path) -> tuple[Path, Path]:
    """A program outside the project, and the file that shows that it ran."""
    program, marker = root.parent / "evil.sh", root.parent / "ran"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    program.chmod(0o755)
    return program, marker


def repository(root: Path) -> None:
    for name in ("a.txt", "same.txt"):
        (root / name).write_text("one\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *IDENTITY, *arguments], cwd=root, check=True)
    (root / "a.txt").write_text("two\n")


def configure(root: Path, key: str, program: Path) -> None:
    subprocess.run(["git", "config", key, str(program)], cwd=root, check=True)


def with_monitor(root: Path, program: Path) -> None:
    repository(root)
    configure(root, "core.fsmonitor", program)


def with_filter(root: Path, program: Path) -> None:
    repository(root)
    configure(root, "filter.x.clean", program)
    (root / ".gitattributes").write_text("* filter=x\n")


def with_hook(root: Path, program: Path) -> None:
    repository(root)
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    shutil.copy(program, root / ".git" / "hooks" / "post-index-change")


def as_a_bare_repository(root: Path, program: Path) -> None:
    for name in ("objects/info", "refs/heads"):
        (root / name).mkdir(parents=True)
    (root / "HEAD").write_text("ref: refs/heads/x\n")
    (root / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        f"\tworktree = {root}\n\tfsmonitor = {program}\n"
    )


@pytest.mark.parametrize("plant", [with_monitor, with_filter, with_hook, as_a_bare_repository])
async def test_f11_f13_git_runs_nothing_that_the_repository_names(
    bench: Bench, plant: Callable[[Path, Path], None]
) -> None:
    program, marker = evil_program(bench.root)
    plant(bench.root, program)
    (bench.root / "below").mkdir()
    bench.services.cwd = bench.root / "below"
    context = replace(bench.context, confinement=Confinement.READ_ONLY)
    await BASH.run(BASH.parse({"command": "git status"}), context)
    assert not marker.exists()
    context = replace(bench.context, confinement=Confinement.NONE)
    # Another time of a file that is the same makes git write the index again, whenever it was made.
    touch = "touch -d 2001-01-01 ../a.txt ../same.txt"
    await BASH.run(BASH.parse({"command": f"{touch}; git status"}), context)
    assert marker.exists(), "it would run, so the first command proves something"


async def test_filters_that_the_user_accepted_are_used(bench: Bench) -> None:
    program, marker = evil_program(bench.root)
    with_filter(bench.root, program)
    bench.services.is_trusted = lambda: True
    context = replace(bench.context, confinement=Confinement.READ_ONLY)
    await BASH.run(BASH.parse({"command": "git status"}), context)
    assert marker.exists()
