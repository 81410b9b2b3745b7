"""The front door: selection, parallel start, merge order, once, caps, background, interruption."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping

import pytest

from hooks.config.config import HookLayer, parse_hooks
from hooks.config.spec import CallbackHandler, HandlerSpec, HookSource
from hooks.events import (
    ConfigChange,
    FileChanged,
    Notification,
    PreModelSwitch,
    PreToolUse,
    SessionEnd,
    SessionStart,
    Stop,
    SubagentStop,
    UserPromptSubmit,
)
from hooks.ports import HookPorts
from hooks.runner import HookRunner
from tests.hooks.conftest import Place


def bash(command: str = "ls", agent_id: str | None = None) -> PreToolUse:
    return PreToolUse(
        tool_name="Bash", tool_input={"command": command}, tool_use_id="t", agent_id=agent_id
    )


def says(event: str, **fields: object) -> str:
    answer = {"hookSpecificOutput": {"hookEventName": event, **fields}}
    return f"echo '{json.dumps(answer)}'"


class Abort:
    """The signal that the agent's loop hands in, as far as hooks see it."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def aborted(self) -> bool:
        return self._event.is_set()

    async def wait(self) -> str:
        await self._event.wait()
        return "interrupted"

    def fire(self) -> None:
        self._event.set()


async def test_an_event_without_hooks_costs_no_process(place: Place) -> None:
    runner = place.runner("Stop", "exit 2")
    assert runner.has("Stop")
    assert not runner.has("PreToolUse")
    outcome = await runner.run(bash())
    assert (outcome.outcome, outcome.proceeds, outcome.spawn_count) == ("skipped", True, 0)


async def test_all_handlers_start_together(place: Place) -> None:
    # Each waits for the other's file: one after the other they would never end.
    one = "touch one; while [ ! -e two ]; do sleep 0.01; done"
    two = "touch two; while [ ! -e one ]; do sleep 0.01; done"
    outcome = await place.runner("PreToolUse", one, two).run(bash())
    assert outcome.outcome == "success"


async def test_results_merge_in_configuration_order_whoever_is_first(place: Place) -> None:
    slow = "while [ ! -e go ]; do sleep 0.01; done; " + says(
        "PreToolUse", updatedInput={"command": "slow"}, additionalContext="slow"
    )
    fast = says("PreToolUse", updatedInput={"command": "fast"}, additionalContext="fast")
    runner = place.runner("PreToolUse", slow, f"{fast}; touch go")
    outcome = await runner.run(bash())
    assert outcome.updated_input == {"command": "fast"}
    assert outcome.additional_context == "slow\n\nfast"
    assert any("its updatedInput was replaced" in line for line in outcome.notices)


async def test_an_absent_rewrite_never_replaces_one(place: Place) -> None:
    rewrite = says("PreToolUse", updatedInput={"command": "x"})
    empty = says("PreToolUse", permissionDecision="allow")
    outcome = await place.runner("PreToolUse", rewrite, empty).run(bash())
    assert (outcome.decision, outcome.updated_input) == ("allow", {"command": "x"})


async def test_deny_beats_defer_beats_ask_beats_allow(place: Place) -> None:
    words = [says("PreToolUse", permissionDecision=w) for w in ("allow", "ask", "defer", "deny")]
    assert (await place.runner("PreToolUse", *words).run(bash())).decision == "deny"
    assert (await place.runner("PreToolUse", *words[:3]).run(bash())).decision == "defer"
    assert (await place.runner("PreToolUse", *words[:2]).run(bash())).decision == "ask"


async def test_matchers_and_conditions_keep_handlers_from_being_started(place: Place) -> None:
    section = {
        "PreToolUse": [
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "touch edit"}]},
            {
                "matcher": "Bash",
                "hooks": [
                    {"type": "command", "command": "touch push", "if": "Bash(git push *)"},
                    {"type": "command", "command": "touch any"},
                ],
            },
        ]
    }
    runner = place.layered(HookLayer(HookSource.USER, {"hooks": section}))
    assert [s.fires for s in runner.would_fire(bash("git push origin"))] == [False, True, True]
    outcome = await runner.run(bash("git status"))
    assert outcome.spawn_count == 1
    assert sorted(path.name for path in place.project.iterdir()) == ["any"]


