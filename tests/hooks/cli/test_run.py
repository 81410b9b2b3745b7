"""`hooks run` and `hooks list`: what goes in, what comes out, what is refused."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from hooks.cli.list import list_hooks
from hooks.cli.payload_from_json import PayloadError, payload_from_json
from hooks.cli.run import HookOptions, HookWorld, run_hooks
from hooks.config.config import HookLayer
from hooks.config.spec import HookSource
from hooks.events import EVENTS
from hooks.ports import HookPorts
from tests.hooks.conftest import Place

FIELDS = [
    "event", "outcome", "decision", "proceeds", "continue", "stop_reason", "reason",
    "reason_source", "feedback_to", "updated_input", "updated_tool_output", "permission_updates",
    "interrupt", "retry", "additional_context", "overflow_file", "system_messages", "notices",
    "config_warnings", "status_message", "terminal_sequence", "watch_paths", "env_file",
    "worktree_path", "display_content", "action", "content", "spawned", "results",
]  # fmt: skip
BASH = {"tool_name": "Bash", "tool_input": {"command": "rm -rf build"}}


class Cli:
    """Runs the command with settings files of a temporary project."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.discovered: list[bool] = []
        self.world = HookWorld(
            cwd=place.project,
            home=place.home,
            agent_home=place.home / ".agent",
            ports=HookPorts(env=place.env, grace_s=0.1),
            discover=self.discover,
        )
        self.options = HookOptions()
        self.err = ""

    def discover(self, trust: bool) -> Sequence[HookLayer]:
        self.discovered.append(trust)
        section = {"Stop": [{"hooks": [{"type": "command", "command": "echo found >&2; exit 2"}]}]}
        return [HookLayer(HookSource.PROJECT, {"hooks": section}, "found.json", is_trusted=trust)]

    def settings(self, event: str, *handlers: object, source: str = "", **group: object) -> None:
        name = f"settings-{len(self.options.settings)}.json"
        full = [
            {"type": "command", "command": handler} if isinstance(handler, str) else handler
            for handler in handlers
        ]
        section = {"hooks": {event: [{**group, "hooks": full}]}}
        (self.place.project / name).write_text(json.dumps(section))
        named = f"{source}={name}" if source else name
        self.options = HookOptions((*self.options.settings, named), self.options.plugins)

    async def run(
        self, event: str | None, stdin: object = None
    ) -> tuple[int, list[dict[str, object]]]:
        text = stdin if isinstance(stdin, str) else json.dumps(stdin or {})
        out, err = io.StringIO(), io.StringIO()
        status = await run_hooks(
            event, self.options, self.world, stdin=io.StringIO(text), stdout=out, stderr=err
        )
        self.err = err.getvalue()
        return status, [json.loads(line) for line in out.getvalue().splitlines()]


def _printed(line: dict[str, object]) -> list[tuple[str, str]]:
    """Return the source and standard output of every handler."""
    results = line["results"]
    assert isinstance(results, list)
    return [(result["source"], result["stdout"]) for result in results]


@pytest.fixture
def cli(place: Place) -> Cli:
    return Cli(place)


async def test_one_payload_gives_one_line_with_every_field_in_order(cli: Cli) -> None:
    cli.settings("PreToolUse", "echo no >&2; exit 2", matcher="Bash")
    status, (line,) = await cli.run("PreToolUse", BASH)
    assert status == 0
    assert list(line) == FIELDS
    assert (line["outcome"], line["decision"], line["proceeds"]) == ("blocking", "deny", False)
    assert (line["reason"], line["feedback_to"], line["spawned"]) == ("no", "model", 1)
    results = line["results"]
    assert isinstance(results, list)
    (result,) = results
    assert list(result) == [
        "type", "source", "command", "outcome", "exit_code", "duration_ms", "stdout", "stderr",
    ]  # fmt: skip
    assert (result["source"], result["exit_code"], result["stderr"]) == ("project", 2, "no\n")


async def test_a_payload_may_be_spread_over_lines(cli: Cli) -> None:
    cli.settings("PreToolUse", "jq -e '.tool_input.command | test(\"rm\")' >/dev/null && exit 2")
    _, lines = await cli.run("PreToolUse", json.dumps(BASH, indent=2) + "\n")
    assert [line["decision"] for line in lines] == ["deny"]


async def test_common_fields_are_filled_in_and_given_ones_kept(cli: Cli) -> None:
    cli.settings("UserPromptSubmit", "cat; exit 1")
    given = {"prompt": "x", "session_id": "mine", "custom": 7}
    _, (line,) = await cli.run("UserPromptSubmit", given)
    seen = json.loads(line["results"][0]["stdout"])  # type: ignore[index]
    assert (seen["session_id"], seen["custom"]) == ("mine", 7)
    assert seen["hook_event_name"] == "UserPromptSubmit"
    assert seen["cwd"] == str(cli.place.project)
    assert {"transcript_path", "permission_mode"} <= set(seen)


