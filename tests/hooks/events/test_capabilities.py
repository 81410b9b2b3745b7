"""One row per event: what exit status 2, a block, plain text and `continue: false` come to."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from hooks.answers.outcome import EventOutcome, aggregate
from hooks.answers.response import HandlerOutcome, Printed, block_on_failure, judge_printed
from hooks.config.spec import CommandHandler, HandlerSpec, HookSource
from hooks.events import EVENTS
from hooks.events.capabilities import EFFECTS, default_timeout_s


def spec(event: str, command: str = "guard.sh") -> HandlerSpec:
    return HandlerSpec(event, None, CommandHandler(command), HookSource.PROJECT, 0)


def fire(event: str, *, code: int = 0, stdout: object = "", stderr: str = "") -> EventOutcome:
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    printed = Printed(code, text.encode(), stderr.encode())
    return aggregate(event, [judge_printed(spec(event), printed)])


def specific(event: str, **fields: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


@dataclass(frozen=True)
class Row:
    exit_two: tuple[str, str, bool | None, str | None]
    """outcome, decision, proceeds, feedback_to"""
    block: str
    """Decision that a top-level `decision: "block"` comes to."""
    context: bool
    """Whether additionalContext counts."""
    plain: bool
    """Whether plain standard output is context."""
    stops: bool
    """Whether `continue: false` counts."""


BLOCK_MODEL = ("blocking", "block", False, "model")
BLOCK_USER = ("blocking", "block", False, "user")
NOTICE = ("non_blocking_error", "none", True, "user")
IGNORED = ("non_blocking_error", "none", True, None)

ROWS = {
    "SessionStart": Row(NOTICE, "none", True, True, True),
    "Setup": Row(NOTICE, "none", True, False, True),
    "SessionEnd": Row(NOTICE, "none", False, False, False),
    "UserPromptSubmit": Row(BLOCK_USER, "block", True, True, True),
    "UserPromptExpansion": Row(BLOCK_USER, "block", True, True, True),
    "Stop": Row(BLOCK_MODEL, "block", True, False, True),
    "StopFailure": Row(IGNORED, "none", False, False, False),
    "PreToolUse": Row(("blocking", "deny", False, "model"), "deny", True, False, True),
    "PermissionRequest": Row(
        ("non_blocking_error", "none", None, None), "none", False, False, True
    ),
    "PermissionDenied": Row(IGNORED, "none", False, False, True),
    "PostToolUse": Row(("blocking", "block", True, "model"), "block", True, False, True),
    "PostToolUseFailure": Row(("blocking", "block", True, "model"), "block", True, False, True),
    "PostToolBatch": Row(BLOCK_USER, "block", True, False, True),
    "Notification": Row(IGNORED, "none", False, False, False),
    "MessageDisplay": Row(IGNORED, "none", False, False, False),
    "SubagentStart": Row(NOTICE, "none", True, False, True),
    "SubagentStop": Row(BLOCK_MODEL, "block", True, False, True),
    "TeammateIdle": Row(BLOCK_MODEL, "none", False, False, True),
    "TaskCreated": Row(BLOCK_MODEL, "block", False, False, False),
    "TaskCompleted": Row(BLOCK_MODEL, "none", False, False, True),
    "PreCompact": Row(BLOCK_USER, "block", False, False, False),
    "PostCompact": Row(NOTICE, "none", False, False, False),
    "InstructionsLoaded": Row(IGNORED, "none", False, False, False),
    "ConfigChange": Row(("blocking", "block", False, "none"), "block", False, False, False),
    "CwdChanged": Row(NOTICE, "none", False, False, False),
    "DirectoryAdded": Row(IGNORED, "none", False, False, False),
    "FileChanged": Row(NOTICE, "none", False, False, False),
    "WorktreeCreate": Row(BLOCK_USER, "block", False, False, False),
    "WorktreeRemove": Row(IGNORED, "none", False, False, False),
    "Elicitation": Row(("blocking", "deny", False, "user"), "none", False, False, False),
    "ElicitationResult": Row(BLOCK_USER, "none", False, False, False),
    "PreModelSwitch": Row(("blocking", "deny", False, "user"), "none", False, False, True),
    "PostModelSwitch": Row(IGNORED, "none", True, True, True),
    "PreSkillShellCommand": Row(("blocking", "deny", False, "model"), "none", False, False, False),
}
every_event = pytest.mark.parametrize("event", list(EVENTS))


def test_every_event_has_a_payload_effects_and_a_row_here() -> None:
    assert len(EVENTS) == 34
    assert list(EVENTS) == list(EFFECTS)
    assert set(ROWS) == set(EVENTS)


@every_event
def test_exit_status_two(event: str) -> None:
    outcome = fire(event, code=2, stderr="no, because\nof this\n")
    got = (outcome.outcome.value, outcome.decision, outcome.proceeds, outcome.feedback_to)
    assert got == ROWS[event].exit_two
    if outcome.decision != "none":
        assert outcome.reason == "no, because\nof this"
        assert outcome.reason_source == "stderr"


@every_event
def test_exit_status_two_beats_an_allow_in_json(event: str) -> None:
    answer = {"decision": "approve", "continue": True}
    outcome = fire(event, code=2, stdout=answer, stderr="still no")
    assert outcome.decision == ROWS[event].exit_two[1]


@every_event
def test_exit_status_two_beats_json_of_a_wrong_shape(event: str) -> None:
    outcome = fire(event, code=2, stdout='{"continue": "yes", ', stderr="still no")
    assert outcome.decision == ROWS[event].exit_two[1]


@every_event
def test_exit_status_two_without_a_word_names_the_hook(event: str) -> None:
    outcome = fire(event, code=2)
    if outcome.decision != "none":
        assert "guard.sh" in str(outcome.reason)
        assert outcome.reason_source == "generated"


@every_event
def test_a_block_decision(event: str) -> None:
    outcome = fire(event, stdout={"decision": "block", "reason": "why"})
    assert outcome.decision == ROWS[event].block
    if outcome.decision == "none":
        assert any(
            "decision has no effect" in line or "ignored" in line for line in outcome.notices
        )
    elif event != "WorktreeCreate":
        assert (outcome.reason, outcome.reason_source) == ("why", "json")


@every_event
def test_additional_context_counts_where_the_contract_says(event: str) -> None:
    outcome = fire(event, stdout=specific(event, additionalContext="remember"))
    assert outcome.additional_context == ("remember" if ROWS[event].context else None)
    if not ROWS[event].context:
        assert outcome.notices


@every_event
def test_plain_output_is_context_for_four_events_only(event: str) -> None:
    outcome = fire(event, stdout="plain words\n")
    assert outcome.additional_context == ("plain words" if ROWS[event].plain else None)


@every_event
def test_continue_false_ends_the_turn_where_there_is_one(event: str) -> None:
    outcome = fire(event, stdout={"continue": False, "stopReason": "enough"})
    if not ROWS[event].stops:
        assert outcome.continue_ is True
        assert outcome.notices
        return
    assert (outcome.continue_, outcome.stop_reason) == (False, "enough")
    assert outcome.outcome == "blocking"
    assert outcome.proceeds is (event in ("Stop", "SubagentStop", "TeammateIdle"))


@every_event
def test_silence_is_success_without_opinion(event: str) -> None:
    outcome = fire(event, stdout="/tmp/tree\n" if event == "WorktreeCreate" else "")
    assert (outcome.outcome.value, outcome.decision) == ("success", "none")
    person_decides = event in ("PermissionRequest", "Elicitation")
    assert outcome.proceeds is (None if person_decides else True)


@every_event
@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"reason": ""},
        {"reminder": "x"},
        {"modifiedToolInput": {"a": 1}},
        {"permissionDecision": "deny", "permissionDecisionReason": "x"},
        {"updatedInput": {"command": "rm"}},
        {"continue": True},
        {"suppressOutput": True},
        {"hook_event_name": "SELF", "session_id": "s", "decision": "block", "continue": False},
    ],
    ids=lambda answer: next(iter(answer), "empty"),
)
def test_shapes_that_do_nothing_do_nothing(event: str, answer: dict[str, object]) -> None:
    if event == "WorktreeCreate":
        return  # without a path creation fails, whatever else is said
    if answer.get("hook_event_name") == "SELF":
        answer = {**answer, "hook_event_name": event}
    outcome = fire(event, stdout=answer)
    assert (outcome.outcome.value, outcome.decision, outcome.continue_) == ("success", "none", True)
    assert outcome.updated_input is None
    assert outcome.additional_context is None


@every_event
@pytest.mark.parametrize(
    ("stdout", "said"),
    [
        ('{"a": 1}\n{"b": 2}', "more than one JSON document"),
        ('{"decision": "block"', "invalid JSON"),
        ('{"continue": "no"}', "continue must be true or false"),
        ('{"decision": "maybe"}', "decision must be"),
        ('{"hookSpecificOutput": {"additionalContext": "x"}}', '"hookEventName"'),
        ('{"hookSpecificOutput": {"hookEventName": "Other"}}', "but"),
        ('{"hookSpecificOutput": 3}', "must be an object"),
        ('{"systemMessage": 3}', "systemMessage must be text"),
    ],
)
def test_an_unusable_answer_is_an_error_and_never_context(
    event: str, stdout: str, said: str
) -> None:
    outcome = fire(event, stdout=stdout)
    if not EFFECTS[event].reads_json and "invalid" not in said and "document" not in said:
        assert outcome.outcome.value == "success"
        return
    assert outcome.results[0].outcome.value == "non_blocking_error"
    assert any(said in line for line in outcome.notices)
    assert outcome.additional_context is None
    assert outcome.continue_ is True


@every_event
@pytest.mark.parametrize("code", [1, 3, 126, 127, -9])
def test_other_failures_do_not_block_and_are_visible(event: str, code: int) -> None:
    outcome = fire(event, code=code, stderr="\n  bash: x: command not found\n")
    if event == "WorktreeCreate":
        assert outcome.decision == "block"
        return
    assert (outcome.outcome.value, outcome.decision) == ("non_blocking_error", "none")
    (line,) = outcome.notices
    assert "guard.sh" in line
    assert "project" in line
    assert "bash: x: command not found" in line
    assert ("PATH" in line) is (code == 127)


def test_json_decides_whatever_other_exit_code() -> None:
    denied = fire("PreToolUse", code=1, stdout=specific("PreToolUse", permissionDecision="deny"))
    assert (denied.outcome.value, denied.decision) == ("blocking", "deny")
    assert fire("PreToolUse", code=7, stdout={}).outcome.value == "success"


def test_a_failing_exit_code_beside_json_is_reported() -> None:
    outcome = fire("PreToolUse", code=1, stdout={"error": "x"}, stderr="boom")
    assert outcome.outcome.value == "success"
    assert any("exit status 1: boom; its JSON output is used" in line for line in outcome.notices)


def test_status_two_where_it_has_no_effect_leaves_the_rest_of_the_answer() -> None:
    start = fire("SessionStart", code=2, stdout=specific("SessionStart", additionalContext="c"))
    assert (start.outcome.value, start.additional_context) == ("non_blocking_error", "c")
    for behavior, decision in (("allow", "none"), ("deny", "deny")):
        answer = specific("PermissionRequest", decision={"behavior": behavior})
        assert fire("PermissionRequest", code=2, stdout=answer).decision == decision


def test_what_cannot_be_written_again_is_not_taken_over() -> None:
    half = fire("PreToolUse", stdout='{"systemMessage": "a\\ud800b \\ud83d\\ude42"}')
    assert half.system_messages == ("a\ufffdb 🙂",)
    number = fire("PreToolUse", stdout='{"hookSpecificOutput": NaN}')
    assert "NaN is not a JSON number" in number.notices[0]
    deep = fire("PreToolUse", stdout='{"a":' * 100_000 + "1" + "}" * 100_000)
    assert deep.outcome.value == "non_blocking_error"


@pytest.mark.parametrize(
    ("word", "decision", "proceeds"),
    [
        ("allow", "allow", True),
        ("approve", "allow", True),
        ("deny", "deny", False),
        ("block", "deny", False),
        ("ask", "ask", None),
        ("defer", "defer", None),
    ],
)
def test_both_vocabularies_of_permission_decisions(
    word: str, decision: str, proceeds: bool | None
) -> None:
    answer = specific("PreToolUse", permissionDecision=word, permissionDecisionReason="r")
    outcome = fire("PreToolUse", stdout=answer)
    assert (outcome.decision, outcome.proceeds, outcome.reason) == (decision, proceeds, "r")


def test_the_old_top_level_decision_of_pre_tool_use() -> None:
    assert fire("PreToolUse", stdout={"decision": "approve"}).decision == "allow"
    blocked = fire("PreToolUse", stdout={"decision": "block", "reason": "old"})
    assert (blocked.decision, blocked.reason) == ("deny", "old")


def test_a_veto_without_a_reason_hands_on_what_it_showed() -> None:
    veto = specific("PreToolUse", permissionDecision="deny")
    silent = fire("PreToolUse", stdout=veto)
    told = fire("PreToolUse", stdout={**veto, "systemMessage": "rm is dangerous"})
    assert str(silent.reason).endswith("(project), which gave no reason.")
    assert str(told.reason).endswith("(project): rm is dangerous")
    assert told.system_messages == ("rm is dangerous",)


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"])
def test_exit_two_hands_on_what_was_printed_if_nothing_else_gives_a_reason(event: str) -> None:
    assert fire(event, code=2, stdout="use rg\n").reason == "use rg"
    assert fire(event, code=2, stdout="use rg\n", stderr="no grep\n").reason == "no grep"
    unread = fire(event, code=2, stdout='{"decision": "block"')
    assert "gave no reason" in str(unread.reason)


def test_permission_request_answers() -> None:
    allowed = fire(
        "PermissionRequest",
        stdout=specific(
            "PermissionRequest",
            decision={
                "behavior": "allow",
                "updatedInput": {"command": "ls"},
                "updatedPermissions": [{"type": "setMode", "mode": "acceptEdits"}],
            },
        ),
    )
    assert (allowed.decision, allowed.proceeds) == ("allow", True)
    assert allowed.updated_input == {"command": "ls"}
    assert allowed.permission_updates == ({"type": "setMode", "mode": "acceptEdits"},)
    denied = fire(
        "PermissionRequest",
        stdout=specific(
            "PermissionRequest",
            decision={"behavior": "deny", "message": "not today", "interrupt": True},
        ),
    )
    assert (denied.decision, denied.reason, denied.interrupt) == ("deny", "not today", True)


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "approve"},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}},
        {
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "permissionDecision": "allow",
            }
        },
    ],
)
def test_answers_of_another_event_never_permit(answer: dict[str, object]) -> None:
    outcome = fire("PermissionRequest", stdout=answer)
    assert (outcome.decision, outcome.proceeds) == ("none", None)
    assert outcome.notices


def test_post_tool_use_may_replace_the_output() -> None:
    outcome = fire("PostToolUse", stdout=specific("PostToolUse", updatedToolOutput={"stdout": "x"}))
    assert outcome.updated_tool_output == {"stdout": "x"}
    outcome = fire("PostToolUse", stdout=specific("PostToolUse", updatedMCPToolOutput="text"))
    assert outcome.updated_tool_output == "text"


def test_a_worktree_path_is_the_last_line_without_colors() -> None:
    outcome = fire("WorktreeCreate", stdout="working…\n\x1b[32m/tmp/tree\x1b[0m\n\n")
    assert (outcome.worktree_path, outcome.proceeds) == ("/tmp/tree", True)
    assert fire("WorktreeCreate", stdout="\n").decision == "block"
    assert fire("WorktreeCreate", code=1, stdout="/tmp/tree").decision == "block"


def test_elicitation_answers() -> None:
    outcome = fire("Elicitation", stdout=specific("Elicitation", action="accept", content={"a": 1}))
    assert (outcome.action, outcome.content, outcome.proceeds) == ("accept", {"a": 1}, True)
    refused = fire(
        "Elicitation", code=2, stdout=specific("Elicitation", action="accept"), stderr="no"
    )
    assert (refused.action, refused.decision) == ("decline", "deny")
    assert fire("ElicitationResult", code=2).action == "decline"


@pytest.mark.parametrize(
    ("sequence", "kept"),
    [
        ("\x07", True),
        ("\x1b]9;done\x07", True),
        ("\x1b]777;notify;a;b\x1b\\", True),
        ("\x1b]0;title\x07\x07", True),
        ("\x1b]52;c;aGk=\x07", False),
        ("\x1b[2J", False),
        ("\x1b]9;a\x1b[2J\x07", False),
        ("plain", False),
    ],
)
def test_terminal_sequences_are_a_closed_list(sequence: str, kept: bool) -> None:
    outcome = fire("Notification", stdout={"terminalSequence": sequence})
    assert outcome.terminal_sequence == (sequence if kept else None)
    assert bool(outcome.notices) is not kept


def test_messages_go_where_the_event_says() -> None:
    assert fire("CwdChanged", stdout={"systemMessage": "m"}).system_messages == ("m",)
    assert fire("PreCompact", stdout={"systemMessage": "m"}).system_messages == ()
    assert fire("DirectoryAdded", stdout={"systemMessage": "m"}).additional_context == "m"


def test_other_fields_of_single_events() -> None:
    start = fire(
        "SessionStart",
        stdout=specific(
            "SessionStart",
            initialUserMessage="go",
            sessionTitle="t",
            watchPaths=["/a"],
            reloadSkills=True,
        ),
    )
    assert (start.initial_user_message, start.session_title) == ("go", "t")
    assert (start.watch_paths, start.reload_skills) == (("/a",), True)
    assert fire("PermissionDenied", stdout=specific("PermissionDenied", retry=True)).retry is True
    shown = fire("MessageDisplay", stdout=specific("MessageDisplay", displayContent=""))
    assert shown.display_content == ""
    hidden = fire(
        "UserPromptSubmit",
        stdout={"decision": "block", "reason": "r", "suppressOriginalPrompt": True},
    )
    assert hidden.suppress_original_prompt is True
    used = fire("PostToolUse", stdout=specific("PostToolUse", classifierContext="c" * 3000))
    assert used.classifier_context == ("c" * 2000,)


def test_stop_continues_for_context_alone_but_not_for_continue_true() -> None:
    outcome = fire("Stop", stdout=specific("Stop", additionalContext="run the tests"))
    assert (outcome.proceeds, outcome.feedback_to) == (False, "model")
    assert fire("Stop", stdout={"continue": True}).proceeds is True


def test_json_after_other_text_is_reported() -> None:
    outcome = fire("PreToolUse", stdout='loading profile\n{"decision": "block"}')
    assert outcome.decision == "none"
    assert any("print nothing else" in line for line in outcome.notices)


def test_invalid_utf8_and_a_byte_order_mark_are_read() -> None:
    printed = Printed(2, b"", b"\xff\xfe broken")
    assert "broken" in str(aggregate("Stop", [judge_printed(spec("Stop"), printed)]).reason)
    printed = Printed(0, b'\xef\xbb\xbf{"decision": "block", "reason": "r"}', b"")
    assert aggregate("Stop", [judge_printed(spec("Stop"), printed)]).decision == "block"


@pytest.mark.parametrize(
    ("event", "kind", "seconds"),
    [
        ("PreToolUse", "command", 600),
        ("PreToolUse", "http", 600),
        ("PreToolUse", "prompt", 30),
        ("PreToolUse", "agent", 60),
        ("UserPromptSubmit", "command", 30),
        ("UserPromptSubmit", "agent", 60),
        ("MessageDisplay", "command", 10),
        ("SessionEnd", "command", 1.5),
        ("PreModelSwitch", "http", 30),
    ],
)
def test_default_timeouts(event: str, kind: str, seconds: float) -> None:
    assert default_timeout_s(event, kind) == seconds


def test_what_a_filter_adds_to_its_input_is_an_answer() -> None:
    asked = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "continue": False,
        "tool_input": {"a": 1},
    }

    def answered(**added: object) -> EventOutcome:
        text = json.dumps({**asked, **added}).encode()
        result = judge_printed(spec("PreToolUse"), Printed(0, text, b"", payload=asked))
        return aggregate("PreToolUse", [result])

    denied = answered(decision="block", reason="no")
    assert (denied.decision, denied.reason, denied.continue_) == ("deny", "no", True)
    denied = answered(
        hookSpecificOutput={"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    )
    assert denied.decision == "deny"
    for silent in (answered(), answered(tool_input={"a": 2})):
        assert (silent.outcome.value, silent.decision, silent.notices) == ("success", "none", ())


def test_a_number_beyond_all_bounds_makes_an_answer_invalid() -> None:
    text = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"a":1e999}}}'
    outcome = fire("PreToolUse", stdout=text)
    assert (outcome.outcome.value, outcome.updated_input) == ("non_blocking_error", None)
    assert "too large a number" in outcome.notices[0]


@pytest.mark.parametrize(
    ("printed", "decision"),
    [
        ('checking\n{"decision": "block"}', "deny"),
        ('checking\n{"hookSpecificOutput": {"permissionDecision": "deny"}}', "deny"),
        ('checking: {"decision": "block"}', "deny"),
        ('checking\n{"decision": "block"}\ndone', "deny"),
        ('\x1b[0m{"decision": "block"}\x1b[0m', "deny"),
        ('{} checked {"line": 1}: {"decision": "block"}', "deny"),
        ('checking\n{"lines": 3}', "none"),
        ("checking {everything}", "none"),
        ("checking", "none"),
    ],
)
def test_an_answer_after_other_words_is_a_failure_where_failures_block(
    printed: str, decision: str
) -> None:
    guard = replace(spec("PreToolUse"), blocks_on_failure=True)
    result = judge_printed(guard, Printed(0, printed.encode(), b""))
    if result.outcome is HandlerOutcome.NON_BLOCKING_ERROR:
        result = block_on_failure(result)
    assert aggregate("PreToolUse", [result]).decision == decision
    plain = fire("PreToolUse", stdout=printed)
    assert plain.decision == "none"
    assert bool(plain.notices) is (decision == "deny")


def test_json_in_a_context_is_no_forgotten_answer() -> None:
    for text in ('see {"decision": "block"} in', 'config:\n{"lines": 1}'):
        outcome = fire("SessionStart", stdout=text)
        assert (outcome.additional_context, outcome.notices) == (text, ())
    assert fire("SessionStart", stdout='loading\n{"decision": "block"}').notices


def test_a_byte_order_mark_and_blanks_before_an_answer_do_not_hide_it() -> None:
    assert fire("PreToolUse", stdout='\ufeff \n{"decision": "block"}').decision == "deny"
