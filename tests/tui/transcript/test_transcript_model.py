"""Folding events into view data: total, deterministic, and right for each kind of event."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from agent.abort import AbortController
from agent.display import DiffDisplay, TodoDisplay, TodoItem
from agent.events import (
    AgentEvent,
    Compacted,
    Complete,
    ErrorEvent,
    HookFinished,
    HookStarted,
    MessageCommitted,
    ModelFallback,
    Notice,
    PermissionRequested,
    PermissionResolved,
    RequestStart,
    RetryScheduled,
    Terminal,
    TextDelta,
    ThinkingDelta,
    Tombstone,
    ToolDispatch,
    ToolInputDelta,
    ToolProgress,
    ToolResult,
    Usage,
    UsageUpdate,
)
from agent.history import INTERRUPTED_FOR_TOOL_NOTE, INTERRUPTED_NOTE
from agent.messages import Message, tool_result_block, tool_results_message, user_message
from agent.tools.interruption import interrupted_text
from permissions.decision import DecisionSource, RuleRef
from tests.tui.transcript.samples import DENIED
from tui.app.activity_line import ActivityView, activity_rows
from tui.text.highlight import Highlighter
from tui.transcript.blocks import (
    AssistantText,
    EndLine,
    HookLine,
    NoticeLine,
    ThinkingText,
    ToolCard,
    UserMessage,
)
from tui.transcript.tool_card import tool_card_rows
from tui.transcript.tool_cards import LIVE_OUTPUT_CHARS
from tui.transcript.transcript_model import TranscriptModel

ids = st.sampled_from(["u1", "u2", "u3"])
uids = st.sampled_from(["m1", "m2"])
words = st.text(st.sampled_from("ab \n漢🎉\x1b[31m\u202e"), max_size=12)
agents = st.sampled_from([None, None, None, "a1"])
T = "t1"

events: st.SearchStrategy[AgentEvent] = st.one_of(
    st.builds(RequestStart, st.just(T), st.just(1), st.just("m"), agent_id=agents),
    st.builds(TextDelta, st.just(T), uids, st.integers(0, 1), words, agent_id=agents),
    st.builds(ThinkingDelta, st.just(T), uids, st.integers(0, 1), words, agent_id=agents),
    st.builds(ToolInputDelta, st.just(T), uids, ids, st.just("Bash"), words, agent_id=agents),
    st.builds(
        ToolDispatch,
        st.just(T),
        ids,
        st.sampled_from(["Bash", "Agent"]),
        st.just({}),
        words,
        agent_id=agents,
    ),
    st.builds(ToolProgress, st.just(T), ids, words, agent_id=agents),
    st.builds(
        ToolResult,
        st.just(T),
        ids,
        st.just("Bash"),
        words,
        st.booleans(),
        st.floats(0, 9),
        st.sampled_from(["ok", "failed", "denied", "interrupted", "invalid"]),
        agent_id=agents,
    ),
    st.builds(
        PermissionRequested,
        st.just(T),
        st.just("r"),
        ids,
        st.just("Bash"),
        st.just({}),
        st.just(DENIED),
    ),
    st.builds(PermissionResolved, st.just(T), st.just("r"), ids, st.just(DENIED)),
    st.builds(HookStarted, st.just(T), st.just("Stop"), st.sampled_from([None, "check"])),
    st.builds(HookFinished, st.just(T), st.just("Stop"), st.just("ok"), st.tuples(words)),
    st.builds(
        UsageUpdate,
        st.just(T),
        st.just(Usage(1, 2)),
        st.just(Usage(1, 2)),
        st.just(0.1),
        st.just(5),
        st.just(10),
    ),
    st.builds(RetryScheduled, st.just(T), st.just(2), st.just(9), st.floats(0, 9), words),
    st.builds(ModelFallback, st.just(T), st.just("a"), st.just("b"), words),
    st.builds(Compacted, st.just(T), st.just("auto"), st.just(9), st.just(1), words),
    st.builds(Tombstone, st.just(T), uids, words),
    st.builds(Notice, st.just(T), st.sampled_from(["info", "warning", "error"]), words),
    st.builds(MessageCommitted, st.just(T), st.builds(user_message, words)),
    st.builds(Complete, st.just(T), uids, st.none(), st.just(Usage())),
    st.builds(ErrorEvent, st.just(T), st.just("auth"), words),
    st.builds(Terminal, st.just(T), st.sampled_from(["completed", "aborted_tools", "refusal"])),
)


def folded(sequence: list[AgentEvent]) -> TranscriptModel:
    document = TranscriptModel()
    for at, event in enumerate(sequence):
        document.apply(event, at_s=float(at))
    return document


@given(st.lists(events, max_size=40))
def test_folding_is_total_and_deterministic(sequence: list[AgentEvent]) -> None:
    first, second = folded(sequence), folded(sequence)
    assert (first.blocks, first.activity, first.figures) == (
        second.blocks,
        second.activity,
        second.figures,
    )
    keys = [block.key for block in first.blocks]
    assert len(set(keys)) == len(keys)
    texts = [value for b in first.blocks for value in astuple(b) if isinstance(value, str)]
    assert [text for text in texts if "\x1b" in text or "\u202e" in text] == []


@given(st.lists(events, max_size=30), st.lists(events, max_size=10))
def test_blocks_before_the_first_changed_are_the_same_objects(
    before: list[AgentEvent], after: list[AgentEvent]
) -> None:
    document = folded(before)
    document.take_first_changed()
    kept = list(document.blocks)
    for event in after:
        document.apply(event, at_s=99.0)
    first = document.take_first_changed()
    end = len(kept) if first is None else first
    assert all(a is b for a, b in zip(kept[:end], document.blocks[:end], strict=True))


def test_text_grows_and_settles() -> None:
    document = folded([TextDelta(T, "m1", 0, "Hel"), TextDelta(T, "m1", 0, "lo")])
    assert document.blocks == [AssistantText("m1:0", "Hello", is_streaming=True)]
    document.apply(Complete(T, "m1", "end_turn", Usage()), at_s=1.0)
    assert document.blocks == [AssistantText("m1:0", "Hello", is_streaming=False)]
    assert document.last_answer == "Hello"


def test_an_escape_sequence_cut_in_two_is_dropped_whole() -> None:
    document = folded([TextDelta(T, "m1", 0, "a\x1b]0;ti"), TextDelta(T, "m1", 0, "tle\x07b")])
    assert document.blocks == [AssistantText("m1:0", "ab", is_streaming=True)]


def test_a_tombstone_takes_a_failed_attempt_away() -> None:
    document = folded(
        [
            Notice(T, "info", "before"),
            ThinkingDelta(T, "m1", 0, "hm"),
            TextDelta(T, "m1", 1, "half"),
            ToolInputDelta(T, "m1", "u1", "Bash", ""),
            Tombstone(T, "m1", "overloaded"),
            TextDelta(T, "m2", 0, "whole"),
        ]
    )
    assert [type(b) for b in document.blocks] == [NoticeLine, AssistantText]


def test_a_call_is_one_card_from_announcement_to_result() -> None:
    diff = DiffDisplay("a.py", "x\r\n", "y\n")
    document = folded(
        [
            ToolInputDelta(T, "m1", "u1", "Edit", ""),
            ToolDispatch(T, "u1", "Edit", {"file_path": "a.py"}, "Edit a.py"),
            ToolResult(T, "u1", "Edit", "done", False, 0.5, "ok", "Edit a.py", diff),
        ]
    )
    (card,) = document.blocks
    assert isinstance(card, ToolCard)
    assert (card.state, card.identifier, card.elapsed_s) == ("ok", "Edit a.py", 0.5)
    assert card.display == DiffDisplay("a.py", "x\n", "y\n")


def test_a_call_that_waits_or_is_never_run_says_what_it_is() -> None:
    call = {"type": "tool_use", "id": "u1", "name": "Bash", "input": {"command": "rm -r build"}}
    message = Message("assistant", (call,), origin="model", uid="m1")
    document = folded([ToolInputDelta(T, "m1", "u1", "Bash", ""), MessageCommitted(T, message)])
    (card,) = document.blocks
    assert isinstance(card, ToolCard)
    assert (card.state, card.identifier) == ("writing", "Bash rm -r build")


def test_hidden_characters_of_an_identifier_and_a_change_are_revealed() -> None:
    diff = DiffDisplay("a\u202e.py", "", "x\u200by")
    document = folded(
        [ToolResult(T, "u1", "Edit", "", False, 0.0, "ok", "Edit a\u202e\nb.py", diff)]
    )
    (card,) = document.blocks
    assert isinstance(card, ToolCard)
    assert card.identifier == "Edit aU+202E b.py"
    assert card.display == DiffDisplay("aU+202E.py", "", "xU+200By")


def test_live_output_is_bounded_and_counts_what_it_dropped() -> None:
    document = folded([ToolDispatch(T, "u1", "Bash", {}, "Bash yes")])
    for _ in range(50):
        document.apply(ToolProgress(T, "u1", "0123456\n" * 1000), at_s=1.0)
    (card,) = document.blocks
    assert isinstance(card, ToolCard)
    assert len(card.output) <= LIVE_OUTPUT_CHARS
    assert card.dropped_lines + card.output.count("\n") == 50_000


def test_a_prompt_is_shown_once() -> None:
    document = TranscriptModel()
    document.add_prompt("hello", at_s=1.0)
    document.apply(MessageCommitted(T, user_message("hello")), at_s=1.0)
    document.apply(MessageCommitted(T, user_message("queued")), at_s=1.0)
    assert [b.text for b in document.blocks if isinstance(b, UserMessage)] == ["hello", "queued"]


def test_what_continues_is_known_and_ends() -> None:
    document = TranscriptModel()
    document.add_prompt("hello", at_s=5.0)
    document.apply(RequestStart(T, 1, "m"), at_s=6.0)
    assert (document.activity.phase, document.activity.started_at_s) == ("requesting", 5.0)
    document.apply(RetryScheduled(T, 2, None, 4.0, "overloaded"), at_s=7.0)
    assert document.activity.retry is not None
    assert document.activity.retry.until_s == 11.0
    document.apply(TextDelta(T, "m", 0, "x" * 40), at_s=12.0)
    activity = document.activity
    assert (activity.phase, activity.output_tokens) == ("writing", 10)
    assert activity.retry is None
    document.apply(Terminal(T, "aborted_streaming"), at_s=13.0)
    assert not document.activity.is_working
    assert isinstance(document.blocks[-1], EndLine)


def test_why_a_prompt_was_refused_is_reported_once() -> None:
    document = TranscriptModel()
    document.add_prompt("hello", at_s=5.0)
    document.apply(Notice(T, "warning", "Prompt not sent: no"), at_s=6.0)
    document.apply(Terminal(T, "stop_hook_prevented", "no"), at_s=6.0)
    assert not document.activity.is_working
    document.apply(Terminal(T, "stop_hook_prevented", "no", turns=1), at_s=7.0)
    assert [type(block) for block in document.blocks[1:]] == [NoticeLine, EndLine]


def test_a_call_that_waits_names_its_file_as_seen_from_the_directory() -> None:
    document = TranscriptModel()
    document.directory = "/home/me/p"
    paths = ("/home/me/p/src/a.py", "/home/me/paper/b.py")
    calls = tuple(
        {"type": "tool_use", "id": f"u{n}", "name": "Edit", "input": {"file_path": path}}
        for n, path in enumerate(paths)
    )
    for n in range(2):
        document.apply(ToolInputDelta(T, "m1", f"u{n}", "Edit", "{"), at_s=0.0)
    document.apply(MessageCommitted(T, Message("assistant", calls, "model", uid="m1")), at_s=0.0)
    shown = [card.identifier for card in document.blocks if isinstance(card, ToolCard)]
    assert shown == ["Edit src/a.py", "Edit /home/me/paper/b.py"]


def test_an_interrupted_run_leaves_nothing_moving() -> None:
    document = folded(
        [
            TextDelta(T, "m1", 0, "half"),
            ToolDispatch(T, "u1", "Bash", {}, "Bash sleep"),
            Terminal(T, "completed"),
        ]
    )
    text, card = document.blocks[:2]
    assert isinstance(text, AssistantText)
    assert not text.is_streaming
    assert isinstance(card, ToolCard)
    assert card.state == "interrupted"


def test_a_sub_agent_is_summed_up_on_its_card() -> None:
    document = folded(
        [
            ToolDispatch(T, "u1", "Agent", {}, "Agent find"),
            ToolDispatch("u1", "x1", "Grep", {}, "Grep slug", agent_id="a1"),
            TextDelta("u1", "m9", 0, "inner", agent_id="a1"),
            Terminal("u1", "completed", agent_id="a1"),
        ]
    )
    (card,) = document.blocks
    assert isinstance(card, ToolCard)
    assert card.agent is not None
    assert (card.state, card.agent.tool_count, card.agent.last_line) == ("running", 1, "Grep slug")


@pytest.mark.parametrize(
    "text",
    [
        INTERRUPTED_NOTE,
        INTERRUPTED_FOR_TOOL_NOTE,
        interrupted_text(AbortController().signal),
    ],
)
def test_an_interrupted_call_of_a_resumed_conversation_shows_no_words_for_the_model(
    text: str,
) -> None:
    call = {"type": "tool_use", "id": "u1", "name": "Bash", "input": {"command": "make"}}
    results = tool_results_message([tool_result_block("u1", text, is_error=True)])
    document = TranscriptModel()
    document.restore([user_message("hi"), Message("assistant", (call,), "model"), results])
    card = document.blocks[-1]
    assert isinstance(card, ToolCard)
    rows = tool_card_rows(card, 80, is_detailed=True, highlighter=Highlighter())
    assert [row.text.strip(" └") for row in rows[1:]] == ["Interrupted"]


def test_a_resumed_conversation_is_shown_from_its_messages() -> None:
    call = {"type": "tool_use", "id": "u1", "name": "Bash", "input": {"command": "ls\nrm x"}}
    document = TranscriptModel()
    document.restore(
        [
            user_message("hi"),
            user_message("secret reminder", origin="reminder"),
            Message(
                "assistant",
                (
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "Let me look."},
                    call,
                ),
                "model",
            ),
            tool_results_message([tool_result_block("u1", "a.py", is_error=True)]),
        ]
    )
    person, thought, text, card = document.blocks
    assert isinstance(person, UserMessage)
    assert isinstance(thought, ThinkingText)
    assert text == AssistantText(text.key, "Let me look.", is_streaming=False)
    assert isinstance(card, ToolCard)
    assert (card.identifier, card.state, card.result) == ("Bash ls", "failed", "a.py")
    assert not document.activity.is_working


def test_the_task_list_is_kept() -> None:
    todos = TodoDisplay((TodoItem("a", "pending"),))
    document = folded([ToolResult(T, "u1", "TodoWrite", "", False, 0.0, "ok", "", todos)])
    assert document.todos == todos.items


def test_a_summary_makes_the_window_emptier_at_once() -> None:
    used = UsageUpdate(T, Usage(1, 2), Usage(1, 2), 0.1, 900, 1000)
    document = folded([used, Compacted(T, "manual", 900, 60, "s")])
    assert document.figures.context_tokens == 60


def test_going_back_leaves_no_number_of_what_is_gone() -> None:
    document = folded([UsageUpdate(T, Usage(1, 2), Usage(1, 2), 0.1, 900, 1000)])
    document.clear()
    assert (document.figures.context_tokens, document.figures.cost_usd) == (0, 0.1)


def test_another_conversation_starts_without_the_figures_of_the_last() -> None:
    todos = TodoDisplay((TodoItem("a", "pending"),))
    document = folded(
        [
            TextDelta(T, "m1", 0, "an answer"),
            UsageUpdate(T, Usage(1, 2), Usage(1, 2), 0.1, 5, 10),
            ToolResult(T, "u1", "TodoWrite", "", False, 0.0, "ok", display=todos),
            Terminal(T, "completed"),
        ]
    )
    document.start_over()
    assert (document.blocks, document.todos, document.last_answer) == ([], (), "")
    assert document.figures == TranscriptModel().figures


def test_a_long_answer_is_shown_in_parts_and_kept_as_one() -> None:
    whole = "\n\n".join(f"Paragraph {number} says something." for number in range(500))
    document = TranscriptModel()
    for start in range(0, len(whole), 97):
        document.apply(TextDelta(T, "m1", 0, whole[start : start + 97]), at_s=0.0)
    texts = [block for block in document.blocks if isinstance(block, AssistantText)]
    assert len(texts) > 3
    assert "".join(block.text for block in texts) == whole
    assert [block.is_streaming for block in texts] == [False] * (len(texts) - 1) + [True]
    document.apply(Complete(T, "m1", "end_turn", Usage()), at_s=0.0)
    assert document.last_answer == whole
    resumed = TranscriptModel()
    resumed.restore(
        [Message("assistant", ({"type": "text", "text": whole},), origin="model", uid="m1")]
    )
    assert resumed.blocks == document.blocks
    assert resumed.last_answer == whole


def test_parts_of_an_answer_stay_together_when_a_notice_comes_between() -> None:
    document = TranscriptModel()
    document.apply(TextDelta(T, "m1", 0, "First.\n\n" + "word " * 1_000), at_s=0.0)
    document.add_notice("info", "by the way")
    document.apply(TextDelta(T, "m1", 0, "\n\nSecond part.\n"), at_s=0.0)
    kinds = [type(block) for block in document.blocks]
    assert kinds == [AssistantText, AssistantText, NoticeLine]


def test_a_withdrawn_answer_goes_with_all_its_parts() -> None:
    document = TranscriptModel()
    text = "\n\n".join(f"Paragraph {number}." for number in range(1_000)) + "\n"
    document.apply(TextDelta(T, "m1", 0, text), at_s=0.0)
    document.apply(Tombstone(T, "m1", "retry"), at_s=0.0)
    assert document.blocks == []


def test_a_failing_hook_of_a_sub_agent_has_its_line() -> None:
    failed = HookFinished("t", "PreToolUse", "non_blocking_error", ("guard: no",), agent_id="a1")
    assert [block.notices for block in folded([failed]).blocks if isinstance(block, HookLine)] == [
        ("guard: no",)
    ]


def test_a_hook_is_waited_for_and_then_what_was_continues() -> None:
    document = folded([ToolDispatch(T, "u1", "Bash", {}, "Bash make")])
    before = document.activity
    document.apply(HookStarted(T, "PreToolUse", "Checking"), at_s=2.0)
    assert document.activity == replace(before, hook="Checking", hook_shown_from_s=2.0)
    document.apply(HookFinished(T, "PreToolUse", "success", ()), at_s=3.0)
    assert document.activity == before


def test_a_slow_hook_that_says_nothing_of_itself_is_named_after_a_second() -> None:
    document = folded([ToolDispatch(T, "u1", "Bash", {}, "Bash make")])
    document.apply(HookStarted(T, "PostToolUse"), at_s=2.0)
    verbs = [
        "".join(
            run[0] for run in activity_rows(ActivityView(document.activity, now_s), 80)[-1].runs
        )
        for now_s in (2.5, 3.5)
    ]
    assert "Working…" in verbs[0]
    assert "Running PostToolUse hooks…" in verbs[1]


def test_a_denial_names_the_place_of_its_rule_as_users_do() -> None:
    rule = RuleRef("Bash(ls)", "projectSettings", "/home/ada/slugs/.agent/settings.json", 3)
    denied = replace(
        DENIED,
        source=DecisionSource.PROJECT,
        rule=rule,
        message=f"the deny rule Bash(ls) applies (project settings, {rule.file}:3)",
    )
    document = TranscriptModel("/home/ada/slugs", "/home/ada")
    document.apply(ToolDispatch(T, "u1", "Bash", {}, "Bash ls"), at_s=0)
    document.apply(PermissionResolved(T, "r1", "u1", denied), at_s=0)
    (card,) = document.blocks
    assert isinstance(card, ToolCard)
    assert card.decision is not None
    said = "the deny rule Bash(ls) applies (project settings, .agent/settings.json:3)"
    assert card.decision.message == said
