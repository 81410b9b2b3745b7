"""Grep and Glob over real trees, through ripgrep."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent.tools.base import ToolError
from agent.tools.builtin.glob import glob_tool
from agent.tools.builtin.grep import grep_tool, split_globs
from agent.tools.search import rg
from tests.agent.tools.conftest import Bench

GLOB, GREP = glob_tool(), grep_tool()


@pytest.fixture
def tree(bench: Bench) -> Bench:
    bench.file("src/a.py", "import os\nneedle = 1\nprint(needle)\n")
    bench.file("src/deep/b.ts", "let x = 'Needle';\n")
    bench.file("docs/c d 🙂.md", "no\nneedle here\nno\nno\nneedle there\n")
    bench.file(".hidden/e.py", "needle\n")
    bench.file(".gitignore", "ignored/\n*.log\n")
    bench.file("ignored/f.py", "needle\n")
    bench.file("g.log", "needle\n")
    bench.file(".git/config", "needle\n")
    bench.file("binary.dat", b"needle\0needle\n")
    for number, name in enumerate(["src/a.py", "docs/c d 🙂.md", ".hidden/e.py", "src/deep/b.ts"]):
        os.utime(bench.root / name, (1_000_000 + number, 1_000_000 + number))
    return bench


async def test_files_come_newest_first(tree: Bench) -> None:
    assert await tree.text(GREP, pattern="needle") == ".hidden/e.py\ndocs/c d 🙂.md\nsrc/a.py"


async def test_content_with_numbers_and_context(tree: Bench) -> None:
    text = await tree.text(
        GREP, pattern="needle", path="docs", output_mode="content", **{"-B": 1, "-A": 0}
    )
    assert text == (
        "docs/c d 🙂.md-1-no\ndocs/c d 🙂.md:2:needle here\n--\n"
        "docs/c d 🙂.md-4-no\ndocs/c d 🙂.md:5:needle there"
    )


async def test_content_without_numbers(tree: Bench) -> None:
    text = await tree.text(
        GREP, pattern="needle", path="src/a.py", output_mode="content", **{"-n": False}
    )
    assert text == "src/a.py:needle = 1\nsrc/a.py:print(needle)"


async def test_counts(tree: Bench) -> None:
    outcome = await tree.call(GREP, pattern="needle", output_mode="count")
    assert outcome.content == (
        ".hidden/e.py:1\ndocs/c d 🙂.md:2\nsrc/a.py:2\n\n[5 matches in 3 files]"
    )
    assert outcome.tool_response is not None
    assert outcome.tool_response["numMatches"] == 5


async def test_case_glob_and_type(tree: Bench) -> None:
    assert await tree.text(GREP, pattern="NEEDLE", **{"-i": True}, glob="*.{ts,md}") == (
        "src/deep/b.ts\ndocs/c d 🙂.md"
    )
    assert await tree.text(GREP, pattern="needle", glob="*.ts, *.md") == "docs/c d 🙂.md"
    assert await tree.text(GREP, pattern="needle", glob="!docs/**") == ".hidden/e.py\nsrc/a.py"
    assert await tree.text(GREP, pattern="needle", type="py") == ".hidden/e.py\nsrc/a.py"
    assert await tree.text(GREP, pattern="needle", glob="**/.git/**") == "No match."


async def test_multiline(tree: Bench) -> None:
    pattern = r"needle = 1.print"
    assert await tree.text(GREP, pattern=pattern) == "No match."
    assert await tree.text(GREP, pattern=pattern, multiline=True) == "src/a.py"
    text = await tree.text(GREP, pattern=pattern, multiline=True, output_mode="content")
    assert text == "src/a.py:2:needle = 1\nsrc/a.py:3:print(needle)"


async def test_limit_and_offset_walk_through_everything(tree: Bench) -> None:
    tree.file("many.txt", "".join(f"hit {i}\n" for i in range(1_000)))
    arguments = {"pattern": "^hit", "output_mode": "content"}
    text = await tree.text(GREP, **arguments)
    assert text.count("\n") == 251
    assert text.endswith("continue with offset=250]")
    text = await tree.text(GREP, **arguments, head_limit=2, offset=998)
    assert text == "many.txt:999:hit 998\nmany.txt:1000:hit 999"
    text = await tree.text(GREP, **arguments, head_limit=0)
    assert text.count("many.txt") == 1_000
    assert "past the last of 1000" in await tree.text(GREP, **arguments, offset=2_000)


async def test_binary_file_named_directly(tree: Bench) -> None:
    arguments = {"pattern": "needle", "path": "binary.dat"}
    assert await tree.text(GREP, **arguments, output_mode="content") == (
        "A binary file matches; it has no lines to show."
    )
    assert await tree.text(GREP, **arguments, output_mode="count") in (
        "No match.",
        "binary.dat:2\n\n[2 matches in 1 files]",
    )


async def test_long_lines_are_cut(tree: Bench) -> None:
    tree.file("wide.txt", "x" * 5_000_000 + "needle\n")
    text = await tree.text(GREP, pattern="x+", glob="wide.txt", output_mode="content")
    assert len(text) < 1_000


@pytest.mark.parametrize("pattern", ["-e", "--pre=touch pwned", "--", "$(touch pwned)"])
async def test_patterns_are_never_options_nor_shell(tree: Bench, pattern: str) -> None:
    tree.file("odd.txt", f"{pattern}\n")
    quoted = pattern.replace("$", r"\$").replace("(", r"\(").replace(")", r"\)")
    assert await tree.text(GREP, pattern=quoted) == "odd.txt"
    assert not (tree.root / "pwned").exists()


async def test_malformed_pattern_is_explained(tree: Bench) -> None:
    with pytest.raises(ToolError, match="The search failed"):
        await tree.call(GREP, pattern="(")


async def test_missing_directory_is_reported(tree: Bench) -> None:
    with pytest.raises(ToolError, match="nowhere does not exist"):
        await tree.call(GREP, pattern="x", path="nowhere")
    with pytest.raises(ToolError, match="nowhere does not exist"):
        await tree.call(GLOB, pattern="*", path="nowhere")


async def test_settings_of_ripgrep_do_not_count(tree: Bench) -> None:
    config = tree.file("rgrc", "--pre=false\n--no-hidden\n")
    tree.services.env = {**tree.services.env, "RIPGREP_CONFIG_PATH": str(config)}
    assert ".hidden/e.py" in await tree.text(GREP, pattern="needle")


async def test_glob_patterns(tree: Bench) -> None:
    assert await tree.text(GLOB, pattern="*.py") == ".hidden/e.py\nsrc/a.py"
    assert await tree.text(GLOB, pattern="src/**/*") == "src/deep/b.ts\nsrc/a.py"
    assert await tree.text(GLOB, pattern="**/*.{ts,md}") == "src/deep/b.ts\ndocs/c d 🙂.md"
    assert await tree.text(GLOB, pattern=f"{tree.root}/src/*.py") == "src/a.py"
    assert await tree.text(GLOB, pattern="deep/*", path="src") == "src/deep/b.ts"
    assert await tree.text(GLOB, pattern="*.rs") == "No file in . matches *.rs."


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "x/y/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/*.py", "x/src/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("**/a.py", "a.py", True),
        ("src/**", "src/x/y", True),
        ("a**b", "aXXb", True),
        ("a**b/c", "aX/b/c", False),
        ("?.py", "ab.py", False),
        ("[!ab].py", "a.py", False),
        ("{src,lib}/**/*.{a,b}", "lib/q/x.b", True),
        ("{a,{b,c}}.x", "c.x", True),
        ("a{b", "a{b", True),
        ("[", "[", True),
        (r"\*.py", "a.py", False),
        (r"\{a,b}", "{a,b}", True),
        ("[z-a]x", "[z-a]x", True),
        ("#x", "#x", True),
        ("#x", "y", False),
        ("a ", "a ", True),
        ("a ", "a", False),
        ("a\nb", "a\nb", True),
        ("a\t", "a\t", True),
        ("*", "x/.hidden", True),
        ("a/**/**/b", "a/b", True),
        ("{a,b/c}.x", "b/c.x", True),
        ("{a,b}" * 30, "ab" * 15, True),
    ],
)
async def test_what_a_glob_matches(bench: Bench, pattern: str, path: str, expected: bool) -> None:
    bench.file(path)
    found = (await bench.call(GLOB, pattern=pattern)).tool_response
    assert found is not None
    assert found["numFiles"] == int(expected)


@given(st.text(alphabet="ab*?[]{},!\\/-^ \t#", min_size=1, max_size=12))
@example("\\\t")
@example("a\\\\ ")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_text_is_a_glob(bench: Bench, pattern: str) -> None:
    if await bench.objection(GLOB, pattern=pattern) is None and not pattern.startswith("/"):
        await bench.call(GLOB, pattern=pattern)


async def test_no_glob_takes_long(bench: Bench) -> None:
    bench.file("a" * 250)
    bench.file("/".join(["a" * 10] * 20))
    for pattern in ("*a" * 40 + "*b", "**/*a/" * 20 + "b"):
        assert "No file" in await bench.text(GLOB, pattern=pattern)


async def test_an_absolute_pattern_is_never_inverted(bench: Bench) -> None:
    bench.file("!a")
    bench.file("b")
    assert await bench.text(GLOB, pattern=f"{bench.root}/!*") == "!a"


async def test_glob_shows_ignored_files_when_nothing_else_matches(tree: Bench) -> None:
    assert await tree.text(GLOB, pattern="*.log") == (
        "g.log\n\n[all of these are ignored by .gitignore]"
    )


async def test_glob_is_bounded(tree: Bench) -> None:
    for number in range(150):
        tree.file(f"n/{number}.txt")
    outcome = await tree.call(GLOB, pattern="n/*.txt")
    assert outcome.tool_response is not None
    assert outcome.tool_response["numFiles"] == 100
    assert outcome.tool_response["truncated"]
    assert "100 of 150 files" in str(outcome.content)


async def test_files_that_a_rule_hides_are_left_out(tree: Bench) -> None:
    tree.services.may_search = lambda path: path.suffix != ".md"
    note = "\n\n[left out by permission rules: 1 file]"
    assert await tree.text(GREP, pattern="needle") == f".hidden/e.py\nsrc/a.py{note}"
    text = await tree.text(GREP, pattern="needle", output_mode="content")
    assert text.endswith(f"src/a.py:3:print(needle){note}")
    assert "needle here" not in text
    assert await tree.text(GLOB, pattern="docs/*") == f"No file in . matches docs/*.{note}"


async def test_directory_that_is_ignored_can_still_be_searched(tree: Bench) -> None:
    assert await tree.text(GREP, pattern="needle", path="ignored") == "ignored/f.py"
    assert await tree.text(GLOB, pattern="*", path="ignored") == "ignored/f.py"


@pytest.mark.parametrize("pattern", ["../*", "a/../../b", "!x", "a\0b"])
async def test_glob_patterns_that_lead_elsewhere_are_refused(bench: Bench, pattern: str) -> None:
    assert await bench.objection(GLOB, pattern=pattern)


def test_permission_sees_the_directory_that_is_searched(bench: Bench) -> None:
    for raw, path in [
        ({"pattern": "*"}, bench.root),
        ({"pattern": "*", "path": "sub"}, bench.root / "sub"),
        ({"pattern": "/etc/*.conf", "path": "sub"}, Path("/etc")),
        ({"pattern": "/etc/ssl/x{a,b}/*"}, Path("/etc/ssl")),
        ({"pattern": "/etc/passwd"}, Path("/etc")),
        ({"pattern": "~/.ssh/*"}, bench.services.home / ".ssh"),
    ]:
        seen = GLOB.permission_input(GLOB.parse(raw), raw, bench.context)
        assert seen == {**raw, "path": str(path)}
    raw = {"pattern": "x", "path": "~"}
    seen = GREP.permission_input(GREP.parse(raw), raw, bench.context)
    assert seen == {"pattern": "x", "path": str(bench.services.home)}


@pytest.mark.parametrize(
    ("globs", "parts"),
    [
        (None, []),
        ("*.py", ["*.py"]),
        ("*.py *.ts", ["*.py", "*.ts"]),
        ("*.py,*.ts", ["*.py", "*.ts"]),
        ("*.{a,b} c", ["*.{a,b}", "c"]),
    ],
)
def test_glob_lists_are_split(globs: str | None, parts: list[str]) -> None:
    assert split_globs(globs) == parts


async def test_cancelled_search_ends_its_program(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "never")
    slow = [sys.executable, "-c", f"open({str(tmp_path / 'never')!r}).read()"]
    monkeypatch.setattr(rg, "_search_command", lambda *_: slow)
    search = rg.search([], directory=bench.root, programs=bench.services.reading)
    task = asyncio.ensure_future(search)
    writer = await asyncio.to_thread(os.open, tmp_path / "never", os.O_WRONLY)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(BrokenPipeError):
        os.write(writer, b"x")
    os.close(writer)


def test_identifiers(tmp_path: Path) -> None:
    parsed = GREP.parse({"pattern": "a\nb", "path": str(tmp_path / "x"), "glob": "*.py"})
    assert GREP.identifier(parsed, tmp_path) == "Grep a\\nb in x (*.py)"
    assert GLOB.identifier(GLOB.parse({"pattern": "*.py"}), tmp_path) == "Glob *.py"


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".git/info/exclude"])
async def test_a_pipe_as_ignore_file_is_not_waited_for(bench: Bench, name: str) -> None:
    bench.file("a.py", "print(1)\n")
    (bench.root / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(bench.root / name)
    text = await bench.text(GREP, pattern="print")
    assert "a.py" in text
    assert "is not a regular file: no ignore file is used" in text
