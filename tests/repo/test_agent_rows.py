"""The requirements for agents and teams, each with the tests that check it.

The rows are from the patterns for multi-agent systems; the complaints of users and their tests are
in `docs/decisions/0050-what-users-of-agents-complain-of.md`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from tests.repo.checkout import ROOT

COMPLAINTS: Final = ROOT / "docs" / "decisions" / "0050-what-users-of-agents-complain-of.md"
ROWS: Final[Mapping[str, Sequence[str]]] = {
    "M1 delegation: the coordinator decides what, workers how": (
        "test_m1_delegation_works_in_parallel_and_answers_as_one",
    ),
    "M2 synthesis over relay: a call of its own over task and results": (
        "test_m2_synthesis_over_relay_is_a_call_of_its_own_over_task_and_results",
        "test_m2_synthesis_over_relay_of_three_workers_is_no_concatenation",
    ),
    "M3 tool partitioning: coordination for the leader, its subtask for a worker": (
        "test_m3_tool_partitioning_gives_coordination_to_the_leader_and_its_subtask_to_a_worker",
        "test_a_leader_has_no_tools_of_servers_and_a_worker_those_it_is_given",
        "test_a_tool_with_a_specifier_is_enforced_as_a_rule",
        "test_a_listed_command_is_no_door",
    ),
    "M4 context isolation: a fresh history, and only what is returned": (
        "test_m4_context_isolation_starts_a_worker_with_its_subtask_alone",
        "test_context_isolation_of_each_agent",
    ),
    "M6 session reconnection: from the transcript and the team file, nothing twice": (
        "test_m6_session_reconnection_rests_on_what_a_worker_records",
        "test_m6_session_reconnection_adopts_a_worker_and_its_open_question",
        "test_kills_lose_no_message_and_run_no_subtask_twice",
    ),
    "executors: one protocol, chosen by setting and by what is there": (
        "test_m7_three_executor_backends_are_chosen_by_setting_and_by_what_is_here",
        "test_m7_panes_are_those_of_the_terminal_that_is_here",
        "test_m7_a_team_works_in_panes_of_a_terminal",
    ),
    "executors: a defect in one worker ends that one alone": (
        "test_an_exception_of_a_worker_ends_that_worker_alone",
    ),
    "executors: panes have the worker's color and name": (
        "test_a_pane_of_tmux_has_its_color_and_its_name",
    ),
    "executors: alive is who holds its lease; a death is seen": (
        "test_alive_is_who_holds_the_lease",
        "test_a_lease_ends_with_a_process_that_is_killed",
        "test_the_death_of_an_adopted_process_is_reported",
    ),
    "mailbox: one file is one message, written atomically": (
        "test_m5_one_file_is_one_message_and_is_written_whole",
    ),
    "mailbox: consumed exactly once, under a lock": (
        "test_a_message_is_consumed_exactly_once_by_two_readers",
        "test_a_reader_that_holds_the_lock_is_the_only_one",
        "test_kills_of_senders_and_receiver_lose_and_double_nothing",
    ),
    "mailbox: in the receiver's transcript before it is deleted": (
        "test_a_message_is_in_the_transcript_before_its_file_is_deleted",
        "test_what_the_transcript_has_is_deleted_and_not_delivered_again",
    ),
    "mailbox: the order of each sender; no sender holds up another": (
        "test_the_order_of_each_sender_is_that_of_sending",
        "test_one_sender_cannot_hold_up_another",
    ),
    "mailbox: ids are name@team": ("test_ids_are_names_that_can_be_read",),
    "mailbox: delivered within a second": (
        "test_a_message_is_noticed_within_a_second_where_no_change_is_reported",
        "test_a_message_from_another_process_wakes_the_receiver",
    ),
    "mailbox: also for workers inside the process": (
        "test_m5_file_based_mailbox_puts_every_message_into_its_receivers_transcript",
    ),
    "permissions: the callback is registered before the request is sent": (
        "test_a_worker_registers_before_it_sends",
    ),
    "permissions: a worker asks its classifier, then its leader": (
        "test_a_worker_s_classifier_decides_without_the_leader",
        "test_what_the_classifier_leaves_open_is_forwarded",
    ),
    "permissions: the coordinator's handler asks one after the other": (
        "test_in_order_the_next_is_asked_only_after_the_one_before",
    ),
    "permissions: the leader's dialog names the worker, which waits": (
        "test_a_workers_question_reaches_the_leaders_dialog_with_its_name",
        "test_a_worker_that_waits_for_an_answer_needs_the_user",
    ),
    "permissions: updated_input is what runs": (
        "test_the_leader_may_change_the_input",
        "test_what_the_user_changed_is_what_runs",
    ),
    "permissions: the end of the leader is a denial after its time": (
        "test_a_leader_that_is_gone_cancels_the_call",
        "test_a_leader_that_stays_away_is_a_no",
        "test_an_interrupted_worker_takes_its_request_back",
    ),
    "permissions: a worker never asks by itself": (
        "test_a_workers_question_reaches_the_leaders_dialog_with_its_name",
    ),
    "permissions: no agent grants itself anything": (
        "test_no_agent_grants_itself_anything",
        "test_a_report_that_claims_a_permission_grants_nothing",
        "test_words_of_another_agent_are_marked_on_every_way_to_a_model",
        "test_a_worker_cannot_write_its_own_permission",
        "test_an_agent_cannot_speak_as_the_user_or_the_conversation",
        "test_no_worker_forges_the_result_of_another",
        "test_a_definition_grants_nothing_by_its_skills",
    ),
    "spawning: side by side is the default": (
        "test_delegation_several_calls_of_one_answer_run_at_once",
        "test_m1_delegation_works_in_parallel_and_answers_as_one",
    ),
    "spawning: results are used as they come": (
        "test_in_the_background_the_report_comes_between_turns",
        "test_messages_reach_a_worker_between_its_steps_and_an_idle_one_at_once",
    ),
    "failures: what happens is decided before": (
        "test_one_failure_can_end_the_others",
        "test_a_failure_can_be_tried_once_more",
        "test_a_failure_may_be_decided_to_stop_all",
        "test_a_failure_may_be_decided_to_be_tried_once_more",
    ),
    "failures: some are named, all are said": (
        "test_failures_are_named_and_the_others_continue",
        "test_a_worker_that_fails_is_named_and_the_others_continue",
        "test_all_workers_failing_is_reported_and_not_synthesized",
    ),
    "failures: at its turn limit an agent has an error result": (
        "test_it_has_a_turn_limit_of_its_own",
    ),
    "reports: the minimum comes back": ("test_only_the_report_comes_back",),
    "streaming: who follows a worker misses nothing": (
        "test_what_workers_do_is_seen_and_their_messages_name_the_call_that_started_them",
        "test_lines_follow_an_agent_from_its_start_over_its_calls_to_its_end",
    ),
    "prompts: a coordinator's precedes those below it": ("test_the_strongest_prompt_wins",),
    "retries: agents fail at once where the foreground waits": (
        "test_background_requests_fail_at_once_and_never_fall_back",
        "test_only_listed_sources_are_retried",
    ),
    "hooks: SubagentStart and SubagentStop, of agents and definitions": (
        "test_a_sub_agent_is_named_in_every_event_it_fires",
        "test_hooks_of_a_definition_receive_the_events_of_that_agent_alone",
    ),
    "hooks: TeammateIdle, TaskCreated, TaskCompleted": (
        "test_the_task_hooks_may_refuse_and_an_idle_hook_has_a_worker_continue",
        "test_task_hooks_see_a_new_task_and_may_refuse_its_end",
    ),
    "hooks: WorktreeCreate, WorktreeRemove": (
        "test_hooks_make_and_receive_worktrees",
        "test_hooks_make_and_receive_the_worktree_of_a_session",
    ),
    "advisor: consulted inside one call, priced by itself": (
        "test_the_advice_is_a_result_with_a_price_of_its_own",
        "test_the_endpoints_own_advisor_where_there_is_one",
    ),
    "advisor: no more often than its cap": (
        "test_no_more_often_than_allowed",
        "test_the_endpoints_own_advisor_is_asked_no_more_often",
    ),
    "advisor: dropped where there is none": (
        "test_without_an_advisor_there_is_no_such_tool",
        "test_an_advisor_that_fails_ends_nothing",
    ),
    "extraction: with the prefix of the conversation, from the cache": (
        "test_a_fact_reaches_the_next_session",
    ),
    "extraction: five answers, and the memory directory alone": (
        "test_the_agent_ends_after_five_answers",
        "test_the_agent_has_no_other_tools_and_reaches_no_other_file",
    ),
    "extraction: not where the conversation wrote memory itself": (
        "test_what_the_model_stored_itself_is_not_looked_at_again",
    ),
    "extraction: the cursor advances only on success; a lost one reads all": (
        "test_a_failure_is_silent_and_made_up_for",
        "test_a_cursor_that_is_gone_brings_everything_again",
    ),
    "extraction: a manifest that is too long says so": (
        "test_an_index_that_is_too_long_is_reported",
    ),
}


@functools.cache
def _known() -> frozenset[str]:
    return frozenset(
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^\s*(?:async )?def (test_\w+)\(", path.read_text("utf-8"), re.M)
    )


@pytest.mark.parametrize("row", ROWS)
def test_the_tests_of_each_row_are_there(row: str) -> None:
    assert [name for name in ROWS[row] if name not in _known()] == []


def test_each_complaint_names_tests_that_are_there() -> None:
    rows = [
        line for line in COMPLAINTS.read_text("utf-8").splitlines() if re.match(r"\| C\d", line)
    ]
    assert len(rows) == 13
    for line in rows:
        named = re.findall(r"`(test_\w+)`", line)
        assert named, line
        assert [name for name in named if name not in _known()] == [], line
