"""A command of the user: told to the model as a note, and to users as it was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.prompt.shell_command_note import as_typed, note_of

COMMANDS = st.text(min_size=1).filter(lambda text: "</bash-input>" not in text)


@given(COMMANDS, st.text(), st.sampled_from([0, 1, None]))
def test_a_note_is_read_back_as_the_command_that_was_typed(
    command: str, output: str, exit_code: int | None
) -> None:
    assert as_typed(note_of(command, output, exit_code)) == f"!{command}"


@pytest.mark.parametrize(
    "text", ["", "!ls", "why <bash-input> here?", "<bash-input>ls", "<bash-input>ls</bash-input> x"]
)
def test_what_is_no_note_stays_as_it_is(text: str) -> None:
    assert as_typed(text) == text


def test_a_command_that_closes_a_tag_is_whole() -> None:
    assert as_typed(note_of("grep '</p>' </dev/null", "", 1)) == "!grep '</p>' </dev/null"
