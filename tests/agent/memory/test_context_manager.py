"""When the keeper compacts, by which means, and when it stops trying."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from agent.abort import AbortController, AbortSignal
from agent.history import HistoryPart, problems
from agent.memory.budget import MAX_FAILURES, ContextBudget, Pressure
from agent.memory.context_breakdown import context_breakdown
from agent.memory.context_manager import ContextManager, ContextManagerPorts
from agent.messages import (
    Message,
    text_block,
    tool_result_block,
    tool_results_message,
    user_message,
)
from agent.model.client import ModelError
from hooks.answers.outcome import EventOutcome

BUDGET = ContextBudget(window=20_000, max_output=4_000)


@dataclass
class Model:
    """Writes summaries, or fails."""

    text: str = "SUMMARY"
    error: ModelError | None = None
    asked: list[tuple[Message, ...]] = field(default_factory=list)

    async def summarize(
        self, messages: tuple[Message, ...], ask: Message, abort: AbortSignal
    ) -> str:
        self.asked.append((*messages, ask))
        if self.error is not None:
            raise self.error
        return self.text


@dataclass
class Hooks:
    """Hears of compactions, and may veto them."""

    veto: bool = False
    heard: list[str] = field(default_factory=list)

    async def pre_compact(self, trigger: str, instructions: str) -> EventOutcome | None:
        self.heard.append(f"pre {trigger} {instructions}".strip())
        return EventOutcome("PreCompact", decision="block", reason="no") if self.veto else None

    async def post_compact(self, trigger: str, summary: str) -> None:
        self.heard.append(f"post {trigger} {summary}")


def keeper(model: Model, hooks: Hooks | None = None) -> ContextManager:
    return ContextManager(
        ContextManagerPorts(
            budget=lambda: BUDGET,
            prefix_tokens=lambda: 1_000,
            turn_id=lambda: "turn",
            summary=model,
            hooks=hooks,
        )
    )


def talk(tokens: int, *, results: bool = False) -> tuple[Message, ...]:
    """Return an exchange of about that size, in answers or in tool results."""
    messages: list[Message] = [user_message("EARLY: never use tabs")]
    for number in range(tokens // 500):
        call = {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {}}
        long, short = "word " * 360, "ok"
        said = (text_block(short if results else long), call)
        messages.append(Message("assistant", said, "model"))
        result = tool_result_block(f"c{number}", long * 2 if results else short)
        messages.append(tool_results_message([result]))
        messages.append(Message("assistant", (text_block("so"),), "model"))
        messages.append(user_message(f"prompt {number}"))
    return tuple(messages)


def abort() -> AbortSignal:
    return AbortController().signal


@pytest.mark.parametrize(
    ("tokens", "pressure"),
    [
        (0, "none"),
        (13_599, "none"),
        (13_600, "compact"),
        (15_200, "critical"),
    ],
)
def test_thresholds(tokens: int, pressure: str) -> None:
    assert BUDGET.effective == 16_000
    assert BUDGET.pressure(tokens) is Pressure(pressure)


def test_a_user_may_want_less_of_the_window() -> None:
    budget = ContextBudget(window=200_000, max_output=4_000, wanted_tokens=20_000)
    assert budget.pressure(13_599) is Pressure.NONE
    assert budget.pressure(13_600) is Pressure.COMPACT
    # There is room enough to ask for a summary all the same.
    assert budget.pressure(100_000) is Pressure.COMPACT
    assert budget.target == 8_000
    assert ContextBudget(20_000, 4_000, wanted_tokens=90_000).trigger == BUDGET.trigger


async def test_with_room_nothing_happens() -> None:
    model = Model()
    assert await keeper(model).before_request(talk(2_000), 3_000, abort()) is None
    assert model.asked == []


async def test_old_results_go_before_a_model_is_asked() -> None:
    model = Model()
    messages = talk(7_000, results=True)
    step = await keeper(model).before_request(messages, 14_500, abort())
    assert step is not None
    assert step.event is not None
    assert step.event.means == "shortening"
    said = "To save room: older tool results shortened (Read, Read, Read and "
    assert step.event.summary.startswith(said)
    assert model.asked == []
    assert problems(step.messages) == ()


async def test_a_summary_replaces_the_past_and_keeps_early_instructions() -> None:
    model, hooks = Model(), Hooks()
    messages = talk(14_000)
    step = await keeper(model, hooks).before_request(messages, 14_000, abort())
    assert step is not None
    assert step.event is not None
    assert (step.event.trigger, step.event.turn_id) == ("auto", "turn")
    assert step.event.tokens_after < BUDGET.target + 1_500 < step.event.tokens_before
    assert problems(step.messages) == ()
    assert "SUMMARY" in step.messages[0].text
    assert "EARLY: never use tabs" in step.messages[0].text
    assert step.messages[-1] == messages[-1]
    # The request begins with the very same messages, so that the cache serves it.
    assert model.asked[0][: len(messages)] == messages
    assert hooks.heard == ["pre auto", "post auto SUMMARY"]


async def test_a_hook_can_stop_it() -> None:
    model = Model()
    messages = talk(14_000)
    step = await keeper(model, Hooks(veto=True)).before_request(messages, 14_000, abort())
    assert step is not None
    assert (step.messages, step.event) == (messages, None)
    assert "A hook stopped" in step.notices[0]
    assert model.asked == []


async def test_after_three_failures_it_stops_trying_and_reports_it_once() -> None:
    model = Model(error=ModelError("overloaded_error", "Overloaded."))
    mine, messages = keeper(model), talk(14_000)
    for _ in range(MAX_FAILURES):
        step = await mine.before_request(messages, 14_000, abort())
        assert step is not None
        assert (step.messages, step.event) == (messages, None)
    step = await mine.before_request(messages, 14_000, abort())
    assert step is not None
    assert "failed 3 times" in step.notices[0]
    assert await mine.before_request(messages, 14_000, abort()) is None
    assert len(model.asked) == MAX_FAILURES


async def test_a_refused_prompt_is_compacted_once_in_a_session() -> None:
    model = Model(error=ModelError("invalid_request_error", "prompt is too long"))
    mine, messages = keeper(model), talk(30_000)
    step = await mine.after_overflow(messages, abort())
    assert step is not None
    assert step.event is not None
    assert step.event.trigger == "reactive"
    assert problems(step.messages) == ()
    assert "EARLY: never use tabs" in step.messages[0].text
    assert await mine.after_overflow(messages, abort()) is None


async def test_at_the_edge_of_the_window_the_outline_serves_when_nothing_fits() -> None:
    model = Model()
    step = await keeper(model).before_request(talk(30_000), 30_000, abort())
    assert step is not None
    assert step.event is not None
    assert model.asked == []
    assert "without a summary" in step.notices[0]


async def test_near_the_edge_a_summary_that_still_fits_is_asked_for() -> None:
    model = Model()
    messages = talk(13_000)
    step = await keeper(model).before_request(messages, 15_500, abort())
    assert BUDGET.pressure(15_500) is Pressure.CRITICAL
    assert step is not None
    assert step.event is not None
    assert len(model.asked) == 1
    assert step.notices == ()
    assert "SUMMARY" in step.messages[0].text


async def test_a_summary_that_is_too_long_leaves_the_outline() -> None:
    model = Model("word " * 6_000)
    step = await keeper(model).before_request(talk(13_000), 15_500, abort())
    assert step is not None
    assert step.event is not None
    assert "Its summary is too long" in step.notices[0]
    assert "word word" not in step.messages[0].text


async def test_after_three_failures_a_full_window_still_gets_its_outline() -> None:
    model = Model(error=ModelError("overloaded_error", "Overloaded."))
    mine, messages = keeper(model), talk(13_000)
    for _ in range(MAX_FAILURES):
        await mine.before_request(messages, 14_000, abort())
    step = await mine.before_request(messages, 15_500, abort())
    assert step is not None
    assert step.event is not None
    assert "without a summary" in step.notices[0]
    assert len(model.asked) == MAX_FAILURES


async def test_by_wish_with_a_focus() -> None:
    model, hooks = Model(), Hooks()
    mine = keeper(model, hooks)
    step = await mine.compact(talk(6_000), "the API", abort())
    assert step is not None
    assert "keep in particular: the API" in model.asked[0][-1].text
    assert hooks.heard[0] == "pre manual the API"
    assert await mine.compact(talk(0), "", abort()) is None


async def test_a_short_exchange_is_not_paid_for() -> None:
    model = Model()
    short = (*talk(0), Message("assistant", (text_block("hello " * 20),), "model"))
    assert await keeper(model).compact((*short, user_message("and?")), "", abort()) is None
    assert model.asked == []
    step = await keeper(Model(text="word " * 9_000)).compact(talk(6_000), "", abort())
    assert step is not None
    assert step.notices == (
        "The summary would take as much room as the conversation, which stays as it is.",
    )


async def test_a_compaction_that_brings_nothing_counts_as_failed() -> None:
    model = Model(text="word " * 40_000)
    mine, messages = keeper(model), talk(14_000)
    step = await mine.before_request(messages, 14_000, abort())
    assert step is not None
    assert step.event is None
    assert mine.state.consecutive_failures == 1


async def test_switched_off_it_leaves_the_history_alone() -> None:
    ports = replace(keeper(Model())._ports, is_automatic=lambda: False)
    assert await ContextManager(ports).before_request(talk(14_000), 99_000, abort()) is None


def test_the_picture_adds_up_and_is_scaled_to_what_was_measured() -> None:
    messages = talk(2_000, results=True)
    seen = context_breakdown(
        (text_block("s" * 400),), ({"name": "x"},), messages, window=9, measured_tokens=5_000
    )
    assert seen.slices[0].name == "Tool results"
    assert abs(seen.used_tokens - 5_000) <= len(seen.slices)
    assert seen.used_tokens == sum(part.tokens for part in seen.slices)


@dataclass
class Signing:
    """An endpoint that signs summaries, or refuses to."""

    error: ModelError | None = None
    asked: list[tuple[Message, ...]] = field(default_factory=list)

    def is_available(self) -> bool:
        return True

    async def compact(
        self, messages: tuple[Message, ...], focus: str, abort: AbortSignal
    ) -> Message:
        self.asked.append(messages)
        if self.error is not None:
            raise self.error
        return Message("user", ({"type": "compaction", "content": "SIGNED"},), "summary")


def signing_keeper(model: Model, signing: Signing) -> ContextManager:
    ports = ContextManagerPorts(
        budget=lambda: BUDGET,
        prefix_tokens=lambda: 1_000,
        turn_id=lambda: "turn",
        summary=model,
        endpoint_summary=signing,
    )
    return ContextManager(ports)


def thinking_talk() -> tuple[Message, ...]:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    return tuple(
        replace(m, content=(thought, *m.content)) if m.role == "assistant" else m
        for m in talk(14_000)
    )


async def test_a_signed_summary_keeps_what_follows_as_it_was() -> None:
    model, signing = Model(), Signing()
    history = thinking_talk()
    step = await signing_keeper(model, signing).before_request(history, 14_500, abort())
    assert step is not None
    assert step.event is not None
    assert step.event.summary == "SIGNED"
    assert step.messages[1:] == history[len(signing.asked[0]) :]
    assert signing.asked[0][-1].role == "assistant"
    assert model.asked == []
    assert not problems(step.messages)


async def test_where_the_endpoint_signs_nothing_the_model_summarizes() -> None:
    model, signing = Model(), Signing(ModelError("invalid_request_error", "no", status=400))
    step = await signing_keeper(model, signing).before_request(thinking_talk(), 14_500, abort())
    assert step is not None
    assert "SUMMARY" in step.messages[0].text
    assert signing.asked
    assert model.asked


def prompts(messages: tuple[Message, ...]) -> list[Message]:
    return [message for message in messages if message.origin == "person"]


async def test_what_came_before_a_prompt_is_summarized_and_the_rest_stays() -> None:
    model, hooks, messages = Model(), Hooks(), talk(6_000)
    last = prompts(messages)[-1]
    step = await keeper(model, hooks).compact_range(
        messages, HistoryPart(last.uid, "before"), abort()
    )
    assert step is not None
    assert step.event is not None
    at = messages.index(last)
    assert model.asked[0][:-1] == messages[:at]
    assert step.messages[0].origin == "summary"
    assert [m.uid for m in step.messages[1:]] == [m.uid for m in messages[at:]]
    assert problems(step.messages) == ()
    assert (step.event.summary, step.event.kept_count) == ("SUMMARY", len(messages) - at)
    assert hooks.heard == ["pre manual", "post manual SUMMARY"]


async def test_what_came_since_a_prompt_is_summarized_and_the_start_stays() -> None:
    model, messages = Model(), talk(6_000)
    second = prompts(messages)[1]
    step = await keeper(model).compact_range(messages, HistoryPart(second.uid, "since"), abort())
    assert step is not None
    at = messages.index(second)
    assert model.asked[0][:-1] == messages
    assert "only what happened since" in model.asked[0][-1].text
    assert step.messages[:-1] == messages[:at]
    assert "SUMMARY" in step.messages[-1].text
    assert " ".join(second.text.split())[:20] in step.messages[-1].text
    assert problems(step.messages) == ()


async def test_a_part_that_cannot_be_summarized_leaves_everything_as_it_is() -> None:
    messages = talk(6_000)
    first = prompts(messages)[0]
    mine = keeper(Model(error=ModelError("overloaded_error", "Overloaded.")))
    gone = await mine.compact_range(messages, HistoryPart("gone", "since"), abort())
    failed = await mine.compact_range(messages, HistoryPart(first.uid, "since"), abort())
    nothing = await mine.compact_range(messages, HistoryPart(first.uid, "before"), abort())
    assert gone is not None
    assert failed is not None
    assert (gone.messages, failed.messages, nothing) == (messages, messages, None)
    assert "behind a summary" in gone.notices[0]
    assert "stays as it is" in failed.notices[0]
