"""Bad days: odd names, loops, missing folders, huge and broken commands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from permissions.decision import Behavior
from permissions.evaluate.cascade import decide
from permissions.paths.file_view import RealFiles
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine


@pytest.mark.parametrize(
    "path",
    ["loop", "loop/x", "a\x00b", "", "~other/x", "\ud800", "x" * 5000, None, 3, ["a"]],
    ids=lambda value: repr(value)[:12],
)
@pytest.mark.parametrize("tool", ["Read", "Write"])
def test_a_path_that_cannot_be_resolved_is_asked_about(
    engine: Engine, tool: str, path: object
) -> None:
    decision = engine.call(tool, {"file_path": path}, allow=["Edit", "Read"])
    assert decision.behavior is Behavior.ASK


@pytest.mark.parametrize("name", ["a\nb", "a b", "naïve-🎉", "-rf", "$HOME", "*", "a'b"])
def test_odd_names_are_names(engine: Engine, name: str) -> None:
    assert engine.call("Write", {"file_path": name}, allow=["Edit"]).behavior is Behavior.ALLOW


def test_a_link_that_dangles_counts_where_it_leads(engine: Engine) -> None:
    decision = engine.call("Write", {"file_path": "dangling"}, allow=["Edit"])
    assert (decision.behavior, decision.source) == (Behavior.ASK, "scope_check")
    assert decision.write_dirs == (str(engine.root.parent / "outside"),)


def test_dot_dot_behind_a_link_goes_where_the_kernel_goes(engine: Engine) -> None:
    decision = engine.call("Write", {"file_path": "outlink/../x"}, allow=["Edit"])
    assert decision.write_dirs == (str(engine.root.parent),)


def test_a_directory_that_is_gone_is_still_the_scope(tmp_path: Path, engine: Engine) -> None:
    gone = Engine(tmp_path / "gone", engine.home)
    assert gone.bash("touch x", allow=["Bash(touch *)"]).behavior is Behavior.ALLOW
    assert gone.bash("touch ../x", allow=["Bash(touch *)"]).write_dirs == (str(tmp_path),)


def test_a_wrapper_without_a_command_behind_find_is_asked_about(engine: Engine) -> None:
    found = engine.bash("find . -type f | xargs busybox -s", allow=["Bash(find *)"])
    assert found.behavior is Behavior.ASK


HUGE = {
    "a megabyte": "x" * 1_000_000,
    "substitutions": "$(" * 3_000 + ")" * 3_000,
    "parentheses": "(" * 9_000,
    "groups": "{ " * 1_500 + "ls;" + " }" * 1_500,
    "loops": "for i in 1; do " * 300 + "cd a; " + "done; " * 300,
    "braces": "echo " + "{a,b}" * 20,
    "quotes": "echo " + "'" * 9_001,
    "assignments": "a=b " * 2_400,
    "wrappers": "sudo " * 1_900 + "ls",
    "parts": "ls;" * 3_300,
    "documents": "<<a " * 2_000,
    "stars": "ls " + "*" * 9_000,
    "expansions": "echo " + "${x:-" * 1_500 + "}" * 1_500,
    "arithmetic": "echo $((" + "(" * 3_000 + ")" * 3_000 + "))",
    "backslashes": "echo " + "\\" * 9_000,
    "open brackets": "rm -f " + "[" * 9_000,
    "folders of stars": "cat " + "*/" * 4_500,
    "empty lines to a database": "mysql -e '" + "\n" * 9_000 + "'",
}


@contextmanager
def bounded() -> Iterator[None]:
    """Tell work that ends from work that does not.

    What is bounded takes less than a tenth of a second, what is not takes minutes; processor time,
    so that a busy machine does not count.
    """
    start = time.process_time()
    yield
    assert time.process_time() - start < 10


@pytest.mark.parametrize("name", HUGE)
def test_huge_commands_stay_bounded(engine: Engine, name: str) -> None:
    with bounded():
        decision = engine.bash(HUGE[name], allow=["Bash(ls *)"], deny=["Bash(rm *)", "Read(.env)"])
    assert name == "parts" or decision.behavior is not Behavior.ALLOW


def test_patterns_with_many_stars_stay_linear(engine: Engine) -> None:
    pattern = "Bash(" + "a*" * 200 + "b)"
    with bounded():
        engine.bash("a" * 9_000, allow=[pattern], deny=[pattern])


def test_many_rules_on_a_huge_command_stay_bounded(engine: Engine) -> None:
    rules = [f"Bash(* --option{number} *)" for number in range(400)]
    command = "".join(f"ls {number};" for number in range(20_000))
    with bounded():
        decision = engine.bash(command, deny=rules)
    assert decision.behavior is Behavior.ASK


@pytest.mark.parametrize("command", ['x  --for"ce y', "ls; x\t--force 'y", "x '--'force y'"])
def test_a_wildcard_denies_what_cannot_be_parsed_however_it_is_written(
    engine: Engine, command: str
) -> None:
    assert engine.bash(command, deny=["Bash(x --force *)"]).behavior is Behavior.DENY
    assert engine.bash(command, deny=["Bash(* --force *)"]).behavior is Behavior.DENY


def test_an_endless_pattern_could_name_any_file(engine: Engine) -> None:
    decision = engine.bash("cat " + "[" * 400, allow=["Bash"], deny=["Read(secret.txt)"])
    assert decision.behavior is Behavior.ASK


@pytest.mark.parametrize("tool_input", [{}, {"command": None}, {"command": 3}, {"command": ["ls"]}])
def test_a_command_that_is_no_text_is_asked_about(
    engine: Engine, tool_input: dict[str, object]
) -> None:
    decision = decide(PermissionRequest("Bash", tool_input), engine.context(allow=["Bash"]))
    assert (decision.behavior, decision.reason) == (Behavior.ASK, "unparsable")


def test_a_deny_still_denies_what_cannot_be_parsed(engine: Engine) -> None:
    decision = engine.bash("rm 'x", allow=["Bash"], deny=["Bash(rm *)"])
    assert decision.behavior is Behavior.DENY


def test_real_files_never_raise() -> None:
    files = RealFiles()
    for path in ("\x00", "\ud800", "/" + "x" * 9_000, "/proc/self/fd/9999/x"):
        files.realpath(path)
        files.entries(path)
        files.is_dir(path)
        files.is_link(path)
