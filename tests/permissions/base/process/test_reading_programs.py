"""Our own git and searches: nothing that a directory contains decides what they run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from permissions.base.process.neutral_git import (
    FILTER_QUERY,
    NEUTRAL_VALUES,
    repository_filters,
    with_neutral_git,
)
from permissions.base.process.program_path import path_outside
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import Launch
from permissions.evaluate.small_classifier import FORMS

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org")


class Repository:
    """One with a program that leaves a marker, for configuration to name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.marker = root.parent / "ran"
        self.program = root.parent / "evil.sh"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >>'{self.marker}'\ncat\n")
        self.program.chmod(0o755)
        root.mkdir()
        self.git("init", "-q")
        (root / "a.txt").write_text("one\n")
        self.git("add", ".")
        self.git("commit", "-qm", "first")

    def git(self, *arguments: str) -> None:
        command = ["git", *IDENTITY, *arguments]
        subprocess.run(command, cwd=self.root, check=True, capture_output=True)

    def touch(self, name: str = "a.txt") -> None:
        """Make git compare the content of a file."""
        os.utime(self.root / name, ns=(1, 1))

    def read(self, *arguments: str, without_filters: bool = True) -> str:
        programs = ReadingPrograms(os.environ, self.root, launch_unconfined)
        listing = run_blocking(programs.git(self.root, *FILTER_QUERY), timeout_s=30).stdout
        off = repository_filters(listing) if without_filters else frozenset[str]()
        program = programs.git(self.root, *arguments, without_filters=off)
        result = run_blocking(program, timeout_s=30)
        return result.stdout.decode() if result.exit_code == 0 else "failed"

    def ran(self) -> bool:
        return self.marker.exists()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def test_f13_no_filter_of_the_repository_runs(repository: Repository) -> None:
    for name in ("x", "with=sign"):
        repository.git("config", f"filter.{name}.process", str(repository.program))
        repository.git("config", f"filter.{name}.clean", str(repository.program))
        repository.git("config", f"filter.{name}.required", "true")
    (repository.root / ".gitattributes").write_text("*.txt filter=x\n*.md filter=with=sign\n")
    repository.touch()
    assert repository.read("status", "--porcelain") == "?? .gitattributes\n"
    assert not repository.ran()
    repository.read("status", "--porcelain", without_filters=False)
    assert repository.ran(), "the filter works, so the first look proves something"


def test_f13_neither_monitor_nor_hook_runs(repository: Repository) -> None:
    repository.git("config", "core.fsmonitor", str(repository.program))
    hook = repository.root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(repository.program, hook)
    repository.touch()
    assert repository.read("status", "--porcelain") == ""
    assert not repository.ran()
    repository.git("status")
    assert repository.ran(), "both work, so the first look proves something"


def test_f13_no_missing_object_is_fetched_by_a_transport(repository: Repository) -> None:
    transport = repository.root.parent / "transport.sh"
    transport.write_text(f"#!/bin/sh\ntouch '{repository.marker}'\n")
    transport.chmod(0o755)
    repository.git("config", "remote.evil.url", f"ext::{transport}")
    repository.git("config", "remote.evil.promisor", "true")
    repository.git("config", "extensions.partialClone", "evil")
    repository.git("config", "protocol.ext.allow", "always")
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:a.txt"], cwd=repository.root, check=True, capture_output=True
    ).stdout.decode()
    (repository.root / ".git" / "objects" / blob[:2] / blob[2:].strip()).unlink()
    assert repository.read("cat-file", "blob", blob.strip()) == "failed"
    assert not repository.ran()
    subprocess.run(
        ["git", "cat-file", "blob", blob.strip()], cwd=repository.root, capture_output=True
    )
    assert repository.ran(), "the transport works, so the first look proves something"


def test_f11_a_bare_repository_in_the_directory_is_not_used(repository: Repository) -> None:
    bare = repository.root / ".git"
    (bare / "config").write_text(f"[core]\n\tworktree = .\n\tfsmonitor = {repository.program}\n")
    programs = ReadingPrograms(os.environ, bare, launch_unconfined)
    refused = run_blocking(programs.git(bare, "status"), timeout_s=30)
    assert refused.exit_code != 0
    assert b"bareRepository" in refused.stderr


