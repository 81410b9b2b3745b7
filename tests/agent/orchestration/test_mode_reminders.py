"""The schedule of orchestration mode's reminders, against the state machine of the reference."""

from __future__ import annotations

from copy import copy

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from agent.messages import Message, text_block, user_message
from agent.model.client import Effort
from agent.orchestration.mode_reminders import (
    ENTER,
    EXIT,
    REFRESH,
    due_reminder,
    reminder_message,
)
from agent.orchestration.orchestration_mode import EFFORT, OrchestrationMode
from tests.examples import examples


class Choice:
    effort: Effort | None = "low"

    def set_effort(self, effort: Effort | None) -> None:
        self.effort = effort


class Reference:
    """Four variables, changed as the page says."""

    def __init__(self) -> None:
        self.on = self.announced = self.exit = False
        self.turns = 0

    def switch(self, on: bool) -> None:
        if on == self.on:
            return
        self.exit = self.announced if not on else False
        self.on = on

    def turn(self) -> list[str]:
        due = []
        if self.exit:
            self.exit = self.announced = False
            due.append(EXIT)
        if self.on:
            if not self.announced:
                self.announced, self.turns = True, 0
                due.append(ENTER)
            elif self.turns >= 10:
                self.turns = 0
                due.append(REFRESH)
        self.turns += 1
        return due


def turn(history: list[Message], *, on: bool, as_system: bool = False) -> list[str]:
    """Add a user's message, what follows it, and an answer; return what the model was told."""
    due = due_reminder(history, is_on=on)
    history.append(user_message("do it"))
    if due is not None:
        history.append(reminder_message(due, as_system=as_system))
    history.append(Message("assistant", (text_block("done"),), "model"))
    return [due] if due is not None else []


class Conversation(RuleBasedStateMachine):
    """A conversation beside the page's variables.

    A compaction that takes the last reminder away leaves the model untold; a rewind takes the
    variables back to where they were; a resume keeps them, and the mode is as its start says.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mode, self.page = OrchestrationMode(Choice()), Reference()
        self.history: list[Message] = []
        self.before: list[tuple[int, Reference]] = []
        """Where each prompt begins, with the variables before it."""

    @rule(on=st.booleans())
    def switch(self, on: bool) -> None:
        self.mode.switch(is_on=on)
        self.page.switch(on)

    @rule(times=st.integers(1, 12), as_system=st.booleans())
    def turns(self, times: int, as_system: bool) -> None:
        for _ in range(times):
            self.before.append((len(self.history), copy(self.page)))
            told = turn(self.history, on=self.mode.is_on, as_system=as_system)
            assert told == self.page.turn()

    @precondition(lambda self: self.before)
    @rule(data=st.data())
    def compact(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.before) - 1))
        cut = self.before[at][0]
        is_told = any(message.origin == "reminder" for message in self.history[cut:])
        self.history[:cut] = [user_message("What came before.", origin="summary")]
        self.before.clear()
        if not is_told:
            self.page.announced = self.page.exit = False

    @precondition(lambda self: self.before)
    @rule(data=st.data())
    def rewind(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.before) - 1))
        cut, then = self.before[at]
        del self.history[cut:], self.before[at:]
        on, self.page = self.page.on, then
        self.page.switch(on)

    @rule(on=st.booleans())
    def resume(self, on: bool) -> None:
        self.mode = OrchestrationMode(Choice(), is_on=on)
        self.page.switch(on)


Conversation.TestCase.settings = settings(
    max_examples=examples(60), stateful_step_count=25, deadline=None
)
TestTheModesTable = Conversation.TestCase


def test_reminders_come_at_turns_1_11_and_21() -> None:
    history: list[Message] = []
    told = {number: due for number in range(1, 25) if (due := turn(history, on=True))}
    assert told == {1: [ENTER], 11: [REFRESH], 21: [REFRESH]}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (ENTER, ["complete and correct", "not a quick one", "every substantive task"]),
        (ENTER, ["as many subtasks as the problem has parts", "description", "Work alone only"]),
        (REFRESH, ["still on", "standing consent in the Workflow tool's description"]),
        (EXIT, ["off", "only when the user asks"]),
    ],
)
def test_each_reminder_says_its_facts(text: str, facts: list[str]) -> None:
    assert all(fact in text for fact in facts)
    assert "\n" not in text


def test_off_and_on_before_a_turn_sends_nothing() -> None:
    history: list[Message] = []
    mode = OrchestrationMode(Choice(), is_on=True)
    turn(history, on=mode.is_on)
    mode.switch(is_on=False)
    mode.switch(is_on=True)
    assert turn(history, on=mode.is_on) == []


def test_the_exit_is_reported_once_and_the_next_entry_in_full() -> None:
    history: list[Message] = []
    told = [turn(history, on=on) for on in (True, False, False, True)]
    assert told == [[ENTER], [EXIT], [], [ENTER]]


def test_words_of_a_user_or_a_file_are_no_reminder() -> None:
    said = user_message(ENTER)
    in_file = user_message(f"From AGENTS.md: {ENTER}", origin="reminder")
    assert due_reminder([said, in_file], is_on=False) is None
    assert due_reminder([said, in_file], is_on=True) == ENTER


@pytest.mark.parametrize(("chosen", "after"), [(None, "low"), ("medium", "medium")])
def test_the_effort_is_xhigh_while_the_mode_is_on(chosen: Effort | None, after: str) -> None:
    effort = Choice()
    mode = OrchestrationMode(effort)
    mode.switch(is_on=True)
    assert effort.effort == EFFORT == "xhigh"
    if chosen is not None:
        effort.set_effort(chosen)
    mode.switch(is_on=False)
    assert effort.effort == after
