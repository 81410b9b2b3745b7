"""What agents fire, and what becomes of answers that no single event owns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from agent.abort import AbortController
from agent.events import HookFinished, HookStarted, Notice
from agent.hook_events.fire import HookFiring, HookListeners
from agent.hook_events.hook_dispatch import HookDispatch
from agent.messages import ToolUse
from agent.prompt.instruction_files import InstructionFile
from hooks.config.config import HookConfig
from hooks.config.spec import CallbackHandler, HandlerSpec, HookSource
from hooks.events import FileChanged
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner

Heard = list[Mapping[str, object]]


def dispatch_for(
    tmp_path: Path,
    answers: Mapping[str, Mapping[str, object] | None],
    listeners: HookListeners | None = None,
    on_call: Callable[[], None] = lambda: None,
    file: str | None = None,
) -> tuple[HookDispatch, Heard]:
    """A dispatch whose hooks are functions: one per event, with a fixed answer."""
    heard: Heard = []

    def spec(event: str, answer: Mapping[str, object] | None, position: int) -> HandlerSpec:
        async def function(payload: Mapping[str, object]) -> Mapping[str, object] | None:
            heard.append(payload)
            on_call()
            return answer

        handler = CallbackHandler(event, function)
        return HandlerSpec(event, None, handler, HookSource.CODE, position, file=file)

    session = HookSession(
        session_id="s",
        transcript_path=tmp_path / "t",
        project_dir=tmp_path,
        home=tmp_path / "home",
        state_dir=tmp_path / "state",
        cwd=tmp_path,
    )
    runner = HookRunner(HookConfig(), session=session, ports=HookPorts())
    runner.register(spec(event, answer, i) for i, (event, answer) in enumerate(answers.items()))
    return HookDispatch(HookFiring(runner, session, listeners=listeners)), heard


def specific(event: str, **fields: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


async def test_a_failure_says_whether_it_was_an_interruption(tmp_path: Path) -> None:
    dispatch, heard = dispatch_for(tmp_path, {"PostToolUseFailure": None})
    call = ToolUse("t", "Bash", {"command": "false"})
    await dispatch.tools.post_tool_use_failure(
        call, {}, "Exit code 1", is_interrupt=False, duration_ms=1, abort=AbortController().signal
    )
    assert heard[0]["is_interrupt"] is False


async def test_a_sub_agent_is_named_in_every_event_it_fires(tmp_path: Path) -> None:
    dispatch, heard = dispatch_for(tmp_path, {"StopFailure": None, "CwdChanged": None})
    child = dispatch.for_subagent("a1", "Explore", "t1")
    await child.stop_failure("overloaded_error", "busy")
    await child.cwd_changed("/a", "/b")
    assert [(p["agent_id"], p["agent_type"]) for p in heard] == [("a1", "Explore")] * 2


async def test_a_compaction_starts_the_session_again_for_hooks(tmp_path: Path) -> None:
    answer = specific("SessionStart", additionalContext="remember this")
    dispatch, heard = dispatch_for(tmp_path, {"SessionStart": answer, "PostCompact": None})
    await dispatch.session_start("startup", "claude")
    assert dispatch.start_context() == ["remember this"]
    await dispatch.post_compact("auto", "so far")
    assert [(p["hook_event_name"], p.get("source")) for p in heard] == [
        ("SessionStart", "startup"),
        ("PostCompact", None),
        ("SessionStart", "compact"),
    ]
    assert heard[-1]["model"] == "claude"
    assert dispatch.late_context() == ["remember this"]
    assert dispatch.late_context() == []


async def test_a_message_about_an_added_directory_is_for_the_model(tmp_path: Path) -> None:
    dispatch, _ = dispatch_for(tmp_path, {"DirectoryAdded": {"systemMessage": "a Go module"}})
    await dispatch.directory_added("/x", "slash_command")
    await dispatch.firing.aclose(wait_s=60)
    assert dispatch.late_context() == ["a Go module"]


async def test_what_hooks_ask_for_reaches_those_who_do_it(tmp_path: Path) -> None:
    done: list[object] = []
    listeners = HookListeners(
        session_title=done.append,
        watch_paths=done.append,
        reload_skills=lambda: done.append("skills"),
        terminal=done.append,
    )
    answer = {
        "terminalSequence": "\a",
        **specific(
            "SessionStart",
            sessionTitle="Parser",
            watchPaths=["a.toml"],
            reloadSkills=True,
            initialUserMessage="Begin.",
        ),
    }
    dispatch, _ = dispatch_for(tmp_path, {"SessionStart": answer}, listeners)
    await dispatch.session_start("startup", "claude")
    assert done == [("a.toml",), "Parser", "skills", "\a"]
    assert dispatch.take_first_message() == "Begin."
    assert dispatch.take_first_message() is None


async def test_notes_for_the_classifier_are_kept_and_bounded(tmp_path: Path) -> None:
    answer = specific("PostToolUse", classifierContext="tests passed")
    dispatch, _ = dispatch_for(tmp_path, {"PostToolUse": answer})
    for number in range(12):
        use = ToolUse(f"t{number}", "Bash", {"command": "true"})
        await dispatch.tools.post_tool_use(use, use.input, "", 1, AbortController().signal)
    assert dispatch.firing.classifier_context() == ("tests passed",) * 10


async def test_what_happens_beside_a_turn_is_reported_at_once(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    listeners = HookListeners(notify=lambda text, level: told.append((text, level)))
    answers = {"FileChanged": {"systemMessage": "reloaded", "nonsense": 1}}
    dispatch, _ = dispatch_for(tmp_path, answers, listeners)
    await dispatch.file_changed(FileChanged(file_path="/a", event="change"))
    assert [level for _, level in told] == ["warning", "info"]
    assert told[1][0] == "reloaded"
    assert [e.notices for e in dispatch.notices() if isinstance(e, HookFinished)] == [()]
    assert [e for e in dispatch.notices() if isinstance(e, Notice)] == []


async def test_without_a_screen_they_come_with_the_next_turn(tmp_path: Path) -> None:
    dispatch, _ = dispatch_for(tmp_path, {"FileChanged": {"systemMessage": "reloaded"}})
    await dispatch.file_changed(FileChanged(file_path="/a", event="change"))
    assert [e.text for e in dispatch.notices() if isinstance(e, Notice)] == ["reloaded"]


async def test_a_stop_hook_is_informed_of_what_still_runs(tmp_path: Path) -> None:
    running: list[dict[str, object]] = [
        {"id": "b1", "type": "shell", "status": "running", "command": "make watch"}
    ]
    listeners = HookListeners(background_tasks=lambda: list(running))
    dispatch, heard = dispatch_for(tmp_path, {"Stop": None}, listeners)
    await dispatch.stop("done", active=False, abort=AbortController().signal)
    assert heard[0]["background_tasks"] == running
    assert heard[0]["session_crons"] == []


async def test_what_goes_wrong_again_and_again_is_reported_in_full_once_a_turn(
    tmp_path: Path,
) -> None:
    dispatch, _ = dispatch_for(tmp_path, {"PostToolUse": {"additionalContext": "x"}})
    told = _told_after_tools(dispatch)

    dispatch.firing.begin_turn("t1", "p1")
    assert "additionalContext belongs in hookSpecificOutput" in (await told())[0]
    assert await told() == ("PostToolUse hook 'PostToolUse' (code): the same again",)
    dispatch.firing.begin_turn("t2", "p2")
    assert "additionalContext belongs in hookSpecificOutput" in (await told())[0]


async def test_what_a_hook_informs_the_model_about_a_result_is_shown(tmp_path: Path) -> None:
    block = {"decision": "block", "reason": "lint: line 3 is too long\nlint: line 4, too"}
    dispatch, _ = dispatch_for(tmp_path, {"PostToolUse": block})
    use = ToolUse("t", "Bash", {"command": "true"})
    await dispatch.tools.post_tool_use(use, use.input, "", 1, AbortController().signal)
    (said,) = (event.text for event in dispatch.notices() if isinstance(event, Notice))
    assert said == "hook 'PostToolUse' (code) to the model: lint: line 3 is too long …"


async def test_a_notice_names_its_file_as_seen_from_the_project(tmp_path: Path) -> None:
    file = str(tmp_path / ".agent" / "settings.json")
    dispatch, _ = dispatch_for(tmp_path, {"PostToolUse": {"metrics": 1}}, file=file)
    (said,) = await _told_after_tools(dispatch)()
    assert "(code .agent/settings.json): metrics is not" in said
    dispatch.firing.warn(f"Stop hook 'x' (user {tmp_path}/home/s.json) would fail: x is not there")
    (event,) = (event for event in dispatch.notices() if isinstance(event, Notice))
    assert event.text == "Stop hook 'x' (user home/s.json) would fail: x is not there"


async def test_fields_that_no_answer_has_are_reported_once_a_session(tmp_path: Path) -> None:
    dispatch, _ = dispatch_for(tmp_path, {"PostToolUse": {"metrics": {"ms": 1}}})
    told = _told_after_tools(dispatch)

    dispatch.firing.begin_turn("t1", "p1")
    assert "metrics is not part of an answer" in (await told())[0]
    dispatch.firing.begin_turn("t2", "p2")
    assert await told() == ()


def _told_after_tools(dispatch: HookDispatch) -> Callable[[], Awaitable[tuple[str, ...]]]:
    """Return a function that fires PostToolUse and returns what users are told."""
    use = ToolUse("t", "Bash", {"command": "true"})

    async def told() -> tuple[str, ...]:
        await dispatch.tools.post_tool_use(use, use.input, "", 1, AbortController().signal)
        (event,) = (e for e in dispatch.notices() if isinstance(e, HookFinished))
        return event.notices

    return told


async def test_no_one_waits_for_hooks_that_are_informed_of_instructions(tmp_path: Path) -> None:
    hanging = asyncio.Event()

    async def hang(_payload: Mapping[str, object]) -> None:
        hanging.set()
        await asyncio.Event().wait()

    dispatch, _ = dispatch_for(tmp_path, {})
    handler = CallbackHandler("hang", hang)
    dispatch.runner.register(
        [HandlerSpec("InstructionsLoaded", None, handler, HookSource.CODE, position=0)]
    )
    file = InstructionFile(tmp_path / "AGENTS.md", "text", "Project", "session_start")
    await dispatch.instructions_loaded(file)
    await dispatch.instructions_loaded(file)
    await hanging.wait()
    await dispatch.firing.aclose(wait_s=0.01)


async def test_a_wait_with_a_message_is_shown_at_once_and_over_at_once(tmp_path: Path) -> None:
    shown: list[tuple[str, str | None]] = []

    def live(event: HookStarted | HookFinished) -> None:
        words = event.status_message if isinstance(event, HookStarted) else None
        shown.append((event.type, words))

    dispatch, _ = dispatch_for(tmp_path, {}, HookListeners(live=live))

    async def function(_payload: Mapping[str, object]) -> None:
        assert shown == [("hook_started", "Running tests")]

    handler = CallbackHandler("f", function)
    spec = HandlerSpec("Stop", None, handler, HookSource.CODE, 0, status_message="Running tests")
    dispatch.runner.register([spec])
    abort = AbortController().signal
    await dispatch.stop("idle", active=False, abort=abort)
    assert shown == []
    dispatch.notices()
    dispatch.firing.abort = abort
    dispatch.firing.begin_turn("t", "p")
    await dispatch.stop("done", active=False, abort=abort)
    assert shown == [("hook_started", "Running tests"), ("hook_finished", None)]
    queued = [e.status_message for e in dispatch.notices() if isinstance(e, HookStarted)]
    assert queued == [None]
