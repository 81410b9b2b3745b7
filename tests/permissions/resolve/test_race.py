"""The race: one winner, losers ended before it is told, whatever the order of arrival."""

from __future__ import annotations

import asyncio
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from permissions.decision import Behavior, Decision
from permissions.resolve.race import RaceAborted, RaceResult, race
from tests.examples import examples
from tests.permissions.resolving import (
    NO,
    PENDING,
    REQUEST,
    UNSURE,
    YES,
    FakeAbort,
    Scripted,
    at_once,
)

NAMES = ("hook", "classifier", "bridge", "channel", "dialog")


def answer_of(name: str) -> Decision:
    return replace(YES, message=name)


@pytest.mark.parametrize("order", list(permutations(NAMES[:4])), ids="-".join)
async def test_the_first_to_answer_wins_in_every_order(order: tuple[str, ...]) -> None:
    contenders = {name: Scripted(name, answer_of(name)) for name in NAMES}
    running = asyncio.ensure_future(race(list(contenders.values()), REQUEST, PENDING, FakeAbort()))
    for contender in contenders.values():
        await contender.started.wait()
    for name in order:
        contenders[name].go.set()
        result = await running

    assert result.winner == order[0]
    assert result.decision == answer_of(order[0])
    assert {c.ended for n, c in contenders.items() if n != order[0]} == {"cancelled"}


@pytest.mark.parametrize("first", range(len(NAMES)))
async def test_a_tie_goes_to_the_earlier_contender(first: int) -> None:
    tied = [at_once(name, answer_of(name)) for name in NAMES[first:]]
    result = await race(
        [*(Scripted(name) for name in NAMES[:first]), *tied], REQUEST, PENDING, FakeAbort()
    )
    assert result.winner == NAMES[first]


async def test_no_opinion_and_unsure_wait_for_the_next() -> None:
    dialog = Scripted("dialog", NO)
    running = asyncio.ensure_future(
        race(
            [at_once("hook", None), at_once("classifier", UNSURE), dialog],
            REQUEST,
            PENDING,
            FakeAbort(),
        )
    )
    await dialog.started.wait()
    assert not running.done()
    dialog.go.set()

    result = await running

    assert (result.decision, result.winner) == (NO, "dialog")
    assert [(one.name, one.unsure, one.failure) for one in result.undecided_contenders] == [
        ("hook", None, None),
        ("classifier", UNSURE, None),
    ]


async def test_a_failure_is_no_opinion_and_is_reported() -> None:
    result = await race(
        [
            at_once("hook", OSError("no shell")),
            at_once("bridge", asyncio.CancelledError()),
            at_once("dialog", NO),
        ],
        REQUEST,
        PENDING,
        FakeAbort(),
    )
    assert (result.winner, result.decision) == ("dialog", NO)
    assert {(h.name, h.failure) for h in result.undecided_contenders} == {
        ("hook", "OSError: no shell"),
        ("bridge", "cancelled"),
    }


async def test_no_one_with_an_opinion_is_no_decision() -> None:
    everybody = [at_once("hook", None), at_once("dialog", RuntimeError("screen gone"))]
    result = await race(everybody, REQUEST, PENDING, FakeAbort())
    assert (result.decision, result.winner) == (None, None)
    assert await race([], REQUEST, PENDING, FakeAbort()) == RaceResult(None, None)


async def test_an_abort_ends_everyone_before_it_is_reported() -> None:
    abort = FakeAbort()
    contenders = [Scripted(name) for name in NAMES]
    running = asyncio.ensure_future(race(contenders, REQUEST, PENDING, abort))
    await contenders[-1].started.wait()
    abort.fire()

    with pytest.raises(RaceAborted):
        await running

    assert {contender.ended for contender in contenders} == {"cancelled"}


async def test_an_abort_beats_an_answer_of_the_same_moment() -> None:
    abort = FakeAbort()
    dialog = Scripted("dialog", YES)
    running = asyncio.ensure_future(race([dialog], REQUEST, PENDING, abort))
    await dialog.started.wait()
    dialog.go.set()
    abort.fire()
    with pytest.raises(RaceAborted):
        await running


async def test_after_an_abort_no_one_is_asked() -> None:
    abort = FakeAbort()
    abort.fire()
    dialog = at_once("dialog")
    with pytest.raises(RaceAborted):
        await race([dialog], REQUEST, PENDING, abort)
    assert not dialog.started.is_set()


async def test_a_losers_effects_end_before_the_winner_is_notified() -> None:
    effects: list[str] = []
    slow = Scripted("bridge", cleanup=lambda: effects.append("closed"))
    await race([at_once("hook"), slow], REQUEST, PENDING, FakeAbort())
    assert effects == ["closed"]
    # Let anything left over run: nothing more may come.
    slow.go.set()
    await asyncio.sleep(0)
    assert (effects, slow.ended) == (["closed"], "cancelled")


async def test_a_loser_that_fails_while_it_is_cancelled_changes_nothing() -> None:
    def broken() -> None:
        raise RuntimeError("clean-up failed")

    result = await race(
        [at_once("hook"), Scripted("dialog", cleanup=broken)], REQUEST, PENDING, FakeAbort()
    )
    assert result.winner == "hook"


async def test_a_cancelled_race_ends_its_contenders_and_stays_cancelled() -> None:
    contenders = [Scripted("hook"), Scripted("dialog")]
    running = asyncio.ensure_future(race(contenders, REQUEST, PENDING, FakeAbort()))
    await contenders[1].started.wait()
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()  # a second one, while the losers still clean up
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [contender.ended for contender in contenders] == ["cancelled", "cancelled"]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(0, 4)),
        st.tuples(st.just("abort"), st.just(0)),
        st.tuples(st.just("pass"), st.just(0)),
    ),
    max_size=8,
)
ANSWERS = st.lists(st.sampled_from([YES, NO, UNSURE, None, "fail"]), min_size=5, max_size=5)


@settings(max_examples=examples(150), deadline=None)
@given(answers=ANSWERS, steps=STEPS)
def test_any_schedule_has_one_winner_or_none_and_leaves_no_one_running(
    answers: list[Decision | str | None], steps: list[tuple[str, int]]
) -> None:
    async def play() -> None:
        abort = FakeAbort()
        contenders = [
            Scripted(name, RuntimeError("x") if isinstance(answer, str) else answer)
            for name, answer in zip(NAMES, answers, strict=True)
        ]
        running = asyncio.ensure_future(race(contenders, REQUEST, PENDING, abort))
        for what, number in steps:
            if what == "answer":
                contenders[number].go.set()
            elif what == "abort":
                abort.fire()
            else:
                await asyncio.sleep(0)
        await asyncio.sleep(0)
        for contender in contenders:
            contender.go.set()
        try:
            result = await running
        except RaceAborted:
            assert abort.aborted
        else:
            decisive = [
                c.name
                for c in contenders
                if isinstance(c.answer, Decision) and c.answer.behavior is not Behavior.ASK
            ]
            assert (result.winner is None) == (not decisive)
            assert result.winner is None or result.winner in decisive
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(play())