@pytest.mark.parametrize(
    ("condition", "command", "fires"),
    [
        ("Bash(rm *)", "rm -rf x", True),
        ("Bash(rm *)", "ls", False),
        ("Bash(rm *)", "cd a && FOO=1 rm x", True),
        ("Bash(rm *)", "echo $(rm x)", True),
        ("Bash(rm:*)", "rm x", True),
        ("Bash(git push *)", "git $CMD origin", True),
        ("Bash(git push *)", "echo `date`", True),
        ("Bash(rm *)", "if then (", True),
        ("Bash", "ls", True),
        ("Edit(src/**)", "ls", False),
    ],
)
async def test_bash_conditions_look_at_every_command(
    place: Place, condition: str, command: str, fires: bool
) -> None:
    runner = place.runner("PreToolUse", {"type": "command", "command": "true", "if": condition})
    assert [s.fires for s in runner.would_fire(bash(command))] == [fires]


@pytest.mark.parametrize(
    ("condition", "path", "fires"),
    [
        ("Write(src/**/*.ts)", "src/a/b.ts", True),
        ("Write(src/**/*.ts)", "src/a/b.py", False),
        ("Edit(src/**)", "src/a.ts", False),
        ("Write(**/*.ts)", "deep/er/b.ts", True),
        ("Read(src/**)", "src/a.ts", False),
    ],
)
async def test_path_conditions_are_tried_on_the_called_tool(
    place: Place, condition: str, path: str, fires: bool
) -> None:
    runner = place.runner("PreToolUse", {"type": "command", "command": "true", "if": condition})
    call = PreToolUse(
        tool_name="Write",
        tool_input={"file_path": str(place.project / path), "content": ""},
        tool_use_id="t",
    )
    assert [s.fires for s in runner.would_fire(call)] == [fires]


async def test_identical_handlers_of_settings_run_once_but_plugins_keep_their_own(
    place: Place,
) -> None:
    section = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo x"}]}]}}
    runner = place.layered(
        HookLayer(HookSource.USER, section, "u.json"),
        HookLayer(HookSource.PROJECT, section, "p.json"),
        HookLayer(HookSource.PLUGIN, section, "plugin.json"),
    )
    outcome = await runner.run(Stop())
    assert [r.spec.source for r in outcome.results] == [HookSource.USER, HookSource.PLUGIN]


@pytest.mark.parametrize(
    "weak",
    [{"async": True}, {"timeout": 0.0001}, {"once": True}, {"onFailure": "ignore"}],
    ids=lambda fields: next(iter(fields)),
)
async def test_a_copy_in_another_file_does_not_weaken_a_guard(
    place: Place, weak: dict[str, object]
) -> None:
    guard: dict[str, object] = {"type": "command", "command": "exit 1", "onFailure": "block"}

    def section(handler: dict[str, object]) -> dict[str, object]:
        return {"hooks": {"PreToolUse": [{"hooks": [handler]}]}}

    runner = place.layered(
        HookLayer(HookSource.PROJECT, section({**guard, **weak}), "p.json"),
        HookLayer(HookSource.POLICY, section(guard), "m.json"),
    )
    for _ in range(2):
        outcome = await runner.run(bash("ls"))
        assert (outcome.spawn_count, outcome.decision) == (1, "deny")
        assert "exit status 1" in (outcome.reason or "")


async def test_a_payload_is_valid_json_whatever_is_in_it(place: Place) -> None:
    deep: object = "x"
    for _ in range(5_000):
        deep = [deep]
    runner = place.runner("PreToolUse", "cat > seen; exit 2")
    for tool_input, seen in (
        ({"timeout": math.inf, "rest": [math.nan]}, {"timeout": None, "rest": [None]}),
        ({"command": "rm", "deep": deep}, None),
    ):
        call = PreToolUse(tool_name="Bash", tool_input=tool_input, tool_use_id="t")
        assert (await runner.run(call)).decision == "deny"
        text = (place.project / "seen").read_text()
        read = json.loads(text, parse_constant=pytest.fail)["tool_input"]
        assert read == seen if seen is not None else read["command"] == "rm"


