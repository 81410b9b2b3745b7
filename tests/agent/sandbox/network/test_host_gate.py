"""Who decides about a host, in which order, and how long an answer counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_gate import (
    MAX_QUESTIONS,
    DecideHost,
    HostAnswer,
    HostGate,
    HostRequest,
    HostVerdict,
)
from agent.sandbox.network.host_name import read_host
from agent.sandbox.network.host_rules import parse_host_rule
from tests.agent.sandbox.network.proxy_stand import rules

ONE, TWO = NetworkCall("1", "npm install"), NetworkCall("2", "pip install")


class User:
    """Answers from a list and records the questions."""

    def __init__(self, *answers: HostAnswer | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[HostRequest] = []

    async def __call__(self, request: HostRequest) -> HostAnswer:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


YES, NO = HostAnswer(True), HostAnswer(False)


def asking(user: DecideHost) -> Callable[[], DecideHost]:
    return lambda: user


async def _decide(
    gate: HostGate, host: str, port: int = 443, call: NetworkCall = ONE
) -> HostVerdict:
    return await gate.decide(read_host(host), port, call)


async def test_deny_comes_before_allow_and_grants_and_the_user() -> None:
    user = User()
    gate = HostGate(lambda: rules(["*.example", "example"], ["bad.example"]), asking(user))
    gate.grant(parse_host_rule("bad.example"))
    assert (await _decide(gate, "good.example")).code == "rule"
    assert (await _decide(gate, "bad.example")).code == "blocked-by-denylist"
    assert user.asked == []


async def test_without_anyone_to_ask_the_answer_is_no_at_once() -> None:
    verdict = await _decide(HostGate(rules), "example.com")
    assert verdict == HostVerdict(
        False,
        "blocked-by-allowlist",
        "example.com:443 is not an allowed host, and no user can approve it",
    )


async def test_a_yes_lasts_for_the_session_and_other_calls() -> None:
    gate = HostGate(rules, asking(user := User(YES)))
    assert (await _decide(gate, "example.com")).code == "user"
    assert (await _decide(gate, "example.com", 80, TWO)).code == "grant"
    assert user.asked == [HostRequest("example.com", 443, ONE, None)]


async def test_a_yes_for_an_unusual_port_is_for_that_port() -> None:
    gate = HostGate(rules, asking(user := User(YES, NO)))
    assert (await _decide(gate, "example.com", 8443)).is_allowed
    assert not (await _decide(gate, "example.com", 443)).is_allowed
    assert len(user.asked) == 2


async def test_a_no_lasts_for_the_call() -> None:
    gate = HostGate(rules, asking(user := User(NO, NO, YES)))
    assert (await _decide(gate, "example.com")).code == "blocked-by-user"
    assert (await _decide(gate, "example.com")).code == "blocked-by-user"
    assert len(user.asked) == 1
    assert not (await _decide(gate, "example.com", call=TWO)).is_allowed
    gate.end_call("1")
    assert (await _decide(gate, "example.com")).is_allowed


async def test_a_question_that_fails_allows_nothing() -> None:
    gate = HostGate(rules, asking(User(RuntimeError("no screen"), YES)))
    verdict = await _decide(gate, "example.com")
    assert (verdict.is_allowed, verdict.code) == (False, "no-answer")
    assert "no screen" in verdict.reason
    assert (await _decide(gate, "example.com")).is_allowed


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.1", "fd00::1", "::1"])
async def test_an_inner_address_is_asked_about_as_what_it_is(host: str) -> None:
    gate = HostGate(rules, asking(user := User(YES)))
    assert (await _decide(gate, host)).is_allowed
    assert user.asked[0].kind in {"loopback", "private", "unique-local"}


@pytest.mark.parametrize("host", ["169.254.169.254", "169.254.0.1", "0.0.0.0", "224.0.0.1"])
async def test_some_addresses_are_never_asked_about(host: str) -> None:
    gate = HostGate(rules, asking(User(YES)))
    assert (await _decide(gate, host)).code == "blocked-by-address"


class PatientUser:
    """Answers when told to; counts what is open."""

    def __init__(self) -> None:
        self.answer = asyncio.Event()
        self.open = 0

    async def __call__(self, request: HostRequest) -> HostAnswer:
        self.open += 1
        try:
            await self.answer.wait()
        finally:
            self.open -= 1
        return YES


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_question_is_withdrawn_when_its_last_connection_goes() -> None:
    gate = HostGate(rules, asking(user := PatientUser()))
    waiting = [asyncio.create_task(_decide(gate, "example.com")) for _ in range(2)]
    await _turns()
    assert user.open == 1
    waiting[0].cancel()
    await _turns()
    assert user.open == 1
    waiting[1].cancel()
    await _turns()
    assert user.open == 0
    # The next one puts a new question.
    user.answer.set()
    assert (await _decide(gate, "example.com")).is_allowed


async def test_a_flood_of_hosts_is_not_a_flood_of_questions() -> None:
    gate = HostGate(rules, asking(user := PatientUser()))
    waiting = [asyncio.create_task(_decide(gate, f"h{n}.example")) for n in range(50)]
    await _turns()
    assert user.open == MAX_QUESTIONS
    user.answer.set()
    verdicts = await asyncio.gather(*waiting)
    assert sum(verdict.is_allowed for verdict in verdicts) == MAX_QUESTIONS


async def test_the_end_withdraws_all_questions() -> None:
    gate = HostGate(rules, asking(user := PatientUser()))
    waiting = asyncio.create_task(_decide(gate, "example.com"))
    await _turns()
    await gate.aclose()
    assert (await waiting).code == "no-answer"
    assert user.open == 0


async def test_new_rules_hold_at_once_and_grants_stay() -> None:
    configured = rules(["a.example"])
    gate = HostGate(lambda: configured)
    assert (await _decide(gate, "a.example")).is_allowed
    gate.grant(parse_host_rule("b.example"))
    configured = rules(["c.example"], ["d.example"])
    allowed = [name for name in "abcd" if (await _decide(gate, f"{name}.example")).is_allowed]
    assert allowed == ["b", "c"]
