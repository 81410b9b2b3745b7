"""Hooks of a project are held to the project; those of the user are the user's own programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.journeys.conftest import Begin, results

pytestmark = pytest.mark.usefixtures("full_sandbox")


def hooks(event: str, command: str) -> dict[str, object]:
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}


def settings(directory: Path, content: dict[str, object]) -> None:
    (directory / ".agent").mkdir(exist_ok=True)
    (directory / ".agent" / "settings.json").write_text(json.dumps(content))


async def run(begin: Begin) -> None:
    """Let a call be made, so that hooks of the prompt and of the call run."""
    call = ToolCall("Glob", {"pattern": "*"})
    journey = await begin([Turn((call,)), Turn((Text("done"),))], trust=True)
    await journey.send("go")


def writing(tmp_path: Path) -> str:
    return f"echo x > inside; echo x > '{tmp_path}/outside'; echo x > .git/config; true"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "a project"


async def test_a_hook_of_the_project_writes_there_alone(
    begin: Begin, project: Path, tmp_path: Path
) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "config").write_text("[core]\n")
    settings(project, hooks("PreToolUse", writing(tmp_path)))
    await run(begin)
    assert (project / "inside").exists()
    assert not (tmp_path / "outside").exists()
    assert (project / ".git" / "config").read_text() == "[core]\n"


async def test_a_hook_of_the_user_is_not_confined(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    settings(fresh_home, hooks("PreToolUse", f"echo x > '{tmp_path}/outside'"))
    await run(begin)
    assert (tmp_path / "outside").exists()


LOG = 'echo x >> "$CLAUDE_PROJECT_DIR/audit.log"'


async def test_hooks_keep_a_log_in_the_project(
    begin: Begin, project: Path, fresh_home: Path
) -> None:
    group = {"hooks": [{"type": "command", "command": LOG}]}
    settings(project, {"hooks": {"PreToolUse": [group], "PostToolUse": [group]}})
    settings(fresh_home, hooks("PreToolUse", f"{LOG}; true"))
    await run(begin)
    assert (project / "audit.log").read_text() == "x\n" * 3


@pytest.mark.parametrize("is_there", [False, True])
async def test_no_link_takes_the_place_of_a_hooks_log(
    begin: Begin, project: Path, fresh_home: Path, tmp_path: Path, is_there: bool
) -> None:
    """A hook of the user would write where it leads."""
    plant = f"ln -sf '{tmp_path}/target' audit.log"
    if is_there:
        (project / "audit.log").write_text("old\n")
        settings(project, hooks("PreToolUse", plant))
    else:
        (project / "plant.sh").write_text(plant)
    settings(fresh_home, hooks("Stop", LOG))
    call = ToolCall("Bash", {"command": "true" if is_there else "sh ./plant.sh"})
    turns = [Turn((call,)), Turn((Text("done"),))]
    journey = await begin(turns, trust=True, allow=("Bash(sh *)",))
    await journey.send("go")
    assert not (tmp_path / "target").exists()
    assert not (project / "audit.log").is_symlink()


async def test_the_user_lets_hooks_of_projects_out(
    begin: Begin, project: Path, fresh_home: Path, tmp_path: Path
) -> None:
    settings(project, hooks("PreToolUse", writing(tmp_path)))
    settings(fresh_home, {"sandbox": {"hooks": False}})
    await run(begin)
    assert (tmp_path / "outside").exists()


async def test_a_confined_hook_gives_variables_to_commands(begin: Begin, project: Path) -> None:
    settings(project, hooks("SessionStart", 'echo "export GIVEN=42" >> "$CLAUDE_ENV_FILE"'))
    call = ToolCall("Bash", {"command": "echo given: $GIVEN"})
    journey = await begin([Turn((call,)), Turn((Text("done"),))], trust=True)
    await journey.conversation.start()
    (result,) = results(await journey.send("go"))
    assert "given: 42" in result.text


async def test_a_confined_hook_reads_the_transcript(begin: Begin, project: Path) -> None:
    read = "import json, sys; print(len(open(json.load(sys.stdin)['transcript_path']).read()))"
    # The system's: a checkout below `/tmp` has its own where the sandbox shows another directory.
    command = f'python3 -c "{read}" > inside'
    settings(project, hooks("Stop", command))
    await run(begin)
    assert int((project / "inside").read_text()) > 0


async def test_a_hook_of_a_plugin_writes_its_data_and_the_project_alone(
    begin: Begin, project: Path, fresh_home: Path, tmp_path: Path
) -> None:
    plugin = fresh_home / ".agent" / "some-plugin"
    (plugin / "hooks").mkdir(parents=True)
    (plugin / "said").write_text("by the plugin")
    own = '"${CLAUDE_PLUGIN_ROOT}"'
    command = f"{writing(tmp_path)}; cp {own}/said ${{CLAUDE_PLUGIN_DATA}}/copy; echo x > {own}/x"
    (plugin / "hooks" / "hooks.json").write_text(json.dumps(hooks("PreToolUse", command)))
    (project / ".git").mkdir()
    call = ToolCall("Glob", {"pattern": "*"})
    journey = await begin([Turn((call,)), Turn((Text("done"),))], plugin_dirs=(plugin,))
    await journey.send("go")
    assert (project / "inside").exists()
    data = fresh_home / ".agent" / "plugins" / "data" / "some-plugin"
    assert (data / "copy").read_text() == "by the plugin"
    assert not (plugin / "x").exists()
    assert not (tmp_path / "outside").exists()


async def test_a_hook_of_a_skill_writes_the_project_alone(
    begin: Begin, project: Path, fresh_home: Path, tmp_path: Path
) -> None:
    skill = fresh_home / ".agent" / "skills" / "deploy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    (skill.parent / "hook.sh").write_text(writing(tmp_path))
    # JSON is YAML.
    head = hooks("PreToolUse", f"sh '{skill.parent}/hook.sh'")
    skill.write_text(
        f"---\ndescription: How to deploy\nhooks: {json.dumps(head['hooks'])}\n---\nDeploy.\n"
    )
    call = ToolCall("Glob", {"pattern": "*"})
    done = Turn((Text("done"),))
    journey = await begin([done, Turn((call,)), done])
    await journey.send("/deploy")
    await journey.send("go")
    assert (project / "inside").exists()
    assert not (tmp_path / "outside").exists()


async def test_a_projects_variables_do_not_reach_hooks_of_the_user(
    begin: Begin, project: Path, fresh_home: Path, tmp_path: Path
) -> None:
    """`PYTHONPATH=lib` would run what the model writes there, unconfined."""
    settings(
        project, {"env": {"PYTHONPATH": "lib"}, **hooks("PreToolUse", "echo $PYTHONPATH > seen")}
    )
    (project / "lib").mkdir()
    (project / "lib" / "json.py").write_text(f"open('{tmp_path}/outside', 'w')\n")
    (fresh_home / "guard.py").write_text(f"import json\nopen('{tmp_path}/ran', 'w')\n")
    settings(fresh_home, hooks("PreToolUse", "/usr/bin/python3 ~/guard.py"))
    await run(begin)
    assert (tmp_path / "ran").exists()
    assert not (tmp_path / "outside").exists()
    assert (project / "seen").read_text() == "lib\n"
