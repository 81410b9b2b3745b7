"""The schedule of orchestration mode's reminders, against the state machine of the reference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.orchestration.mode_reminders import ENTER, EXIT, REFRESH, ModeReminders

ACTIONS = st.lists(st.sampled_from(["on", "off", "turn"]), max_size=40)


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


@given(ACTIONS)
def test_the_schedule_is_the_references(actions: list[str]) -> None:
    ours, reference = ModeReminders(), Reference()
    for action in actions:
        if action == "turn":
            ours, due = ours.next_turn()
            assert list(due) == reference.turn()
        else:
            ours = ours.switched(on=action == "on")
            reference.switch(action == "on")


def test_reminders_come_at_turns_1_11_and_21() -> None:
    state, told = ModeReminders().switched(on=True), {}
    for turn in range(1, 25):
        state, due = state.next_turn()
        if due:
            told[turn] = due
    assert told == {1: (ENTER,), 11: (REFRESH,), 21: (REFRESH,)}


def test_off_and_on_before_a_turn_sends_nothing() -> None:
    state, _ = ModeReminders().switched(on=True).next_turn()
    state = state.switched(on=False).switched(on=True)
    assert state.next_turn()[1] == ()


def test_the_exit_comes_before_the_next_entry() -> None:
    state, _ = ModeReminders().switched(on=True).next_turn()
    state, due = state.switched(on=False).next_turn()
    assert due == (EXIT,)
    assert state.switched(on=True).next_turn()[1] == (ENTER,)
