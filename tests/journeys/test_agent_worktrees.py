"""Agents in worktrees of their own: the project's checkout is the user's alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.abort import AbortSignal
from agent.model.scripted.scenario import Part, Scenario, Text, ToolCall
from agent.model.scripted.server import ScriptedServer
from agent.tools.services import AskUser, PlanAnswer, Question
from tests.journeys.conftest import Begin, Journey, results
from tests.journeys.program import environment, run
from tests.journeys.test_agents import Script, report_of, scripted, start


class Owner:
    """Answers the question about a worktree."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.journey: Journey | None = None
        self.states: list[str] = []
        """Of the agent, while the question is open."""

    async def ask(
        self, questions: Sequence[Question], abort: AbortSignal
    ) -> Mapping[str, str] | None:
        self.asked.append(questions[0].question)
        if self.journey is not None:
            self.states += [one.state for one in self.journey.conversation.agents.all()]
        return {questions[0].question: self.answer}

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        raise AssertionError(plan)

    async def decide_host(self, request: Any) -> Any:
        raise AssertionError(request)

    async def decide_refusal(self, request: Any) -> Any:
        raise AssertionError(request)


def git(where: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(where), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def script(*parts: Part) -> Script:
    inside: list[list[Part]] = [list(parts)] if parts else []
    return {
        "task-w": [*inside, [Text("Written.")]],
        "": [[start("task-w", isolation="worktree")], [Text("ok")]],
    }


async def repository(begin: Begin, script_: Script, user: AskUser | None = None) -> Journey:
    journey = await begin(
        respond=scripted(script_), ask=user, permission_mode="acceptEdits", trust=True
    )
    repository_in(journey.project)
    return journey


def repository_in(project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    git(project, "config", "user.name", "Ada")
    git(project, "config", "user.email", "ada@example.org")
    (project / "a.txt").write_text("one\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "first")


def tree_of(journey: Journey) -> Path:
    (found,) = (journey.project / ".agent" / "worktrees").iterdir()
    return found


WRITE = ToolCall("Bash", {"command": "mkdir -p new && touch new/made"})


async def test_an_agent_changes_its_worktree_and_nothing_of_the_checkout(begin: Begin) -> None:
    owner = Owner("Keep")
    journey = await repository(begin, script(WRITE), owner)
    head = git(journey.project, "rev-parse", "HEAD")
    result = report_of(await journey.send("go"))
    tree = tree_of(journey)
    assert (tree / "new" / "made").exists()
    assert not (journey.project / "new").exists()
    assert git(journey.project, "rev-parse", "HEAD") == head
    assert git(journey.project, "status", "--porcelain") == ""
    assert git(tree, "branch", "--show-current").startswith("agent/general-purpose-1-")
    assert "its worktree: kept; not merged" in result.text
    assert "changes that are not committed" in owner.asked[0]


async def test_a_merge_is_the_users_to_allow(begin: Begin) -> None:
    owner = Owner("Merge")
    owner.journey = journey = await repository(begin, script(WRITE), owner)
    result = report_of(await journey.send("go"))
    assert owner.states == ["asking"]
    assert "merged by the user" in result.text
    assert (journey.project / "new" / "made").exists()
    assert list((journey.project / ".agent" / "worktrees").iterdir()) == []
    assert git(journey.project, "branch", "--list", "agent/*") == ""


async def test_a_removed_worktree_leaves_its_changes_on_the_branch(begin: Begin) -> None:
    journey = await repository(begin, script(WRITE), Owner("Remove"))
    await journey.send("go")
    (branch,) = git(journey.project, "branch", "--list", "agent/*").split()
    assert "new/made" in git(journey.project, "ls-tree", "-r", "--name-only", branch)
    assert list((journey.project / ".agent" / "worktrees").iterdir()) == []


async def test_without_changes_it_goes_without_a_question(begin: Begin) -> None:
    owner = Owner("Keep")
    journey = await repository(begin, script(), owner)
    await journey.send("go")
    assert owner.asked == []
    assert list((journey.project / ".agent" / "worktrees").iterdir()) == []
    assert git(journey.project, "branch", "--list", "agent/*") == ""


@pytest.mark.parametrize(
    "command",
    ["touch {main}/made", "cd {main} && touch made", "touch ../../../made"],
)
async def test_the_checkout_is_out_of_reach(begin: Begin, command: str) -> None:
    calls = ToolCall("Bash", {"command": "placeholder"})
    journey = await repository(begin, script(calls))
    calls.input["command"] = command.format(main=f"'{journey.project}'")  # type: ignore[index]
    events = await journey.send("go")
    assert not (journey.project / "made").exists()
    (bash,) = [r for r in results(events) if r.name == "Bash"]
    assert bash.outcome == "denied"
    assert journey.person.asked == []


async def test_hooks_make_and_receive_worktrees(begin: Begin, fresh_home: Path) -> None:
    log = fresh_home / "log"
    tree = fresh_home / "tree"
    tree.mkdir()
    make = {"type": "command", "command": f"cat >> {log}; echo {tree}"}
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text(
        json.dumps({"hooks": {"WorktreeCreate": [{"hooks": [make]}]}})
    )
    journey = await repository(begin, script(ToolCall("Bash", {"command": "pwd"})), Owner("Keep"))
    events = await journey.send("go")
    assert '"name": "general-purpose-1"' in log.read_text()
    bash = next(r for r in results(events) if r.name == "Bash")
    assert str(tree) in bash.text


async def test_outside_of_a_repository_the_agent_does_not_start(begin: Begin) -> None:
    journey = await begin(respond=scripted(script()), trust=True)
    result = report_of(await journey.send("go"))
    assert result.is_error
    assert "git" in result.text


async def worktree_run(project: Path, home: Path, *arguments: str, calls: bool = True) -> str:
    """Run a session that commits nothing and makes a file; return what it says at its end."""
    make = ToolCall("Bash", {"command": "touch made"})
    answer: Script = {"": [*([[make]] if calls else []), [Text("Made.")]]}
    async with ScriptedServer(Scenario(), respond=scripted(answer)) as server:
        env = environment(home, server.base_url)
        arguments = ("-p", "go", "--permission-mode", "acceptEdits", *arguments)
        status, _, err = await run(*arguments, cwd=project, env=env)
    assert status == 0, err
    return err


@pytest.mark.usefixtures("full_sandbox")
async def test_a_session_works_in_a_worktree_and_without_a_user_it_is_kept(
    project: Path, fresh_home: Path
) -> None:
    repository_in(project)
    said = await worktree_run(project, fresh_home, "--worktree", "plum")
    tree = project / ".agent" / "worktrees" / "plum"
    assert (tree / "made").exists()
    assert "worktree kept; not merged" in said
    assert "agent-tui -c --worktree plum" in said
    assert git(tree, "branch", "--show-current") == "agent/plum"
    assert not (project / "made").exists()
    assert git(project, "status", "--porcelain") == ""
    # A second one of this name is the same.
    await worktree_run(project, fresh_home, "-w", "plum", "-c")
    assert git(project, "worktree", "list").count(".agent/worktrees") == 1


@pytest.mark.usefixtures("full_sandbox")
async def test_hooks_make_and_receive_the_worktree_of_a_session(
    project: Path, fresh_home: Path
) -> None:
    """Kept as it is; one without changes that git made is removed, and hooks are notified."""
    repository_in(project)
    log, tree = fresh_home / "log", fresh_home / "tree"
    tree.mkdir()
    make = {"type": "command", "command": f"cat >> {log}; echo {tree}"}
    see = {"type": "command", "command": f"cat >> {log}"}
    write_settings(fresh_home, WorktreeCreate=make, WorktreeRemove=see)
    said = await worktree_run(project, fresh_home, "-w", "plum")
    assert (tree / "made").exists()
    assert f"worktree kept; not merged ({tree})" in said
    assert '"name": "plum"' in log.read_text()
    assert not (project / ".agent" / "worktrees").exists()
    write_settings(fresh_home, WorktreeRemove=see)
    said = await worktree_run(project, fresh_home, "-w", "pear", calls=False)
    assert "removed: nothing was changed" in said
    assert log.read_text().rstrip().endswith('worktrees/pear"}')


async def test_a_hook_that_refuses_a_worktree_ends_the_start(
    project: Path, fresh_home: Path
) -> None:
    repository_in(project)
    refuse = {"type": "command", "command": "echo not here >&2; exit 2"}
    write_settings(fresh_home, WorktreeCreate=refuse)
    env = environment(fresh_home, "http://127.0.0.1:1")
    status, _, err = await run("-p", "go", "-w", "plum", cwd=project, env=env)
    assert status == 1
    assert "not here" in err


def write_settings(home: Path, **hooks: object) -> None:
    (home / ".agent").mkdir(exist_ok=True)
    entries = {event: [{"hooks": [hook]}] for event, hook in hooks.items()}
    (home / ".agent" / "settings.json").write_text(json.dumps({"hooks": entries}))


async def test_a_prompt_in_the_place_of_a_name_says_where_it_goes(
    project: Path, fresh_home: Path
) -> None:
    env = environment(fresh_home, "http://127.0.0.1:1")
    status, _, err = await run("-p", "-w", "fix the test", cwd=project, env=env)
    assert status == 2
    assert "A prompt goes in front" in err


@pytest.mark.parametrize("where", ["{p}", "{p}/..", "{p}/src", "{h}", "{h}/.ssh", "{h}/link", "/",
                                   "/etc", "src"])  # fmt: skip
async def test_a_hook_leads_no_agent_out_of_where_one_may_work(
    begin: Begin, tmp_path: Path, fresh_home: Path, where: str
) -> None:
    """An agent works in its worktree without questions, and a project may have hooks."""
    project = tmp_path / "a project"
    (project / "src").mkdir(parents=True)
    (fresh_home / ".ssh").mkdir()
    (fresh_home / "link").symlink_to(fresh_home / ".ssh")
    made = where.format(p=project, h=fresh_home)
    write_settings(fresh_home, WorktreeCreate={"type": "command", "command": f"echo '{made}'"})
    journey = await repository(begin, script(WRITE), Owner("Keep"))
    result = report_of(await journey.send("go"))
    assert result.is_error
    assert "The hook's worktree" in result.text
    assert list(project.rglob("made")) == []


async def test_a_link_in_the_project_leads_no_worktree_elsewhere(
    begin: Begin, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    journey = await repository(begin, script(WRITE), Owner("Keep"))
    (journey.project / ".agent").mkdir()
    (journey.project / ".agent" / "worktrees").symlink_to(elsewhere)
    result = report_of(await journey.send("go"))
    assert "leads through a link" in result.text
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("is_link", [True, False])
async def test_a_session_opens_only_a_worktree_of_this_repository(
    project: Path, fresh_home: Path, tmp_path: Path, is_link: bool
) -> None:
    repository_in(project)
    git(project, "branch", "agent/plum")
    tree = project / ".agent" / "worktrees" / "plum"
    tree.parent.mkdir(parents=True)
    if is_link:
        (tmp_path / "elsewhere").mkdir()
        tree.symlink_to(tmp_path / "elsewhere")
    else:
        tree.mkdir()
    env = environment(fresh_home, "http://127.0.0.1:1")
    status, _, err = await run("-p", "go", "-w", "plum", cwd=project, env=env)
    assert status == 1
    assert ("leads through a link" if is_link else "is not a worktree of this repository") in err