async def test_lines_are_the_steps_of_one_session(cli: Cli) -> None:
    cli.settings("Stop", "exit 2", {"type": "command", "command": "true", "once": True})
    steps = [{"event": "Stop", "payload": {}}] * 9 + [{"payload": BASH, "event": "PreToolUse"}]
    status, lines = await cli.run(None, "\n".join(map(json.dumps, steps)))
    assert status == 0
    assert [line["proceeds"] for line in lines] == [*[False] * 8, True, True]
    assert [line["spawned"] for line in lines] == [2, *[1] * 8, 0]
    assert lines[-1]["outcome"] == "skipped"


@pytest.mark.parametrize(
    "odd",
    [{"cwd": "x" * 5000}, {"cwd": "a\0b"}, {"session_id": "a\0b"}, {"session_id": "\ud800" * 9999}],
    ids=["long-cwd", "nul-cwd", "nul-id", "long-id"],
)
async def test_odd_common_fields_do_not_keep_a_guard_from_running(
    cli: Cli, odd: dict[str, str]
) -> None:
    cli.settings("PreToolUse", "exit 2")
    _, (line,) = await cli.run("PreToolUse", json.dumps({**BASH, **odd}))
    assert line["decision"] == "deny"


async def test_a_step_may_carry_more_than_its_event_and_payload(cli: Cli) -> None:
    cli.settings("PreToolUse", "exit 2")
    step = {"id": "case-1", "event": "PreToolUse", "payload": BASH}
    status, (line,) = await cli.run(None, json.dumps(step))
    assert (status, line["event"], line["decision"]) == (0, "PreToolUse", "deny")


async def test_the_event_may_come_from_the_payload(cli: Cli) -> None:
    cli.settings("Stop", "exit 2")
    _, (line,) = await cli.run(None, {"hook_event_name": "Stop"})
    assert line["decision"] == "block"


@pytest.mark.parametrize(
    ("event", "stdin"),
    [
        ("Nonsense", "{}"),
        (None, "{}"),
        ("Stop", "[1]"),
        ("Stop", "not json"),
        ("Stop", '{"a": '),
        ("PreToolUse", "{}"),
        ("PreToolUse", '{"tool_name": 3}'),
        ("PreToolUse", '{"tool_name": "Bash", "tool_input": "ls"}'),
        ("Stop", '{"stop_hook_active": "yes"}'),
        ("Stop", '{"session_id": 5}'),
        ("UserPromptSubmit", '{"prompt": ["x"]}'),
    ],
)
async def test_a_bad_payload_or_event_is_refused(cli: Cli, event: str | None, stdin: str) -> None:
    cli.settings("Stop", "touch ran")
    status, lines = await cli.run(event, stdin)
    assert (status, lines) == (2, [])
    assert cli.err.startswith("hooks run: ")
    assert not (cli.place.project / "ran").exists()


async def test_a_bad_line_does_not_take_the_others_with_it(cli: Cli) -> None:
    cli.settings("Stop", "exit 2")
    status, lines = await cli.run("Stop", '{}\nnonsense\n{"payload": {}}\n')
    assert status == 2
    assert [line["decision"] for line in lines] == ["block", "block"]


@pytest.mark.parametrize(
    ("stdin", "status", "events"),
    [
        pytest.param("\ufeff{}\n{}\n", 0, 2, id="byte-order-mark"),
        pytest.param('{"a": 1\n{}\n', 2, 1, id="cut-off"),
        pytest.param('{"a": [\n  {"b": 1},\n  {"c": "}"}\n]}\n{}\n', 0, 2, id="nested-lines"),
        pytest.param("{bad}\n{}\n", 2, 1, id="closed-but-wrong"),
        pytest.param("[\n1\n]\n{}\n", 2, 1, id="list"),
        pytest.param("nonsense\n" * 2000 + "{}", 2, 1, id="much-nonsense"),
    ],
)
async def test_steps_are_distinguished_line_by_line(
    cli: Cli, stdin: str, status: int, events: int
) -> None:
    got, lines = await cli.run("Stop", stdin)
    assert (got, len(lines)) == (status, events)


async def test_many_lines_cost_no_more_than_one(cli: Cli) -> None:
    cli.settings("PreToolUse", "exit 2")
    payload = {**BASH, "tool_input": {"command": "x", "numbers": list(range(10_000))}}
    _, (line,) = await cli.run("PreToolUse", json.dumps(payload, indent=1))
    assert line["decision"] == "deny"