async def test_a_long_text_of_a_background_hook_is_cut_too(place: Place) -> None:
    command = "head -c 50000 /dev/zero | tr '\\0' x"
    runner = place.runner(
        "UserPromptSubmit", {"type": "command", "command": command, "async": True}
    )
    await runner.run(UserPromptSubmit(prompt="x"))
    await runner.background.wait()
    (text,) = runner.take_background().additional_context
    assert len(text) < 10_000
    assert "50000 characters in all" in text


async def test_once_is_once_after_a_success(place: Place) -> None:
    fails_first = "if [ -e done ]; then exit 0; fi; touch done; exit 1"
    runner = place.runner(
        "UserPromptSubmit",
        {"type": "command", "command": fails_first, "once": True},
        {"type": "command", "command": "echo again"},
    )
    spawned = [(await runner.run(UserPromptSubmit(prompt="x"))).spawn_count for _ in range(4)]
    assert spawned == [2, 2, 1, 1]


async def test_once_survives_a_reload_of_the_same_settings(place: Place) -> None:
    runner = place.runner("Stop", {"type": "command", "command": "true", "once": True})
    config = runner.config
    await runner.run(Stop())
    runner.replace_config(config)
    assert (await runner.run(Stop())).outcome == "skipped"


async def test_stop_hooks_keep_the_agent_going_eight_times_in_a_row(place: Place) -> None:
    runner = place.runner("Stop", "jq -r .stop_hook_active >> active; echo more >&2; exit 2")
    outcomes = [await runner.run(Stop()) for _ in range(10)]
    assert [o.proceeds for o in outcomes] == [*[False] * 8, True, False]
    told = "Stop hook makes the agent continue (continuation 3 of at most 8): more"
    assert outcomes[2].notices == (told,)
    assert outcomes[8].decision == "none"
    assert "8 times in a row" in outcomes[8].notices[-1]
    active = (place.project / "active").read_text().split()
    assert active == ["false", *["true"] * 8, "false"]


