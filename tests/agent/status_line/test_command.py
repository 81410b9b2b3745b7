"""The status line command: what it may print, and that it cannot hold anything up."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.commands.command_context import CommandContext
from agent.events import Usage
from agent.prompt.git_remote import read_remote, read_worktree
from agent.status_line.command import StatusFacts, display_name, run_status_command, status_input
from tests.tui.recorded import RecordedConversation, center_for

ENV = dict(os.environ)


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        pytest.param("echo one; echo; echo two", ("one", "two"), id="lines"),
        pytest.param(r"printf '\033[31mred\033[0m \033]0;title\007x'", ("red x",), id="escapes"),
        pytest.param("seq 100", ("1", "2", "3"), id="many"),
        pytest.param(r"printf '\377ok'", ("�ok",), id="no text"),
        pytest.param("exit 3", (), id="failure"),
        pytest.param("echo $COLUMNS $LINES", ("77 33",), id="size"),
        pytest.param('echo "$CLAUDE_PROJECT_DIR"', ("/a/b",), id="project"),
        pytest.param("exec 0<&-; echo deaf", ("deaf",), id="does not read"),
    ],
)
async def test_what_is_shown(tmp_path: Path, command: str, lines: tuple[str, ...]) -> None:
    workspace = {"project_dir": "/a/b"}
    given = {"columns": 77, "rows": 33, "cwd": "x" * 200_000, "workspace": workspace}
    found = await run_status_command(command, given, cwd=tmp_path, env=ENV)
    shown = tuple("".join(piece.text for piece in line) for line in found.lines)
    assert (shown, found.problem) == (lines, "")


async def test_it_gets_the_session_as_json(tmp_path: Path) -> None:
    await run_status_command("cat > given.json", {"a": "ü"}, cwd=tmp_path, env=ENV)
    assert json.loads((tmp_path / "given.json").read_text()) == {"a": "ü"}


async def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    found = await run_status_command(
        "sleep 1000 & echo $! > pid; wait", {}, cwd=tmp_path, env=ENV, timeout_s=0.5
    )
    assert "longer than 0.5 s" in found.problem
    pid = int((tmp_path / "pid").read_text())
    with contextlib.suppress(ProcessLookupError):
        # Killed is not yet gone; the descriptor can be read once it is.
        select.select([os.pidfd_open(pid)], [], [], 30)
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


async def test_a_directory_that_is_gone_is_reported(tmp_path: Path) -> None:
    found = await run_status_command("echo x", {}, cwd=tmp_path / "gone", env=ENV)
    assert "cannot start" in found.problem


def context_of(conversation: RecordedConversation) -> CommandContext:
    return center_for(conversation).context


KNOWN = {
    "hook_event_name", "session_id", "session_name", "prompt_id", "transcript_path", "cwd",
    "version", "model", "workspace", "cost", "context_window", "exceeds_200k_tokens", "fast_mode",
    "effort", "thinking", "output_style", "vim", "permission_mode", "columns", "rows",
}  # fmt: skip


def test_the_object_has_the_fields_that_status_line_scripts_read() -> None:
    conversation = RecordedConversation([], effort="high", thinks=False)
    last = Usage(100, 20, 3_000, 500, 400)
    facts = StatusFacts(title="slugs", prompt_id="t1", vim_mode="NORMAL", last=last)
    given = status_input(context_of(conversation), facts)
    assert given.keys() == KNOWN
    assert given["effort"] == {"level": "high"}
    assert given["vim"] == {"mode": "NORMAL"}
    assert given["thinking"] == {"enabled": False}
    assert given["fast_mode"] is False
    assert given["model"] == {"id": "claude-sonnet-5", "display_name": "Sonnet 5"}
    assert given["context_window"] == {
        "total_input_tokens": 4_000,
        "total_output_tokens": 20,
        "context_window_size": 200_000,
        "used_percentage": 2,
        "remaining_percentage": 98,
        "current_usage": {
            "input_tokens": 100,
            "output_tokens": 20,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": 3_000,
        },
    }


def test_what_there_is_not_is_left_out_and_usage_is_null_before_the_first_answer() -> None:
    given = status_input(context_of(RecordedConversation([])), StatusFacts())
    assert not given.keys() & {"session_name", "prompt_id", "effort", "vim", "pr", "agent"}
    assert given["context_window"]["current_usage"] is None
    assert given["context_window"]["used_percentage"] == 0
    json.dumps(given)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-5-5", "Opus 5.5"),
        ("claude-haiku-4-5-20251001", "Haiku 4.5"),
        ("claude-sonnet-5", "Sonnet 5"),
        ("qwen3:30b", "qwen3:30b"),
        ("claude-3-opus", "claude-3-opus"),
    ],
)
def test_models_are_called_as_users_call_them(model: str, name: str) -> None:
    assert display_name(model) == name


@pytest.mark.parametrize(
    ("head", "branch"),
    [("ref: refs/heads/fix\n", {"branch": "fix"}), ("0123456789abcdef\n", {})],
    ids=["branch", "detached"],
)
def test_the_work_tree_is_reported_where_there_is_one(
    tmp_path: Path, head: str, branch: dict[str, str]
) -> None:
    git_dir, tree = tmp_path / "slugs" / ".git" / "worktrees" / "fix-a", tmp_path / "tree"
    for directory in (git_dir, tree):
        directory.mkdir(parents=True)
    (git_dir / "HEAD").write_text(head)
    context = context_of(RecordedConversation([]))
    settings = replace(context.settings(), project_root=tree)
    there = replace(context, settings=lambda: settings)
    assert "worktree" not in status_input(there, StatusFacts())
    (tree / ".git").write_text(f"gitdir: {git_dir}\n")
    given = status_input(there, StatusFacts())
    assert given["worktree"] == {"name": "fix-a", "path": str(tree), **branch}
    assert given["workspace"]["git_worktree"] == "fix-a"


def test_a_linked_work_tree_is_named(tmp_path: Path) -> None:
    assert read_worktree(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: /home/ada/slugs/.git/worktrees/fix-a b\n")
    assert read_worktree(tmp_path) == "fix-a b"


SCRIPT = r"""
input=$(cat)
USAGE=$(echo "$input" | jq '.context_window.current_usage')
SIZE=$(echo "$input" | jq -r '.context_window.context_window_size')
PCT=$(echo "$input" | jq -r '.context_window.used_percentage // 0' | cut -d. -f1)
CUR=0
if [ "$USAGE" != "null" ]; then
  CUR=$(echo "$USAGE" |
    jq '.input_tokens + .cache_creation_input_tokens + .cache_read_input_tokens')
