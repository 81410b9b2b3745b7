"""Files before changes: kept outside the project, previewed, restored, redone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.errors import SessionError
from agent.session.checkpoints import worktree
from agent.session.checkpoints.blobs import PathState
from agent.session.checkpoints.checkpoint import Checkpoints, Preview
from agent.session.checkpoints.worktree import Worktree
from agent.session.record_lines import Line, read_forwards
from agent.session.session_seal import SessionSeal
from agent.session.store import SessionStore
from agent.session.transcript import Transcript
from agent.tools.base import ToolError
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined


class Bench:
    """A project, its checkpoints, and the turn that is being worked on."""

    def __init__(self, directory: Path, *, use_git: bool = False) -> None:
        self.root = directory / "project"
        self.root.mkdir(exist_ok=True)
        self.turn = "turn-1"
        self.store = directory / "session"
        self.home = directory / "home"
        self.use_git = use_git
        self.on_check: Callable[[], None] = lambda: None
        """Runs between the checks of a path and its use."""
        self.points = self.reopened()

    def reopened(self) -> Checkpoints:
        return Checkpoints(
            self.store,
            Worktree(
                self.root,
                ReadingPrograms(os.environ, self.root, launch_unconfined),
                use_git=self.use_git,
            ),
            turn_id=lambda: self.turn,
            may_write=self.may_write,
            seal=SessionSeal(self.home, "s", self.root).snapshot_seal,
        )

    def may_write(self, path: Path) -> bool:
        self.on_check()
        return self.root in path.parents

    def git(self, *arguments: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0")
        subprocess.run(["git", *names, *arguments], cwd=self.root, check=True, capture_output=True)

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(Path(os.path.realpath(tmp_path)))
    yield bench
    bench.points.close()


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Bench]:
    directory = Path(os.path.realpath(tmp_path))
    (directory / "project").mkdir()
    bench = Bench(directory)
    bench.git("init", "-q")
    (bench.root / ".gitignore").write_text("ignored\n")
    for name in ("a.txt", "b.txt"):
        (bench.root / name).write_text(f"{name}\n")
    (bench.root / "run.sh").write_text("#!/bin/sh\n")
    (bench.root / "run.sh").chmod(0o755)
    bench.git("add", ".")
    bench.git("commit", "-qm", "start")
    bench.use_git = True
    bench.points = bench.reopened()
    yield bench
    bench.points.close()


def actions(preview: Preview) -> dict[str, str]:
    return {change.path.name: change.action for change in preview.changes}


async def test_an_edit_and_a_new_file_are_undone_and_redone(bench: Bench) -> None:
    old, new = bench.root / "old.py", bench.root / "sub" / "new.py"
    old.write_text("before")
    old.chmod(0o755)
    for path, text in ((old, "after"), (new, "created")):
        await bench.points.before_change(path, tool_use_id="u")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    preview = await bench.points.preview("turn-1")
    assert actions(preview) == {"old.py": "write", "new.py": "delete"}
    assert bench.files() == {"old.py": "after", "sub/new.py": "created"}
    restored = await bench.points.restore("turn-1", redo_id="1")
    assert bench.files() == {"old.py": "before"}
    assert old.stat().st_mode & 0o777 == 0o755
    await bench.points.restore(restored.redo_id, redo_id="2")
    assert bench.files() == {"old.py": "after", "sub/new.py": "created"}


async def test_going_back_several_turns_takes_the_oldest_state(bench: Bench) -> None:
    path = bench.root / "a"
    path.write_text("0")
    for number in (1, 2, 3):
        bench.turn = f"turn-{number}"
        await bench.points.before_change(path, tool_use_id="u")
        path.write_text(str(number))
    await bench.points.restore("turn-2", redo_id="x")
    assert path.read_text() == "1"


async def test_one_file_of_several_can_be_restored(bench: Bench) -> None:
    for name in ("a", "b"):
        (bench.root / name).write_text("old")
        await bench.points.before_change(bench.root / name, tool_use_id="u")
        (bench.root / name).write_text("new")
    await bench.points.restore("turn-1", [bench.root / "b"], redo_id="x")
    assert bench.files() == {"a": "new", "b": "old"}


async def test_snapshots_survive_the_process(bench: Bench) -> None:
    path = bench.root / "a"
    path.write_text("old")
    await bench.points.before_change(path, tool_use_id="u")
    path.write_text("new")
    bench.points.close()
    bench.points = bench.reopened()
    assert bench.points.turns == ("turn-1",)
    assert bench.points.files_of("turn-1") == (path,)
    await bench.points.restore("turn-1", redo_id="x")
    assert path.read_text() == "old"


async def test_a_file_as_it_was_is_no_change(bench: Bench) -> None:
    path = bench.root / "a"
    path.write_text("same")
    await bench.points.before_change(path, tool_use_id="u")
    assert (await bench.points.preview("turn-1")).changes == ()


async def test_an_unknown_turn_is_reported(bench: Bench) -> None:
    with pytest.raises(SessionError, match="No file was changed"):
        await bench.points.preview("nothing")


async def test_a_directory_that_became_a_link_is_not_written_through(
    bench: Bench, tmp_path: Path
) -> None:
    directory, outside = bench.root / "d", tmp_path / "outside"
    directory.mkdir()
    outside.mkdir()
    (directory / "a").write_text("old")
    await bench.points.before_change(directory / "a", tool_use_id="u")
    (directory / "a").unlink()
    directory.rmdir()
    directory.symlink_to(outside)
    restored = await bench.points.restore("turn-1", redo_id="x")
    assert [change.path.name for change, _ in restored.failures] == ["a"]
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_directory_that_becomes_a_link_meanwhile_leads_nowhere(
    bench: Bench, tmp_path: Path, is_new: bool
) -> None:
    directory, outside = bench.root / "d", tmp_path / "outside"
    directory.mkdir()
    outside.mkdir()
    (outside / "a").write_text("old")
    (outside / "a").chmod(0o600)
    if not is_new:
        (directory / "a").write_text("old")
        (directory / "a").chmod(0o777)
    await bench.points.before_change(directory / "a", tool_use_id="u")
    (directory / "a").write_text("old")
    (directory / "a").chmod(0o644)
    await bench.points.after_command("u")

    def swap() -> None:
        if not directory.is_symlink():
            directory.rename(bench.root / "away")
            directory.symlink_to(outside)

    bench.on_check = swap
    restored = await bench.points.restore("turn-1", redo_id="x")
    assert directory.is_symlink()
    assert [change.path.name for change, _ in restored.failures] == ["a"]
    assert (outside / "a").stat().st_mode & 0o777 == 0o600


async def test_a_file_that_cannot_be_kept_stops_the_change(bench: Bench) -> None:
    bench.store.mkdir()
    (bench.store / "files").write_text("in the way")
    (bench.root / "a").write_text("x")
    with pytest.raises(ToolError, match="was not changed"):
        await bench.points.before_change(bench.root / "a", tool_use_id="u")


async def test_a_destructive_command_in_a_repository_is_undone(repository: Bench) -> None:
    root = repository.root
    (root / "b.txt").write_text("my work in progress\n")
    (root / "notes").write_text("untracked\n")
    before = repository.files()
    assert await repository.points.before_command("u") == ("files that git ignores",)
    for path in root.iterdir():
        if path.is_file():
            path.unlink()
    (root / "left over").write_text("x")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "everything gone")
    await repository.points.after_command("u")
    preview = await repository.points.preview("turn-1")
    assert preview.not_covered == ("files that git ignores",)
    await repository.points.restore("turn-1", redo_id="x")
    assert repository.files() == before
    assert (root / "run.sh").stat().st_mode & 0o111


async def test_a_command_without_git_is_undone_as_well(bench: Bench) -> None:
    (bench.root / "a").write_text("old")
    await bench.points.before_command("u")
    (bench.root / "a").unlink()
    (bench.root / "b").write_text("new")
    await bench.points.after_command("u")
    await bench.points.restore("turn-1", redo_id="x")
    assert bench.files() == {"a": "old"}


async def test_files_beyond_the_limit_are_reported_and_never_deleted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worktree, "MAX_FILES", 2)
    monkeypatch.setattr(worktree, "MAX_WALKED", 3)
    for number in range(6):
        (bench.root / f"{number}").write_text("x")
    told = await bench.points.before_command("u")
    assert told == ("1 files beyond the limit of what is copied", "files beyond the first 3")
    (bench.root / "0").write_text("changed")
    await bench.points.after_command("u")
    await bench.points.restore("turn-1", redo_id="x")
    assert bench.files() == {str(number): "x" for number in range(6)}


async def test_a_forked_session_can_undo_what_the_original_did(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home")
    original = store.create(tmp_path)
    root = Path(os.path.realpath(tmp_path)) / "project"
    root.mkdir()

    def points(directory: Path) -> Checkpoints:
        worktree = Worktree(root, ReadingPrograms({}, root, launch_unconfined), use_git=False)
        seal = SessionSeal(tmp_path / "home", directory.name, root).snapshot_seal
        return Checkpoints(
            directory, worktree, turn_id=lambda: "t", may_write=lambda _: True, seal=seal
        )

    mine = points(original.directory)
    (root / "a").write_text("old")
    await mine.before_change(root / "a", tool_use_id="u")
    (root / "a").write_text("new")
    fork = store.fork(original.id)
    copy = points(fork.directory)
    await copy.restore("t", redo_id="x")
    assert (root / "a").read_text() == "old"
    for each in (mine, copy, original, fork):
        each.close()


async def edit(bench: Bench, path: Path, text: str, tool_use_id: str) -> None:
    await bench.points.before_change(path, tool_use_id=tool_use_id)
    path.write_text(text)
    await bench.points.after_change(tool_use_id)


async def test_some_edits_of_a_turn_are_undone_and_redone(bench: Bench) -> None:
    one, new = bench.root / "one", bench.root / "new"
    one.write_bytes(b"\xff0\r\n")
    one.chmod(0o755)
    await edit(bench, one, "1", "u1")
    await edit(bench, one, "2", "u2")
    await edit(bench, one, "3", "u3")
    await edit(bench, new, "created", "u4")
    undone = await bench.points.undo(("u2", "u3", "u4"), redo_id="x")
    assert bench.files() == {"one": "1"}
    assert not undone.failures
    # What is undone once is not undone again.
    assert not (await bench.points.undo(("u2", "u3", "u4"), redo_id="y")).done_changes
    await bench.points.restore(undone.redo_id, redo_id="z")
    assert bench.files() == {"one": "3", "new": "created"}
    await bench.points.restore("turn-1", redo_id="w")
    assert one.read_bytes() == b"\xff0\r\n"
    assert one.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("moment", ["before", "between", "unfinished"])
async def test_an_edit_is_not_undone_over_what_changed_since(bench: Bench, moment: str) -> None:
    path = bench.root / "a"
    path.write_text("0")
    await edit(bench, path, "1", "u1")
    if moment == "between":
        path.write_text("the user's")
        await edit(bench, path, "2", "u2")
    elif moment == "unfinished":
        await bench.points.before_change(path, tool_use_id="u2")
        path.write_text("2")
    else:
        path.write_text("the user's")
    text = path.read_text()
    result = await bench.points.undo(("u1", "u2"), redo_id="x")
    assert path.read_text() == text
    assert not result.done_changes
    assert [why for _, why in result.failures] == ["it has changed since"]


async def test_what_was_saved_elsewhere_is_not_restored(bench: Bench, tmp_path: Path) -> None:
    """The author of a copied session must not decide what is written here."""
    hook, other = bench.root / "hook", bench.root / "other"
    for path in (hook, other):
        path.write_text("old")
    await bench.points.before_change(hook, tool_use_id="u")
    hook.write_text("new")
    bench.points.close()
    log = bench.store / "checkpoints.jsonl"
    (line,) = read_forwards(log)
    assert isinstance(line, Line)
    with Transcript.open(log) as transcript:
        fields = ("kind", "turn_id", "tool_use_id", "seal")
        state = PathState("absent").to_json()
        forged = {name: line.data[name] for name in fields}
        transcript.append({**forged, "path": str(other), "state": state})
    bench.points = bench.reopened()
    preview = await bench.points.preview("turn-1")
    assert [one.action for one in preview.changes] == ["write", "cannot"]
    bench.points.close()
    bench.home = tmp_path / "another home"
    bench.points = bench.reopened()
    result = await bench.points.restore("turn-1", redo_id="x")
    assert (hook.read_text(), other.read_text()) == ("new", "old")
    assert all("saved elsewhere" in reason for _, reason in result.failures)