def test_f11_commands_that_read_get_the_same_values(repository: Repository) -> None:
    given = {**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b"}
    env = with_neutral_git({**given, "GIT_CONFIG_VALUE_0": "kept"})
    for key, value in {**NEUTRAL_VALUES, "a.b": "kept"}.items():
        program = Launch(("git", "config", key), env, repository.root)
        assert run_blocking(program, timeout_s=30).stdout.decode() == f"{value}\n"
    assert with_neutral_git({"GIT_CONFIG_COUNT": "-1"})["GIT_CONFIG_COUNT"] == "5"


def test_no_form_of_git_that_counts_as_reading_runs_a_program(repository: Repository) -> None:
    program = str(repository.program)
    for name in ("core.fsmonitor", "core.pager", "core.editor", "diff.external", "gpg.program"):
        repository.git("config", name, program)
    for name in ("diff.x.command", "diff.x.textconv", "merge.x.driver", "credential.helper"):
        repository.git("config", name, program)
    repository.git("config", "log.showSignature", "true")
    (repository.root / ".gitattributes").write_text("*.txt diff=x merge=x\n")
    (repository.root / "a.txt").write_text("changed\n")
    tree = _git_output(repository, "rev-parse", "HEAD^{tree}")
    head = _git_output(repository, "rev-parse", "HEAD")
    signed = (
        f"tree {tree}\nparent {head}\nauthor a <a@b.example> 1 +0000\n"
        "committer a <a@b.example> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n"
        " x\n -----END PGP SIGNATURE-----\n\nsigned\n"
    )
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=repository.root, input=signed, text=True, check=True, capture_output=True,
    )  # fmt: skip
    repository.git("update-ref", "HEAD", made.stdout.strip())
    repository.marker.unlink(missing_ok=True)
    env = with_neutral_git({**os.environ, "GIT_PAGER": "cat"})
    for form in sorted(one for one in FORMS if one.startswith("git ")):
        run_blocking(Launch(tuple(form.split()), env, repository.root), timeout_s=30)
        assert not repository.ran(), form
    for form in ("git log -1", "git diff"):
        subprocess.run(form.split(), cwd=repository.root, check=False, capture_output=True)
        assert repository.ran(), "the programs work, so the first look proves something"
        repository.marker.unlink()


def _git_output(repository: Repository, *arguments: str) -> str:
    command = ["git", *arguments]
    run = subprocess.run(command, cwd=repository.root, check=True, capture_output=True, text=True)
    return run.stdout.strip()


def test_only_filters_of_the_repository_are_named() -> None:
    listing = b"global\0filter.lfs.clean\0local\0filter.a.b.smudge\0worktree\0filter.c.required\0"
    assert repository_filters(listing + b"local\0filter.x.other\0") == {"a.b", "c"}


def test_variables_of_git_are_not_inherited(tmp_path: Path) -> None:
    programs = ReadingPrograms(
        {"GIT_DIR": "/x", "HOME": "/h", "A": "b"}, tmp_path, launch_unconfined
    )
    env = programs.git(tmp_path, "status").env
    assert "GIT_DIR" not in env
    assert env["GIT_TERMINAL_PROMPT"] == "0"
    assert programs.search(["rg"]).env == {"HOME": "/h", "PATH": os.defpath}


def test_what_starts_them_is_confined(tmp_path: Path) -> None:
    marked = Launch(("confined",), {})
    programs = ReadingPrograms({}, tmp_path, lambda _: marked)
    assert programs.git(tmp_path, "status") is marked
    assert programs.search(["rg"]) is marked


def test_programs_are_not_looked_up_in_the_directory(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "bin").mkdir(parents=True)
    (tmp_path / "link").symlink_to(project / "bin")
    (project / "out").symlink_to("/usr")
    path = f":.:bin:{project}:{project}/bin:{tmp_path}/link:{project}/out/bin:/usr/bin:{project}x"
    assert path_outside(path, project) == f"/usr/bin:{project}x"
    assert path_outside("bin", project) == os.defpath
    assert path_outside(None, project) == os.defpath
    assert path_outside("/usr/bin", Path("/")) == os.defpath


def test_f13_submodules_are_not_entered(repository: Repository) -> None:
    inner = Repository(repository.root / "inner")
    repository.git("add", "inner")
    repository.git("commit", "-qm", "submodule")
    inner.git("config", "filter.x.clean", str(inner.program))
    (inner.root / ".git" / "info" / "attributes").write_text("* filter=x\n")
    inner.touch()
    repository.read("status", "--porcelain", "--ignore-submodules=dirty")
    assert not inner.ran()
    repository.read("status", "--porcelain")
    assert inner.ran(), "it would run, so the option is needed"
