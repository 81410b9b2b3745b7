"""The merge: any veto is a veto, nothing depends on who finished first, nothing is lost."""

from __future__ import annotations

from typing import cast, get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hooks.answers.answer import Answer, Verdict
from hooks.answers.outcome import PRECEDENCE, aggregate
from hooks.answers.response import HandlerOutcome as Outcome
from hooks.answers.response import HandlerResult, settle
from hooks.config.spec import CommandHandler, HandlerSpec, HookSource
from hooks.events.capabilities import EFFECTS
from tests.examples import examples

VERDICTS = cast("tuple[Verdict, ...]", get_args(Verdict))
texts = st.text(alphabet="abc ", min_size=1, max_size=5).filter(str.strip)
answers = st.builds(
    Answer,
    verdict=st.sampled_from([None, *VERDICTS]),
    reason=st.none() | texts,
    proceed=st.booleans(),
    stop_reason=st.none() | texts,
    updated_input=st.none() | st.dictionaries(texts, texts, max_size=2),
    additional_context=st.none() | texts,
    system_message=st.none() | texts,
    retry=st.booleans(),
)
failures = st.sampled_from([Outcome.NON_BLOCKING_ERROR, Outcome.CANCELLED, Outcome.ASYNC])
events = st.sampled_from(list(EFFECTS))


@st.composite
def results_of(draw: st.DrawFn) -> tuple[str, list[HandlerResult]]:
    event = draw(events)
    results = []
    for position in range(draw(st.integers(0, 5))):
        spec = HandlerSpec(event, None, CommandHandler(f"h{position}"), HookSource.USER, position)
        run = HandlerResult(spec, Outcome.SUCCESS)
        if draw(st.booleans()):
            results.append(settle(replace(run, answer=draw(answers)), EFFECTS[event]))
        else:
            results.append(replace(run, outcome=draw(failures)))
    return event, results


@settings(max_examples=examples(200))
@given(results_of())
def test_the_strictest_decision_is_the_events(given_: tuple[str, list[HandlerResult]]) -> None:
    event, results = given_
    said = [r.answer.verdict for r in results if r.answer.verdict is not None]
    outcome = aggregate(event, results)
    if event == "WorktreeCreate" and results and not said:
        assert outcome.decision == "block"
        return
    assert outcome.decision == min(said, key=PRECEDENCE.index, default="none")
    if any(word in ("deny", "block") for word in said):
        assert outcome.outcome == "blocking"
        assert outcome.updated_input is None
        assert outcome.reason


@settings(max_examples=examples(200))
@given(results_of())
def test_one_continue_false_ends_the_turn(given_: tuple[str, list[HandlerResult]]) -> None:
    event, results = given_
    outcome = aggregate(event, results)
    assert outcome.continue_ is all(result.answer.proceed for result in results)
    if not outcome.continue_:
        assert outcome.outcome == "blocking"


@settings(max_examples=examples(200))
@given(results_of(), st.randoms(use_true_random=False))
def test_verdicts_do_not_depend_on_order(
    given_: tuple[str, list[HandlerResult]], random: object
) -> None:
    event, results = given_
    shuffled = list(results)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types it as object
    one, other = aggregate(event, results), aggregate(event, shuffled)
    for name in ("outcome", "decision", "proceeds", "continue_", "retry", "spawn_count"):
        assert getattr(one, name) == getattr(other, name)
    assert sorted(one.system_messages) == sorted(other.system_messages)


@settings(max_examples=examples(200))
@given(results_of())
def test_all_contexts_are_kept_in_configuration_order(
    given_: tuple[str, list[HandlerResult]],
) -> None:
    event, results = given_
    said = [r.answer.additional_context for r in results if r.answer.additional_context]
    assert aggregate(event, results).additional_context == ("\n\n".join(said) or None)


@settings(max_examples=examples(200))
@given(results_of())
def test_the_last_configured_rewrite_counts(given_: tuple[str, list[HandlerResult]]) -> None:
    event, results = given_
    outcome = aggregate(event, results)
    rewrites = [r.answer.updated_input for r in results if r.answer.updated_input is not None]
    if outcome.decision in ("deny", "block") or not rewrites:
        assert outcome.updated_input is None
    else:
        assert outcome.updated_input == rewrites[-1]


@settings(max_examples=examples(100))
@given(results_of(), st.data())
def test_adding_a_handler_never_lifts_a_veto(
    given_: tuple[str, list[HandlerResult]], data: st.DataObject
) -> None:
    event, results = given_
    before = aggregate(event, results)
    if before.outcome != "blocking" or event == "WorktreeCreate":
        return
    spec = HandlerSpec(event, None, CommandHandler("more"), HookSource.USER, 9)
    more = settle(HandlerResult(spec, Outcome.SUCCESS, answer=data.draw(answers)), EFFECTS[event])
    assert aggregate(event, [*results, more]).outcome == "blocking"


def test_a_worktree_without_a_path_keeps_no_rewrite() -> None:
    spec = HandlerSpec("WorktreeCreate", None, CommandHandler("h"), HookSource.USER, 0)
    result = HandlerResult(spec, Outcome.SUCCESS, answer=Answer(updated_input={}))
    outcome = aggregate("WorktreeCreate", [result])
    assert (outcome.decision, outcome.updated_input) == ("block", None)
