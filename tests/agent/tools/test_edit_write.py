"""Edit and Write: nothing is lost, nothing else is touched."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.display import DiffDisplay, TextDisplay
from agent.tools.base import Tool, ToolError
from agent.tools.builtin.edit import edit_tool
from agent.tools.builtin.read import read_tool
from agent.tools.builtin.write import write_tool
from agent.tools.file_state import digest
from agent.tools.files.atomic_write import read_current, replace_file
from tests.agent.tools.conftest import Bench

ROOT = Path(__file__).parents[3]
READ, EDIT, WRITE = read_tool(), edit_tool(), write_tool()


class Snapshots:
    """Notes what a file held right before it was changed."""

    def __init__(self) -> None:
        self.seen: list[tuple[Path, bytes | None, str]] = []

    async def before_change(self, path: Path, *, tool_use_id: str) -> None:
        self.seen.append((path, path.read_bytes() if path.exists() else None, tool_use_id))

    async def after_change(self, tool_use_id: str) -> None:
        raise AssertionError("the lifecycle does this")

    async def before_command(self, tool_use_id: str) -> Sequence[str]:
        raise AssertionError("no command runs here")

    async def after_command(self, tool_use_id: str) -> None:
        raise AssertionError("no command runs here")


async def test_edit_replaces_one_piece(bench: Bench) -> None:
    path = bench.file("a.py", "def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    await bench.call(READ, file_path="a.py")
    outcome = await bench.call(EDIT, file_path="a.py", old_string="return 1", new_string="return 3")
    assert path.read_text() == "def f():\n    return 3\n\n\ndef g():\n    return 2\n"
    assert outcome.content == (
        "Changed a.py. Around the change it now reads:\n"
        "     1\tdef f():\n     2\t    return 3\n     3\t\n     4\t\n     5\tdef g():"
    )
    assert outcome.display == DiffDisplay(
        "a.py",
        "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
        "def f():\n    return 3\n\n\ndef g():\n    return 2\n",
    )
    assert outcome.tool_response is not None
    assert outcome.tool_response["filePath"] == str(path)
    assert (
        outcome.tool_response["originalFile"]
        == "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
    )
    patch: Any = outcome.tool_response["structuredPatch"]
    assert patch[0]["lines"] == [
        " def f():",
        "-    return 1",
        "+    return 3",
        " ",
        " ",
        " def g():",
    ]


async def test_edit_after_edit_needs_no_new_read(bench: Bench) -> None:
    path = bench.file("a", "one two")
    await bench.call(READ, file_path="a")
    await bench.call(EDIT, file_path="a", old_string="one", new_string="1")
    await bench.call(EDIT, file_path="a", old_string="two", new_string="2")
    assert path.read_text() == "1 2"


async def test_replace_all_changes_every_occurrence(bench: Bench) -> None:
    path = bench.file("a", "x.x.x")
    await bench.call(READ, file_path="a")
    text = await bench.text(EDIT, file_path="a", old_string="x", new_string="yy", replace_all=True)
    assert path.read_text() == "yy.yy.yy"
    assert "in 3 places" in text


@pytest.mark.parametrize(
    ("content", "old", "said"),
    [
        ("a\nx\nb\nx\n", "x", "occurs 2 times (lines 2, 4)"),
        ("\tfoo()\n", "    foo()", "Line 1 onward differs from old_string only in spaces"),
        ("def compute(a, b):\n", "def compute(a, c):", "     1\tdef compute(a, b):"),
        ("hello\n", "     1\thello", "leave out the number and the tab"),
        ("hello\n", "something entirely different", "Nothing in the file is similar"),
        ("", "x", "The file is empty"),
    ],
)
async def test_a_miss_is_explained(bench: Bench, content: str, old: str, said: str) -> None:
    bench.file("a", content)
    await bench.call(READ, file_path="a")
    objection = await bench.objection(EDIT, file_path="a", old_string=old, new_string="new")
    assert objection is not None
    assert said in objection


async def test_miss_in_a_large_file_is_explained_quickly(bench: Bench) -> None:
    bench.file("a", "".join(f"value_{i} = compute({i})\n" for i in range(40_000)))
    await bench.call(READ, file_path="a")
    objection = await bench.objection(
        EDIT, file_path="a", old_string="value_77 = computed(77)", new_string=""
    )
    assert objection is not None
    assert "    78\tvalue_77 = compute(77)" in objection


@pytest.mark.parametrize("tool", [EDIT, WRITE], ids=["Edit", "Write"])
async def test_unread_and_changed_files_are_refused(bench: Bench, tool: object) -> None:
    path = bench.file("a", "old")
    arguments = {"old_string": "old", "new_string": "new"} if tool is EDIT else {"content": "new"}
    chosen = EDIT if tool is EDIT else WRITE
    objection = await bench.objection(chosen, file_path="a", **arguments)
    assert objection == "a exists and has not been read yet. Read it first, then change it."
    await bench.call(READ, file_path="a")
    path.write_text("old ")
    objection = await bench.objection(chosen, file_path="a", **arguments)
    assert objection is not None
    assert "changed on disk since it was read" in objection
    path.write_text("old")  # the same content again: nothing to refuse
    assert await bench.objection(chosen, file_path="a", **arguments) is None


async def test_change_between_permission_and_run_is_noticed(bench: Bench) -> None:
    path = bench.file("a", "old")
    await bench.call(READ, file_path="a")
    parsed = EDIT.parse({"file_path": "a", "old_string": "old", "new_string": "new"})
    assert await EDIT.validate(parsed, bench.context) is None
    path.write_text("the user was faster: old")
    with pytest.raises(ToolError, match="changed on disk"):
        await EDIT.run(parsed, bench.context)
    assert path.read_text() == "the user was faster: old"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\n2\r\nzwei\r\nthree\r\n"),
        (b"one\ntwo\r\nthree\n", b"one\n2\r\nzwei\r\nthree\n"),
        (b"\xef\xbb\xbfone\ntwo\nthree", b"\xef\xbb\xbfone\n2\nzwei\nthree"),
        (
            b"\xff\xfe" + "one\r\ntwo\r\né\r\n".encode("utf-16-le"),
            b"\xff\xfe" + "one\r\n2\r\nzwei\r\né\r\n".encode("utf-16-le"),
        ),
        (b"one\ntwo\ncaf\xe9\n", b"one\n2\nzwei\ncaf\xe9\n"),
        (b"\rone\ntwo\n\x0c\x1b[0m", b"\rone\n2\nzwei\n\x0c\x1b[0m"),
    ],
    ids=["crlf", "mixed", "bom", "utf-16", "latin-1", "controls"],
)
async def test_edit_keeps_everything_else(bench: Bench, before: bytes, after: bytes) -> None:
    path = bench.file("a", before)
    path.chmod(0o751)
    await bench.call(READ, file_path="a")
    await bench.call(EDIT, file_path="a", old_string="two\n", new_string="2\nzwei\n")
    assert path.read_bytes() == after
    assert path.stat().st_mode & 0o777 == 0o751


async def test_character_that_the_encoding_lacks_is_refused(bench: Bench) -> None:
    path = bench.file("a", b"caf\xe9\n")
    await bench.call(READ, file_path="a")
    objection = await bench.objection(EDIT, file_path="a", old_string="caf", new_string="🙂")
    assert objection is not None
    assert "LATIN-1, which cannot hold U+1F642" in objection
    assert path.read_bytes() == b"caf\xe9\n"


async def test_write_keeps_the_form_of_the_file(bench: Bench) -> None:
    path = bench.file("a", b"\xef\xbb\xbfone\r\n")
    path.chmod(0o700)
    await bench.call(READ, file_path="a")
    text = await bench.text(WRITE, file_path="a", content="new\nlines\n")
    assert path.read_bytes() == b"\xef\xbb\xbfnew\r\nlines\r\n"
    assert path.stat().st_mode & 0o777 == 0o700
    assert text == "Wrote a: 2 lines, 15 bytes (CRLF line endings kept)."


async def test_write_falls_back_to_utf8_and_reports_it(bench: Bench) -> None:
    path = bench.file("a", b"caf\xe9\n")
    await bench.call(READ, file_path="a")
    text = await bench.text(WRITE, file_path="a", content="🙂\n")
    assert path.read_text() == "🙂\n"
    assert "now UTF-8: LATIN-1 cannot hold the new text" in text


async def test_write_makes_directories_and_obeys_the_umask(bench: Bench) -> None:
    old = os.umask(0o027)
    try:
        outcome = await bench.call(WRITE, file_path="new/sub/a b\n🙂.txt", content="x")
    finally:
        os.umask(old)
    path = bench.root / "new/sub/a b\n🙂.txt"
    assert path.read_text() == "x"
    assert path.stat().st_mode & 0o777 == 0o640
    assert outcome.tool_response == {
        "type": "create",
        "filePath": str(path),
        "content": "x",
        "originalFile": None,
        "structuredPatch": [],
        "userModified": False,
        "success": True,
    }
    assert outcome.display == DiffDisplay("new/sub/a b\\n🙂.txt", "", "x", is_new=True)
    assert os.listdir(path.parent) == [path.name]


async def test_edit_with_empty_old_text_fills_a_new_file(bench: Bench) -> None:
    await bench.call(EDIT, file_path="a", old_string="", new_string="x\n")
    assert (bench.root / "a").read_text() == "x\n"
    assert await bench.objection(EDIT, file_path="a", old_string="", new_string="y")


async def test_link_stays_a_link(bench: Bench) -> None:
    target = bench.file("real/a", "old")
    (bench.root / "link").symlink_to("real/a")
    await bench.call(READ, file_path="link")
    await bench.call(EDIT, file_path="link", old_string="old", new_string="new")
    assert (bench.root / "link").is_symlink()
    assert target.read_text() == "new"


async def test_link_out_of_scope_is_not_followed(bench: Bench) -> None:
    outside = bench.root.parent / "outside"
    outside.write_text("old")
    (bench.root / "link").symlink_to(outside)
    await bench.call(READ, file_path="link")
    with pytest.raises(ToolError, match="outside the working directories"):
        await bench.call(EDIT, file_path="link", old_string="old", new_string="new")
    with pytest.raises(ToolError, match="outside the working directories"):
        await bench.call(WRITE, file_path="../new", content="x")
    assert outside.read_text() == "old"


def test_directory_swapped_for_a_link_after_the_check_is_not_followed(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "inside").mkdir()
    (root / "outside").mkdir()

    def swap(_target: Path) -> bool:
        # What a command running beside us could do between the check and the write.
        (root / "inside").rmdir()
        (root / "inside").symlink_to("outside")
        return True

    with pytest.raises(ToolError, match="has become a link"):
        replace_file(root / "inside/a", b"x", expected_digest=None, may_write=swap)
    assert os.listdir(root / "outside") == []


def test_file_that_appeared_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("theirs")
    with pytest.raises(ToolError, match="changed on disk just now"):
        replace_file(tmp_path / "a", b"ours", expected_digest=None, may_write=lambda _: True)
    with pytest.raises(ToolError, match="changed on disk just now"):
        replace_file(
            tmp_path / "b", b"ours", expected_digest=digest(b"x"), may_write=lambda _: True
        )
    assert os.listdir(tmp_path) == ["a"]


async def test_checkpoint_comes_before_the_change(bench: Bench) -> None:
    snapshots = Snapshots()
    bench.services.checkpoints = snapshots
    path = bench.file("a", "old")
    await bench.call(READ, file_path="a")
    await bench.call(EDIT, file_path="a", old_string="old", new_string="new")
    await bench.call(WRITE, file_path="b", content="x")
    assert snapshots.seen == [
        (path, b"old", "toolu_1"),
        (bench.root / "b", None, "toolu_1"),
    ]


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_failed_write_leaves_the_file_and_no_litter(bench: Bench) -> None:
    path = bench.file("sub/a", "old")
    await bench.call(READ, file_path="sub/a")
    with file_size_limit(1_000), pytest.raises(ToolError, match="Nothing was changed"):
        await bench.call(WRITE, file_path="sub/a", content="x" * 5_000)
    with file_size_limit(1_000), pytest.raises(ToolError, match="Nothing was changed"):
        await bench.call(WRITE, file_path="fresh/folder/a", content="x" * 5_000)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["a"]
    assert os.listdir(bench.root) == ["sub"]


_AS_NOBODY = """
import os, sys
from pathlib import Path
from agent.tools.files.atomic_write import replace_file
from agent.tools.base import ToolError
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for name in ("file", "new", "readonly"):
    try:
        old = Path(sys.argv[1], name)
        from agent.tools.file_state import digest
        known = digest(old.read_bytes()) if old.exists() else None
        replace_file(old, b"new", expected_digest=known, may_write=lambda _: True)
    except ToolError as error:
        print(error)