async def test_an_empty_input_is_an_empty_payload(cli: Cli) -> None:
    cli.settings("Stop", "exit 2")
    status, lines = await cli.run("Stop", "")
    assert (status, [line["decision"] for line in lines]) == (0, ["block"])


async def test_named_files_replace_discovery_and_keep_their_order(cli: Cli) -> None:
    cli.settings("Stop", "echo one >&2; exit 2", source="user")
    cli.settings("Stop", "echo two >&2; exit 2", source="policy")
    _, (line,) = await cli.run("Stop")
    assert line["reason"] == "one\ntwo"
    assert [r["source"] for r in line["results"]] == ["user", "policy"]  # type: ignore[attr-defined]
    assert cli.discovered == []


@pytest.mark.parametrize("trust", [True, False])
async def test_discovered_hooks_need_trust(cli: Cli, trust: bool) -> None:
    cli.options = HookOptions(trust=trust)
    _, (line,) = await cli.run("Stop")
    assert line["decision"] == ("block" if trust else "none")
    assert bool(line["config_warnings"]) is not trust


async def test_warnings_about_the_configuration_are_on_every_line(cli: Cli) -> None:
    cli.settings("Stop", {"type": "command", "command": "true", "timeout": 9000}, matcher="Bash")
    _, (line,) = await cli.run("Stop")
    assert [("milliseconds" in text, "no matcher" in text) for text in line["config_warnings"]] == [  # type: ignore[attr-defined]
        (False, True),
        (True, False),
    ]


async def test_a_plugin_brings_its_hooks_and_variables(cli: Cli) -> None:
    root = cli.place.root / "my plugin"
    (root / "hooks").mkdir(parents=True)
    (root / ".claude-plugin").mkdir()
    (root / ".claude-plugin" / "plugin.json").write_text('{"name": "guard"}')
    (root / "hooks" / "go.sh").write_text('echo "$CLAUDE_PLUGIN_ROOT|$CLAUDE_PLUGIN_DATA"\n')
    command = "bash '${CLAUDE_PLUGIN_ROOT}/hooks/go.sh'"
    section = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}
    (root / "hooks" / "hooks.json").write_text(
        json.dumps({"description": "demo", "hooks": section})
    )
    cli.options = HookOptions(("project=none.json",), (root,))
    (cli.place.project / "none.json").write_text("{}")
    _, (line,) = await cli.run("UserPromptSubmit", {"prompt": "x"})
    data = cli.place.home / ".agent" / "plugins" / "data" / "guard"
    assert line["additional_context"] == f"{root}|{data}"
    assert line["results"][0]["source"] == "plugin"  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("plugin/hooks/hooks.json", "plugin"),
        ("plugin/.claude-plugin/plugin.json", "plugin"),
        ("plugin", "plugin"),
        ("alone/some.json", "alone"),
        ("alone/hooks/other.json", "alone"),
    ],
)
@pytest.mark.parametrize("is_bare", [False, True])
async def test_a_file_named_as_a_plugin_is_read(
    cli: Cli, name: str, root: str, is_bare: bool
) -> None:
    command = 'echo "$CLAUDE_PLUGIN_ROOT"'
    section = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    text = json.dumps(section if is_bare else {"hooks": section})
    for path in ("plugin/hooks/hooks.json", "alone/some.json", "alone/hooks/other.json"):
        (cli.place.project / path).parent.mkdir(parents=True, exist_ok=True)
        (cli.place.project / path).write_text(text)
    (cli.place.project / "plugin" / ".claude-plugin").mkdir()
    (cli.place.project / "plugin" / ".claude-plugin" / "plugin.json").write_text("{}")
    cli.options = HookOptions(settings=(f"plugin={name}",))
    _, (line,) = await cli.run("Stop")
    assert _printed(line) == [("plugin", f"{(cli.place.project / root).resolve()}\n")]


async def test_the_effort_of_a_payload_is_in_the_environment(cli: Cli) -> None:
    cli.settings("Stop", 'echo "$CLAUDE_EFFORT,$AGENT_TUI_EFFORT"')
    _, (line,) = await cli.run("Stop", {"effort": {"level": "high"}})
    assert _printed(line) == [("project", "high,high\n")]


async def test_an_update_that_hooks_may_not_make_is_reported(cli: Cli) -> None:
    update = {"type": "setMode", "mode": "bypassPermissions", "destination": "session"}
    decision = {"behavior": "allow", "updatedPermissions": [update]}
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    cli.settings("PermissionRequest", f"echo '{json.dumps(answer)}'")
    _, (line,) = await cli.run("PermissionRequest", BASH)
    assert line["decision"] == "allow"
    assert line["notices"] == ["updatedPermissions: 'setMode' is not supported for hooks"]


