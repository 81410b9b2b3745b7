"""Constants and rules of the reference page `orchestration-mode`, each with the test of it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from agent.assembly.agents.journal_place import journal_place
from agent.conversation.conversation_ports import DEFAULT_MAX_TURNS, DEFAULT_MAX_TURNS_HEADLESS
from agent.model.endpoint_config import Timeouts
from agent.orchestration import subtasks
from agent.orchestration.journal.step_key import step_key
from agent.tools.builtin.workflow import DESCRIPTION
from tests.repo.checkout import ROOT

RULES: dict[str, dict[str, str]] = {
    "agent/orchestration/test_mode_reminders.py": {
        "EFFORT xhigh": "the_effort_is_xhigh_while_the_mode_is_on",
        "TURNS_BETWEEN_REFRESHERS 10": "reminders_come_at_turns_1_11_and_21",
        "state machine": "TestTheModesTable",
        "off and on sends nothing": "off_and_on_before_a_turn_sends_nothing",
        "texts of ENTER, REFRESH and EXIT": "each_reminder_says_its_facts",
        "EXIT once, then ENTER": "the_exit_is_reported_once_and_the_next_entry_in_full",
    },
    "journeys/test_workflows.py": {
        "effort of sub-agents": "agents_inherit_the_effort_of_the_mode",
        "MAX_SUBAGENT_TURNS 15": "an_agent_at_its_turn_limit_reports_it_and_runs_again",
        "BASH_TIMEOUT_SECONDS 60": "calls_of_an_agent_have_the_limits_of_a_fan_out",
        "TOOL_RESULT_MAX_CHARS 8000": "calls_of_an_agent_have_the_limits_of_a_fan_out",
        "user message first": "mode_reminders_follow_the_users_message",
        "system never changes": "mode_reminders_follow_the_users_message",
        "as system message": "a_reminder_is_of_the_system_where_the_model_takes_that",
        "elsewhere a reminder": "another_model_that_takes_no_system_messages_reads_them_as_notes",
        "other calls of the answer still run": "the_other_calls_of_a_reporting_answer_still_run",
        "ends without a report": "an_agent_that_does_not_report_has_its_text_taken",
        "both reach the model": "subtasks_come_back_with_verdicts",
    },
    "agent/orchestration/test_workflow_run.py": {
        "MAX_CONCURRENT 10": "at_most_ten_work_at_once",
        "across runs": "the_same_subtask_of_the_conversation_is_not_run_again",
        "not within one wave": "equal_subtasks_of_one_wave_both_run",
        "every result": "every_result_has_a_verdict",
        "could not check is not refuted": "a_verifier_that_could_not_check_refutes_nothing",
        "no verifier without a result, as the facts read it": (
            "a_failed_agent_is_named_and_not_verified"
        ),
        "429 slows a run down": "overload_slows_the_run_and_fails_nothing",
        "a budget pauses": "the_budget_pauses_and_a_raised_one_continues",
        "soft at 80 %": "a_user_is_informed_once_that_a_limit_is_near",
        "an edited script reuses": "an_edited_script_reuses_what_did_not_change",
    },
    "agent/orchestration/test_failing_journal.py": {
        "a result is never discarded": "a_locked_journal_costs_no_result_and_limits_hold",
        "a full disk": "a_full_store_costs_no_result",
    },
    "agent/orchestration/test_subtasks.py": {
        "MAX_TOTAL_SUBTASKS 200": "the_first_200_run_and_the_rest_is_reported_first",
        "normalize_subtasks": "subtasks_are_read_in_whatever_shape_they_come",
        "no usable subtasks": "without_a_usable_subtask_the_call_is_an_error",
        "result in input order": "results_and_verdicts_stand_in_the_order_of_the_subtasks",
        "isolation of failures": "a_failed_agent_is_named_and_the_call_is_no_error",
        "report_findings, all fields required": "every_field_of_a_report_is_required",
        "Findings recorded.": "the_constants_are_those_of_the_reference",
        "session cap 400": "the_constants_are_those_of_the_reference",
        "refuted if uncertain": "what_is_not_clearly_confirmed_is_refuted",
    },
    "agent/orchestration/test_reference_rules.py": {
        "MAX_MAIN_TURNS, as the design reads it": "turns_and_time_of_the_main_conversation",
        "REQUEST_TIMEOUT_SECONDS 600": "turns_and_time_of_the_main_conversation",
        "ORCH_JOURNAL": "the_journal_is_where_its_variable_says",
        "description": "the_description_has_every_rule_of_use",
        "system text and tools": "the_system_text_of_an_agent",
        "key": "the_key_of_a_plain_call_is_the_hash_of_its_prompt",
        "a changed result has a new key": "a_changed_result_has_a_verifier_of_its_own",
    },
    "journeys/test_interrupt.py": {
        "stop reasons": "every_stop_reason_ends_or_continues_with_a_valid_history",
        "max_tokens": "output_limit_is_continued_three_times_in_a_row_at_most",
        "main turn limit": "turn_limit_ends_with_all_calls_answered",
    },
    "agent/tools/test_bash.py": {
        "exit code of a command": "how_it_ended_is_reported",
        "a fresh shell, as the design reads it": "nothing_but_the_directory_persists",
    },
    "agent/orchestration/test_journal_store.py": {
        "lookup before dispatch": "a_step_is_run_once_and_then_reused",
        "a broken file, as the facts read it": "a_file_that_is_no_journal_is_named",
        "failures and limits run again": "what_is_no_real_answer_is_run_again",
        "a dead owner's step": "a_live_owners_step_waits_and_a_dead_ones_is_taken_over",
        "a late result": "a_late_result_of_a_dead_owner_counts_where_none_is_recorded",
        "P3 limit of the session": "the_sessions_limit_counts_all_runs_and_all_attempts",
    },
    "journeys/test_workflow_commands.py": {
        "only what never finished": "a_killed_run_is_resumed_and_repeats_nothing",
    },
    "agent/orchestration/test_script_engine.py": {
        "P1 sandboxed script": "nothing_of_the_host_is_in_reach",
        "limits of a script": "a_script_that_goes_too_far_ends_with_a_clear_reason",
        "parallel never rejects": "parallel_waits_for_all_and_never_rejects",
        "pipeline has no barrier": "a_pipeline_has_no_barrier_and_a_failed_item_is_null",
    },
    "agent/orchestration/test_prefix_stagger.py": {
        "prefix stagger": "others_wait_for_the_first_and_other_kinds_do_not",
    },
    "journeys/test_workflow_files.py": {
        "files of others run unchanged": "a_file_with_what_others_use_runs",
    },
    "agent/orchestration/test_random_kills.py": {
        "P2 concurrent writes from several machines": "killed_at_random_with_two_workers",
    },
}
"""By file of the tests: the rule, and the name of its test."""
CASES = [(rule, file, name) for file, rules in RULES.items() for rule, name in rules.items()]


@pytest.mark.parametrize(("rule", "file", "name"), CASES, ids=[case[0] for case in CASES])
def test_each_rule_has_its_test(rule: str, file: str, name: str) -> None:
    source = (ROOT / "tests" / file).read_text("utf-8")
    assert re.search(rf"^(async )?def test_{name}\(|^{name} = ", source, re.MULTILINE), rule


def test_turns_and_time_of_the_main_conversation() -> None:
    assert (DEFAULT_MAX_TURNS, DEFAULT_MAX_TURNS_HEADLESS) == (200, 50)
    assert Timeouts().progress_s == 600.0


def test_the_journal_is_where_its_variable_says(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    assert journal_place({"ORCH_JOURNAL": "/j/x.sqlite"}, home, project) == "/j/x.sqlite"
    usual = Path(journal_place({}, home, project))
    assert usual.name == "journal.sqlite"
    assert usual.parent.parent == home / "workflows"


@pytest.mark.parametrize(
    "words",
    [
        "only if the user asks for a workflow, or a system message says",
        "Standing consent: while orchestration mode is on",
        "Once a system message says that the mode is off, the rule above applies again",
        "by default, and prefer verifying",
        "never a line or a section of a file",
        "rarely needs more than about ten",
        "refute what was found",
        "search for what the others missed",
        "(understand, design, implement, review), each a workflow of its own",
        "whose results you read before the next",
        "look around yourself first, then fan out",
    ],
)
def test_the_description_has_every_rule_of_use(words: str) -> None:
    assert words in " ".join(DESCRIPTION.split())


def test_the_system_text_of_an_agent() -> None:
    for words in ("each on one subtask", "check what you claim with bash", "report_findings once"):
        assert words in subtasks.SYSTEM


def test_the_key_of_a_plain_call_is_the_hash_of_its_prompt() -> None:
    assert step_key("look") == hashlib.sha256(b"look").hexdigest()
    assert step_key("look", {"label": "a", "phase": "b", "model": None}) == step_key("look")
    assert step_key("look", {"model": "m"}) != step_key("look")


def test_a_changed_result_has_a_verifier_of_its_own() -> None:
    prompts = [subtasks.verification_prompt("task", result) for result in ("a", "a", "b")]
    first, same, changed = map(step_key, prompts)
    assert first == same != changed