async def test_a_new_prompt_starts_the_count_over(place: Place) -> None:
    runner = place.runner("Stop", "exit 2", env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"})
    assert [(await runner.run(Stop())).proceeds for _ in range(2)] == [False, False]
    await runner.run(UserPromptSubmit(prompt="x"))
    assert [(await runner.run(Stop())).proceeds for _ in range(3)] == [False, False, True]


async def test_a_cap_of_zero_is_none_and_agents_count_for_themselves(place: Place) -> None:
    endless = place.runner("Stop", "exit 2", env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"})
    assert all([(await endless.run(Stop())).proceeds is False for _ in range(12)])
    runner = place.runner("SubagentStop", "exit 2", env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"})
    got = [
        (await runner.run(SubagentStop(agent_id=agent, agent_type="x"))).proceeds
        for agent in ("a", "b", "a", "b")
    ]
    assert got == [False, False, True, True]


async def test_a_blocked_stop_that_ends_the_turn_is_not_counted(place: Place) -> None:
    answer = {"decision": "block", "reason": "x", "continue": False, "stopReason": "enough"}
    outcome = await place.runner("Stop", f"echo '{json.dumps(answer)}'").run(Stop())
    assert (outcome.continue_, outcome.proceeds, outcome.stop_reason) == (False, True, "enough")


async def test_an_interrupt_ends_what_runs(place: Place) -> None:
    abort = Abort()
    runner = place.runner("PreToolUse", "touch started; sleep 60", "sleep 60", matcher="Bash")
    running = asyncio.create_task(runner.run(bash(), abort=abort))
    started = place.project / "started"
    while not started.exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.01)
    abort.fire()
    outcome = await running
    assert outcome.outcome == "cancelled"
    assert {r.error for r in outcome.results} == {"interrupted before it ended"}
    assert (await runner.run(bash(), abort=abort)).outcome == "cancelled"


async def test_a_sub_agent_is_named_in_the_payload_and_obeyed(place: Place) -> None:
    guard = 'test "$(jq -r .agent_id)" = sub-1 && { echo stop >&2; exit 2; } || exit 0'
    runner = place.runner("PreToolUse", guard)
    assert (await runner.run(bash(agent_id="sub-1"))).decision == "deny"
    assert (await runner.run(bash())).decision == "none"


async def test_background_handlers_decide_nothing_and_speak_later(place: Place) -> None:
    late = says("PreToolUse", additionalContext="late", permissionDecision="deny")
    runner = place.runner("PreToolUse", {"type": "command", "command": late, "async": True})
    outcome = await runner.run(bash())
    assert (outcome.outcome, outcome.decision, outcome.proceeds) == ("async", "none", True)
    await runner.background.wait()
    ended = runner.take_background()
    assert ended.additional_context == ("late",)
    assert not runner.take_background()


async def test_a_first_line_moves_a_hook_to_the_background(place: Place) -> None:
    command = (
        "echo '{\"async\": true}'; while [ ! -e go ]; do sleep 0.01; done; "
        'echo \'{"systemMessage": "done"}\''
    )
    runner = place.runner("PreToolUse", command)
    outcome = await runner.run(bash())
    assert outcome.outcome == "async"
    (place.project / "go").touch()
    await runner.background.wait()
    assert runner.take_background().system_messages == ("done",)


async def test_a_first_line_says_how_long_it_may_take_from_then_on(place: Place) -> None:
    command = 'echo \'{"async": true, "asyncTimeout": 0.05}\'; sleep 60'
    runner = place.runner("PreToolUse", command, ports=HookPorts(grace_s=0.1))
    assert (await runner.run(bash())).outcome == "async"
    await runner.background.wait()
    (notice,) = runner.take_background().notices
    assert "timed out after 0.05 s" in notice


@pytest.mark.parametrize(
    ("command", "wake"),
    [
        ("echo out; echo err >&2; exit 2", ("err",)),
        ("echo out; exit 2", ("out",)),
        ("echo err >&2; exit 0", ()),
        ("echo err >&2; exit 1", ()),
    ],
)
async def test_async_rewake_wakes_on_status_two(
    place: Place, command: str, wake: tuple[str, ...]
) -> None:
    runner = place.runner("Stop", {"type": "command", "command": command, "asyncRewake": True})
    assert (await runner.run(Stop())).proceeds is True
    await runner.background.wait()
    assert runner.take_background().wake == wake


async def test_session_end_has_one_short_budget(place: Place) -> None:
    runner = place.runner("SessionEnd", "sleep 60", ports=HookPorts(grace_s=0.1))
    outcome = await runner.run(SessionEnd(reason="other"))
    assert "timed out after 1.5 s" in outcome.notices[0]
    long = {"type": "command", "command": "sleep 60", "timeout": 900}
    layer = HookLayer(HookSource.PLUGIN, {"hooks": {"SessionEnd": [{"hooks": [long]}]}})
    env = {"CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "50"}
    outcome = await place.layered(layer, env=env).run(SessionEnd(reason="other"))
    assert "timed out after 0.05 s" in outcome.notices[0]


async def test_a_model_switch_is_not_made_while_its_guard_is_silent(place: Place) -> None:
    handler = {"type": "command", "command": "sleep 60", "timeout": 0.1}
    runner = place.runner("PreModelSwitch", handler, ports=HookPorts(grace_s=0.1))
    outcome = await runner.run(PreModelSwitch(to_model="other"))
    assert (outcome.decision, outcome.proceeds) == ("deny", False)


async def test_callables_are_hooks_like_any_other(place: Place) -> None:
    seen: list[Mapping[str, object]] = []

    async def guard(payload: Mapping[str, object]) -> Mapping[str, object] | None:
        seen.append(payload)
        return {"decision": "block", "reason": "from code"}

    async def broken(payload: Mapping[str, object]) -> Mapping[str, object] | None:
        raise RuntimeError("boom")

    runner = place.runner("Stop", "true")
    runner.register(
        [
            HandlerSpec("Stop", None, CallbackHandler("guard", guard), HookSource.CODE, 0),
            HandlerSpec("Stop", None, CallbackHandler("broken", broken), HookSource.CODE, 0),
        ]
    )
    outcome = await runner.run(Stop(last_assistant_message="done"))
    assert (outcome.decision, outcome.reason) == ("block", "from code")
    assert seen[0]["last_assistant_message"] == "done"
    assert any("its function failed: boom (RuntimeError)" in line for line in outcome.notices)


async def test_front_matter_hooks_come_and_go_with_their_owner(place: Place) -> None:
    runner = place.runner("Notification", "true")
    specs, _ = parse_hooks(
        {"Stop": [{"hooks": [{"type": "command", "command": "exit 2"}]}]},
        source=HookSource.AGENT,
        owner="agent:reviewer",
    )
    runner.register(specs)
    assert runner.has("SubagentStop")
    runner.unregister("agent:reviewer")
    assert not runner.has("SubagentStop")
    assert runner.has("Notification")


async def test_stats_say_what_a_handler_did(place: Place) -> None:
    runner = place.runner("Notification", "true", "exit 3")
    for _ in range(2):
        await runner.run(Notification(message="m", notification_type="idle_prompt"))
    good, bad = (runner.stats(spec) for spec in runner.config.all())
    assert (good.fire_count, good.last_outcome) == (2, "success")
    assert (bad.fire_count, bad.last_outcome, bad.last_error) == (
        2,
        "non_blocking_error",
        "exit status 3",
    )


async def test_managed_settings_cannot_be_refused_by_a_hook(place: Place) -> None:
    runner = place.runner("ConfigChange", "exit 2")
    assert (await runner.run(ConfigChange(source="user_settings"))).proceeds is False
    assert (await runner.run(ConfigChange(source="policy_settings"))).proceeds is True


async def test_a_session_title_counts_for_new_conversations_only(place: Place) -> None:
    runner = place.runner("SessionStart", says("SessionStart", sessionTitle="t"))
    assert (await runner.run(SessionStart(source="startup"))).session_title == "t"
    assert (await runner.run(SessionStart(source="compact"))).session_title is None


async def test_file_changed_is_matched_by_base_name(place: Place) -> None:
    runner = place.runner("FileChanged", "true", matcher=".envrc|.env")
    assert (await runner.run(FileChanged(file_path="/a/.env", event="change"))).spawn_count == 1
    assert (await runner.run(FileChanged(file_path="/.env/x", event="change"))).spawn_count == 0


async def test_every_handler_gets_its_own_copy_of_the_payload(place: Place) -> None:
    async def vandal(payload: Mapping[str, object]) -> Mapping[str, object] | None:
        assert isinstance(payload, dict)
        payload.clear()
        return None

    runner = place.runner("UserPromptSubmit", "jq -r .prompt")
    spec = HandlerSpec("UserPromptSubmit", None, CallbackHandler("v", vandal), HookSource.CODE, 0)
    runner.register([spec])
    assert (await runner.run(UserPromptSubmit(prompt="p"))).additional_context == "p"


async def test_the_status_message_of_the_first_handler_is_shown(place: Place) -> None:
    handler = {"type": "command", "command": "true", "statusMessage": "Checking…"}
    outcome = await place.runner("PreToolUse", "echo", handler).run(bash())
    assert outcome.status_message == "Checking…"


async def test_those_who_show_it_are_informed_of_a_start_only_when_something_starts(
    place: Place,
) -> None:
    started: list[str] = []
    runner = place.runner("PreToolUse", "true", "false", matcher="Edit")
    await runner.run(bash(), on_start=lambda specs: started.extend(s.label for s in specs))
    assert started == []
    edit = PreToolUse(tool_name="Edit", tool_input={}, tool_use_id="t")
    await runner.run(edit, on_start=lambda specs: started.extend(s.label for s in specs))
    assert started == ["true", "false"]


def test_a_runner_needs_no_loop_until_something_fires(place: Place) -> None:
    assert isinstance(place.runner("Stop", "true"), HookRunner)