"""


def test_read_only_project_is_reported_plainly() -> None:
    # Not below pytest's folder, which is closed to whoever is not this user.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        directory = Path(os.path.realpath(name))
        (directory / "file").write_text("old")
        (directory / "readonly").write_text("old")
        (directory / "readonly").chmod(0o444)
        directory.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, str(directory)],
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        )
        directory.chmod(0o755)
        denied = "permission denied for its folder. Nothing was changed."
        assert done.stdout.splitlines() == [
            f"Cannot write {directory}/file: {denied}",
            f"Cannot write {directory}/new: {denied}",
            f"{directory}/readonly is read-only (mode 0444). Nothing was written.",
        ]
        assert (directory / "file").read_text() == "old"


@pytest.mark.parametrize("name", ["folder", "pipe"])
async def test_only_plain_files_are_written(bench: Bench, name: str) -> None:
    (bench.root / "folder").mkdir()
    os.mkfifo(bench.root / "pipe")
    objection = await bench.objection(WRITE, file_path=name, content="x")
    assert "is a folder" in str(objection) or "is not a regular file" in str(objection)


async def test_previews_change_nothing(bench: Bench) -> None:
    path = bench.file("a", "old\r\n")
    await bench.call(READ, file_path="a")
    edit = EDIT.parse({"file_path": "a", "old_string": "old", "new_string": "new"})
    assert await EDIT.preview(edit, bench.context) == DiffDisplay("a", "old\n", "new\n")
    write = WRITE.parse({"file_path": "b/c", "content": "x"})
    assert await WRITE.preview(write, bench.context) == DiffDisplay("b/c", "", "x", is_new=True)
    assert path.read_bytes() == b"old\r\n"
    assert os.listdir(bench.root) == ["a"]


async def test_change_too_large_for_a_diff_is_described(bench: Bench) -> None:
    write = WRITE.parse({"file_path": "a", "content": "x" * 3_000_000})
    preview = await WRITE.preview(write, bench.context)
    assert isinstance(preview, TextDisplay)
    assert preview.text.startswith("a: too large to show as a diff (a new file, 3,000,000 after).")


async def test_binary_file_is_not_edited(bench: Bench) -> None:
    path = bench.file("a", b"\0\1\2")
    bench.services.files.record(path, digest(b"\0\1\2"))
    objection = await bench.objection(EDIT, file_path="a", old_string="x", new_string="y")
    assert objection == "a is not a text file: it contains NUL bytes."


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="the system has no extended attributes")
async def test_what_else_belongs_to_a_file_stays(bench: Bench) -> None:
    path = bench.file("a.txt", "one\n")
    try:
        os.setxattr(path, "user.note", b"keep")
    except OSError:
        pytest.skip("this file system keeps none")
    await bench.call(READ, file_path=str(path))
    await bench.call(EDIT, file_path=str(path), old_string="one", new_string="two")
    assert os.getxattr(path, "user.note") == b"keep"


@pytest.mark.parametrize("tool", [EDIT, WRITE], ids=["edit", "write"])
async def test_other_names_of_a_file_are_reported(bench: Bench, tool: Tool[Any]) -> None:
    path = bench.file("a.txt", "one\n")
    os.link(path, bench.root / "b.txt")
    await bench.call(READ, file_path=str(path))
    change = {"old_string": "one", "new_string": "two"} if tool is EDIT else {"content": "two\n"}
    outcome = await bench.call(tool, file_path=str(path), **change)
    assert "its 1 hard link keeps the old content" in str(outcome.content)
    assert (bench.root / "b.txt").read_text() == "one\n"


KILLED = """
import os, signal, sys
from pathlib import Path
from agent.tools.files import atomic_write as a
step = sys.argv[2]
real = getattr(os, step)
def die(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, step, die)
path = Path(sys.argv[1])
current = a.read_current(path)
a.replace_file(path, b"new" * 9999, expected_digest=current.digest, may_write=lambda _: True)
"""


@pytest.mark.parametrize("step", ["write", "fchmod", "fsync", "replace"])
def test_a_kill_leaves_the_old_file_whole(step: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), step], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    if step != "replace" and _takes_nameless_files(tmp_path):
        assert os.listdir(tmp_path) == ["a.txt"]


def _takes_nameless_files(directory: Path) -> bool:
    try:
        os.close(os.open(directory, os.O_WRONLY | os.O_TMPFILE, 0o600))
    except (OSError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("old", [None, "old"])
def test_a_file_system_without_late_names_is_written_to_all_the_same(
    old: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    if old is not None:
        path.write_text(old)
        path.chmod(0o754)
    link = os.link

    def refusing(source: str | bytes, target: str | bytes, **named: Any) -> None:
        if isinstance(source, str) and source.startswith("/proc/"):
            raise OSError(errno.EXDEV, "refused")
        link(source, target, **named)

    monkeypatch.setattr(os, "link", refusing)
    current = read_current(path)
    expected = current.digest if current is not None else None
    replace_file(path, b"new", expected_digest=expected, may_write=lambda _: True)
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]
    if old is not None:
        assert stat.S_IMODE(path.stat().st_mode) == 0o754