fi
[ "$PCT" -ge 0 ] && printf '[%s] %d%% %d\n' \
  "$(echo "$input" | jq -r .model.display_name)" "$PCT" "$((CUR * 100 / SIZE))"
COST='"\(.workspace.current_dir) $\(.cost.total_cost_usd) \(.effort.level // "auto")"'
echo "$input" | jq -r "$COST"
"""


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize(("last", "used"), [(None, 0), (Usage(0, 5, 0, 90_000), 45)])
async def test_a_script_written_for_claude_code_runs(
    tmp_path: Path, last: Usage | None, used: int
) -> None:
    given = status_input(context_of(RecordedConversation([])), StatusFacts(last=last))
    found = await run_status_command(SCRIPT, given, cwd=tmp_path, env=ENV)
    assert ["".join(piece.text for piece in line) for line in found.lines] == [
        f"[Sonnet 5] {used}% {used}",
        "/home/ada/slugs $0 auto",
    ]


@pytest.mark.parametrize("text", ["\n" * 250_000, '[remote "origin"]\n' + "\n" * 250_000 + "x"])
def test_no_configuration_of_git_takes_long(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(text)
    assert read_remote(tmp_path) is None


def test_no_git_file_takes_long(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /worktrees/" + " " * 250_000 + "/")
    assert read_worktree(tmp_path) is None