async def test_front_matter_of_a_skill_is_read(cli: Cli) -> None:
    skill = cli.place.project / "SKILL.md"
    skill.write_text(
        "---\nname: deploy\nhooks:\n  Stop:\n    - hooks:\n"
        "        - type: command\n          command: echo $CLAUDE_SKILL_DIR; exit 2\n---\nText.\n"
    )
    cli.options = HookOptions(("skill=SKILL.md",))
    _, (line,) = await cli.run("Stop")
    assert line["decision"] == "block"
    assert _printed(line) == [("skill", f"{cli.place.project}\n")]


@pytest.mark.parametrize("named", ["missing.json", "broken.json", "list.json", "deep.json"])
async def test_an_unusable_named_file_is_refused(cli: Cli, named: str) -> None:
    (cli.place.project / "broken.json").write_text('{\n"hooks": ')
    (cli.place.project / "list.json").write_text("[]")
    (cli.place.project / "deep.json").write_text("[" * 100_000 + "]" * 100_000)
    cli.options = HookOptions((named,))
    status, lines = await cli.run("Stop")
    assert (status, lines) == (2, [])
    assert named in cli.err


async def test_background_hooks_are_received_with_a_later_step_or_at_the_end(cli: Cli) -> None:
    context = {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "late"}}
    handler = {"type": "command", "command": f"echo '{json.dumps(context)}'", "async": True}
    cli.settings("Stop", handler)
    _, (line,) = await cli.run("Stop")
    assert (line["outcome"], line["results"][0]["outcome"]) == ("async", "async")  # type: ignore[index]
    assert "late" in cli.err


async def test_an_env_file_outlives_the_run(cli: Cli) -> None:
    cli.settings("SessionStart", 'echo "export A=1" >> "$CLAUDE_ENV_FILE"')
    _, (line,) = await cli.run("SessionStart", {"source": "startup"})
    assert Path(str(line["env_file"])).read_text() == "export A=1\n"


@pytest.mark.parametrize("event", list(EVENTS))
def test_every_event_can_be_given_with_next_to_nothing(event: str) -> None:
    raw = {"tool_name": "Bash"}
    assert payload_from_json(event, raw).to_json()["hook_event_name"] == event


def test_unknown_fields_pass_through() -> None:
    assert payload_from_json("Stop", {"new": [1]}).to_json()["new"] == [1]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("stop", "did you mean Stop"),
        ("pre-tool-use", "did you mean PreToolUse"),
        ("PreToolUsed", "did you mean PreToolUse"),
        ("nonsense", "unknown event 'nonsense'$"),
    ],
)
def test_an_event_that_is_not_there_is_answered_with_its_neighbor(name: str, says: str) -> None:
    with pytest.raises(PayloadError, match=says):
        payload_from_json(name, {})


def test_numbers_are_not_truth_values() -> None:
    with pytest.raises(PayloadError, match="index must be a number"):
        payload_from_json("MessageDisplay", {"index": True})


async def test_list_shows_what_is_configured_and_what_is_wrong_with_it(cli: Cli) -> None:
    cli.settings("PreToolUse", "no-such-guard --x", "python3 gone.py", "if then", matcher="Bash")
    out = io.StringIO()
    status = await list_hooks(
        cli.options, cli.world, as_json=False, stdout=out, stderr=io.StringIO()
    )
    text = out.getvalue()
    assert status == 0
    assert text.startswith("PreToolUse (3)\n  [command] Bash no-such-guard --x – project ")
    assert "no-such-guard is not on the PATH of hooks" in text
    assert "gone.py does not exist" in text
    assert "the shell cannot read this command" in text


async def test_list_as_data(cli: Cli) -> None:
    cli.settings("Stop", {"type": "command", "command": "true", "async": True, "timeout": 3})
    out = io.StringIO()
    await list_hooks(cli.options, cli.world, as_json=True, stdout=out, stderr=io.StringIO())
    (row,) = json.loads(out.getvalue())["hooks"]
    assert (row["event"], row["async"], row["timeout"], row["health"]) == ("Stop", True, 3.0, [])


async def test_what_runs_of_other_days_left_is_removed(cli: Cli) -> None:
    left = cli.world.agent_home / "cache" / "hooks-run"
    for name, age_s in (("old", 2 * 24 * 3600), ("new", 60)):
        (left / name / "hook-env").mkdir(parents=True)
        when = time.time() - age_s
        os.utime(left / name, (when, when))
    cli.settings("Stop", "true")
    await cli.run("Stop")
    assert [path.name for path in left.iterdir()] == ["new"]
