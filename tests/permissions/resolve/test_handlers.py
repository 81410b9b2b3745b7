"""The handlers: who is heard about which ask, in which order, and what of an answer stands."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType, TraceStep
from permissions.request import PermissionRequest
from permissions.resolve.denial_limits import (
    MAX_CONSECUTIVE_DENIALS,
    MAX_TOTAL_DENIALS,
    DenialState,
)
from permissions.resolve.handlers import (
    CoordinatorHandler,
    Handler,
    HeadlessHandler,
    InteractiveHandler,
)
from permissions.resolve.local_first import LocalFirst
from permissions.resolve.mailbox import WorkerHandler
from permissions.resolve.race import RaceAborted
from tests.permissions.resolving import (
    MODE_ENTRY,
    NO,
    PENDING,
    REQUEST,
    UNSURE,
    YES,
    FakeAbort,
    Scripted,
    at_once,
    pending,
)

FRESH = DenialState()
PERSON_ONLY = [
    reason
    for reason in Reason
    if reason not in {Reason.MODE_DEFAULT, Reason.ASK_RULE} and not reason.startswith("deny")
]


async def resolve(
    handler: Handler,
    ask: Decision = PENDING,
    denials: DenialState = FRESH,
    abort: FakeAbort | None = None,
) -> Decision:
    return await handler.resolve(REQUEST, ask, abort or FakeAbort(), denials)


@pytest.mark.parametrize("reason", PERSON_ONLY)
@pytest.mark.parametrize("name", ["hook", "classifier", "model classifier"])
async def test_what_a_user_must_decide_no_one_else_allows(name: str, reason: Reason) -> None:
    decision = await resolve(
        InteractiveHandler([at_once(name), at_once("dialog", NO)]), pending(reason)
    )
    assert (decision.behavior, decision.source) == (Behavior.DENY, DecisionSource.USER)


@pytest.mark.parametrize("name", ["dialog", "bridge", "channel"])
@pytest.mark.parametrize("reason", list(Reason))
async def test_a_user_may_answer_every_ask_on_every_way(name: str, reason: Reason) -> None:
    decision = await resolve(InteractiveHandler([at_once(name)]), pending(reason))
    assert decision.behavior is Behavior.ALLOW


async def test_a_hook_lifts_an_ask_rule_and_a_classifier_does_not() -> None:
    ask = pending(Reason.ASK_RULE)
    by_hook = await resolve(InteractiveHandler([at_once("hook"), Scripted("dialog")]), ask)
    by_both = await resolve(
        HeadlessHandler([at_once("classifier"), at_once("model classifier")]), ask
    )
    assert (by_hook.behavior, by_hook.source) == (Behavior.ALLOW, DecisionSource.HOOK)
    assert by_both.behavior is Behavior.DENY


@pytest.mark.parametrize("reason", PERSON_ONLY)
async def test_a_hook_s_deny_stands_for_every_ask(reason: Reason) -> None:
    decision = await resolve(
        InteractiveHandler([at_once("hook", NO), Scripted("dialog")]), pending(reason)
    )
    assert (decision.behavior, decision.source) == (Behavior.DENY, DecisionSource.HOOK)


async def test_an_answer_that_claims_to_be_the_users_is_its_contender_s() -> None:
    forged = replace(YES, source=DecisionSource.USER)
    lifted = await resolve(
        InteractiveHandler([at_once("hook", forged), at_once("dialog", NO)]),
        pending(Reason.PROTECTED_PATH),
    )
    named = await resolve(InteractiveHandler([at_once("bridge", forged)]))
    assert lifted.behavior is Behavior.DENY
    assert (named.source, named.reason_type, named.reason) == (
        DecisionSource.BRIDGE,
        ReasonType.BRIDGE,
        Reason.BRIDGE,
    )


async def test_a_call_that_the_local_classifier_allows_starts_no_hook() -> None:
    hook = at_once("hook", NO)
    handler = LocalFirst(at_once("classifier"), InteractiveHandler([hook, at_once("dialog")]))
    decision = await resolve(handler)
    assert (decision.behavior, decision.source) == (Behavior.ALLOW, DecisionSource.CLASSIFIER)
    assert not hook.started.is_set()


@pytest.mark.parametrize("reason", [Reason.ASK_RULE, *PERSON_ONLY])
async def test_what_the_local_classifier_must_not_allow_goes_to_the_others(reason: Reason) -> None:
    handler = LocalFirst(at_once("classifier"), HeadlessHandler([at_once("hook", NO)]))
    decision = await resolve(handler, pending(reason))
    assert (decision.behavior, decision.source) == (Behavior.DENY, DecisionSource.HOOK)


async def test_a_contender_of_an_unknown_name_is_ignored() -> None:
    stranger = at_once("stranger")
    decision = await resolve(InteractiveHandler([stranger]))
    assert decision.behavior is Behavior.DENY
    assert not stranger.started.is_set()


async def test_the_trace_says_what_everyone_answered() -> None:
    decision = await resolve(
        CoordinatorHandler(
            [
                at_once("hook", OSError("no shell")),
                at_once("classifier", None),
                at_once("model classifier", UNSURE),
                at_once("dialog"),
            ]
        )
    )
    assert decision.trace[0] == MODE_ENTRY
    assert [(e.step, e.answer, e.source) for e in decision.trace[1:]] == [
        (TraceStep.HOOK, "none", "hook failed: OSError: no shell"),
        (TraceStep.CLASSIFIER, "none", "classifier"),
        (TraceStep.CLASSIFIER, "ask", "model classifier is unsure: cannot tell"),
        (TraceStep.USER, "allow", "dialog"),
    ]


@pytest.mark.parametrize("handler", [CoordinatorHandler, HeadlessHandler])
async def test_in_order_the_next_is_asked_only_after_the_one_before(
    handler: type[CoordinatorHandler] | type[HeadlessHandler],
) -> None:
    hook, classifier, dialog = (
        Scripted("hook", None),
        Scripted("model classifier"),
        Scripted("dialog"),
    )
    running = asyncio.ensure_future(resolve(handler([hook, classifier, dialog])))
    await hook.started.wait()
    assert not classifier.started.is_set()
    hook.go.set()
    await classifier.started.wait()
    classifier.go.set()
    decision = await running
    assert decision.source is DecisionSource.CLASSIFIER
    assert not dialog.started.is_set()


async def test_with_no_one_to_ask_an_ask_is_a_deny_that_keeps_its_origin() -> None:
    ask = pending(Reason.ASK_RULE)
    decision = await resolve(HeadlessHandler(), ask)
    assert (decision.behavior, decision.source, decision.reason) == (
        Behavior.DENY,
        ask.source,
        ask.reason,
    )
    assert decision.message.endswith("This run cannot ask, so it was denied.")


async def test_a_broken_dialog_denies_and_gives_the_reason() -> None:
    decision = await resolve(InteractiveHandler([at_once("dialog", RuntimeError("screen gone"))]))
    assert decision.behavior is Behavior.DENY
    assert decision.message.endswith(
        "There was no usable answer (RuntimeError: screen gone), so it was denied."
        " Correct what failed, or allow the call with a rule."
    )


# -- denial tracking --------------------------------------------------------------------------


def by_classifier(behavior: Behavior) -> Decision:
    return replace(
        YES,
        behavior=behavior,
        source=DecisionSource.CLASSIFIER,
        reason_type=ReasonType.CLASSIFIER,
        reason=Reason.CLASSIFIER,
    )


def after(*decisions: Decision) -> DenialState:
    state = DenialState()
    for decision in decisions:
        state = state.with_decision(decision)
    return state


DENIED, ALLOWED = by_classifier(Behavior.DENY), by_classifier(Behavior.ALLOW)


def test_three_in_a_row_or_twenty_in_all_are_enough() -> None:
    assert not after(DENIED, DENIED).is_exhausted
    assert after(*[DENIED] * MAX_CONSECUTIVE_DENIALS).is_exhausted
    spread = [d for _ in range(10) for d in (DENIED, DENIED, ALLOWED)]
    assert not after(*spread[:-4]).is_exhausted
    assert after(*spread) == DenialState(0, MAX_TOTAL_DENIALS)
    assert after(*spread).is_exhausted


def test_a_users_no_never_counts_and_resets_nothing() -> None:
    assert after(DENIED, NO, NO, NO) == DenialState(1, 1)


async def test_a_yes_of_anyone_and_an_unsure_classifier_end_the_row() -> None:
    assert after(DENIED, DENIED, YES) == DenialState(0, 2)
    handler = CoordinatorHandler([at_once("model classifier", UNSURE), at_once("dialog", NO)])
    assert after(DENIED, DENIED, await resolve(handler)) == DenialState(0, 2)


def test_the_state_is_reported_in_words() -> None:
    assert DenialState().describe() == ""
    assert after(DENIED).describe() == "classifier denials: 1 in a row, 1 in all"
    assert after(*[DENIED] * 3).describe().endswith("the user is asked instead")


async def test_a_used_up_classifier_is_skipped_and_the_trace_records_it() -> None:
    model = at_once("model classifier", NO)
    decision = await resolve(
        InteractiveHandler([model, at_once("dialog")]), denials=DenialState(3, 3)
    )
    assert not model.started.is_set()
    assert decision.source is DecisionSource.USER
    assert decision.trace[1].source == (
        "model classifier skipped: classifier denials: 3 in a row, 3 in all; "
        "the user is asked instead"
    )


async def test_the_local_classifier_only_allows_so_it_is_never_passed_over() -> None:
    decision = await resolve(
        InteractiveHandler([at_once("classifier")]), denials=DenialState(9, 30)
    )
    assert decision.source is DecisionSource.CLASSIFIER


# -- the worker -------------------------------------------------------------------------------


@dataclass
class FakeMailbox:
    """A leader that answers from inside `send`: sooner than any bookkeeping after it."""

    reply: Decision | None = YES
    is_reachable: bool = True
    answers_at_all: bool = True
    log: list[str] = field(default_factory=list)
    is_waited_on: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: dict[str, asyncio.Future[Decision | None]] = field(default_factory=dict)

    def register(self, request_id: str) -> None:
        self.log.append(f"register {request_id}")
        self.waiting[request_id] = asyncio.get_running_loop().create_future()

    async def send(self, request: PermissionRequest, pending: Decision) -> None:
        self.log.append(f"send {request.request_id}")
        if not self.is_reachable:
            raise ConnectionError("leader gone")
        if self.answers_at_all:
            self.waiting[request.request_id].set_result(self.reply)

    async def answer(self, request_id: str) -> Decision | None:
        self.log.append(f"answer {request_id}")
        self.is_waited_on.set()
        return await self.waiting[request_id]

    def unregister(self, request_id: str) -> None:
        self.log.append(f"unregister {request_id}")
        self.waiting.pop(request_id).cancel()


async def test_a_worker_registers_before_it_sends() -> None:
    mailbox = FakeMailbox()
    decision = await resolve(WorkerHandler((), mailbox))
    assert decision.behavior is Behavior.ALLOW
    assert mailbox.log == ["register r1", "send r1", "answer r1", "unregister r1"]
    assert (decision.trace[-1].step, decision.trace[-1].source) == (TraceStep.USER, "leader: user")


async def test_the_leader_may_change_the_input() -> None:
    other = {"command": "git push --dry-run"}
    decision = await resolve(WorkerHandler((), FakeMailbox(replace(YES, updated_input=other))))
    assert decision.updated_input == other


@pytest.mark.parametrize(
    "mailbox",
    [FakeMailbox(reply=None), FakeMailbox(is_reachable=False)],
    ids=["session ended", "not reachable"],
)
async def test_a_leader_that_is_gone_cancels_the_call(mailbox: FakeMailbox) -> None:
    decision = await resolve(WorkerHandler((), mailbox))
    assert (decision.behavior, decision.interrupt) == (Behavior.DENY, True)
    assert "leader" in decision.message
    assert mailbox.waiting == {}


async def test_a_worker_s_classifier_decides_without_the_leader() -> None:
    mailbox = FakeMailbox()
    decision = await resolve(WorkerHandler((at_once("model classifier", NO),), mailbox))
    assert decision.source is DecisionSource.CLASSIFIER
    assert mailbox.log == []


async def test_what_the_classifier_leaves_open_is_forwarded() -> None:
    unsure = (at_once("classifier", None), at_once("model classifier", UNSURE))
    mailbox = FakeMailbox(NO)
    decision = await resolve(WorkerHandler(unsure, mailbox))
    assert decision.source is DecisionSource.USER
    assert "send r1" in mailbox.log


async def test_an_interrupted_worker_takes_its_request_back() -> None:
    mailbox, abort = FakeMailbox(answers_at_all=False), FakeAbort()
    running = asyncio.ensure_future(resolve(WorkerHandler((), mailbox), abort=abort))
    await mailbox.is_waited_on.wait()
    abort.fire()
    with pytest.raises(RaceAborted):
        await running
    assert mailbox.log[-1] == "unregister r1"


@pytest.mark.parametrize("source", [DecisionSource.CLASSIFIER, DecisionSource.HOOK])
async def test_a_leader_s_machine_lifts_no_more_than_ours_would(source: DecisionSource) -> None:
    relayed = FakeMailbox(replace(YES, source=source))
    decision = await resolve(WorkerHandler((), relayed), pending(Reason.PROTECTED_PATH))
    assert decision.behavior is Behavior.DENY
