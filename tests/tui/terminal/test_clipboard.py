"""The clipboard beside OSC 52: programs where they can work, and nothing lost where none does."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from agent.events import Complete, TextDelta, Usage
from agent.messages import Message
from tests.tui.app.test_app_keys import send, settled, text_of, transcript_of
from tests.tui.panels.test_panels import opened
from tests.tui.recorded import RecordedConversation, Step, make_app
from tui.app.app import AgentApp
from tui.panels.copy import file_ending
from tui.terminal.clipboard import TERMINAL_BYTES, copy_beside, for_gnu_screen


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    directory = tmp_path / "bin"
    directory.mkdir()
    for name in ("tmux", "xclip", "wl-copy", "pbcopy"):
        program = directory / name
        program.write_text(
            f'#!/bin/sh\necho "$@" > "{tmp_path}/{name}.args"\ncat > "{tmp_path}/{name}.in"\n'
        )
        program.chmod(0o755)
    return directory


async def test_tmux_and_the_first_program_that_can_work_get_the_text(
    tmp_path: Path, programs: Path
) -> None:
    env = {"PATH": f"{programs}:/usr/bin:/bin", "TMUX": "x", "DISPLAY": ":0"}
    assert await copy_beside("größe 漢", env, None) == ""
    assert (tmp_path / "tmux.in").read_text() == "größe 漢"
    assert (tmp_path / "tmux.args").read_text() == "load-buffer -w -\n"
    assert (tmp_path / "xclip.in").read_text() == "größe 漢"
    assert not (tmp_path / "wl-copy.in").exists()
    assert not (tmp_path / "pbcopy.in").exists()


async def test_a_machine_that_is_logged_in_to_keeps_its_own_clipboard(
    tmp_path: Path, programs: Path
) -> None:
    env = {"PATH": f"{programs}:/usr/bin:/bin", "SSH_CONNECTION": "a b"}
    assert await copy_beside("text", env, tmp_path / "kept") == ""
    assert list(tmp_path.glob("*.in")) == []
    assert not (tmp_path / "kept").exists()


async def test_what_is_too_long_for_terminals_is_kept_in_a_private_file(tmp_path: Path) -> None:
    text = "x" * (TERMINAL_BYTES + 1)
    said = await copy_beside(text, {}, tmp_path / "home" / "copied.txt")
    assert "copied.txt" in said
    assert (tmp_path / "home" / "copied.txt").read_text() == text
    assert (tmp_path / "home" / "copied.txt").stat().st_mode & 0o777 == 0o600


def test_gnu_screen_gets_pieces_that_it_passes_on() -> None:
    text = "long " * 1_000
    pieces = re.findall(r"\x1bP([^\x1b]*(?:\x1b\][^\x1b]*)?)\x1b\\", for_gnu_screen(text))
    assert max(map(len, pieces)) < 768
    sequence = "".join(pieces)
    assert sequence.startswith("\x1b]52;c;")
    assert sequence.endswith("\a")
    assert base64.b64decode(sequence[7:-1]).decode() == text


ANSWER = "First:\n\n```python\none = 1\n```\n\nthen\n\n- ```sh\n  two\n  ```\n"


@pytest.mark.parametrize(
    ("command", "copied"),
    [
        ("/copy 2", "older"),
        ("/copy code", "two"),
        ("/copy code 1", "one = 1"),
        ("/copy 1 code 2", "two"),
    ],
)
async def test_the_command_copies_an_answer_or_its_code(command: str, copied: str) -> None:
    answers = [
        Message("assistant", ({"type": "text", "text": text},), origin="model")
        for text in ("older", ANSWER)
    ]
    app = make_app(RecordedConversation([], messages=tuple(answers)))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.parts.submission.submit(command)
        await app.workers.wait_for_complete()
        assert app.clipboard == copied


def with_code() -> AgentApp:
    answer = Message("assistant", ({"type": "text", "text": ANSWER},), origin="model")
    return make_app(RecordedConversation([], messages=(answer,)))


@pytest.mark.parametrize(
    ("keys", "copied"),
    [(("enter",), "two"), (("up", "enter"), "one = 1"), (("home", "enter"), ANSWER)],
)
async def test_an_answer_with_code_offers_its_pieces(keys: tuple[str, ...], copied: str) -> None:
    app = with_code()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        text = await opened(pilot, "/copy")
        assert "Code 1            python, 1 line" in text
        await pilot.press(*keys)
        await app.workers.wait_for_complete()
        assert app.clipboard == copied


async def test_a_piece_is_written_to_a_new_file(tmp_path: Path) -> None:
    app = with_code()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        conversation = app.parts.conversations.current
        assert isinstance(conversation, RecordedConversation)
        conversation.cwd = tmp_path
        for said in ("written to", "Not written"):
            await opened(pilot, "/copy")
            await pilot.press("up", "w")
            await settled(pilot)
            assert "answer.py" in text_of(app.parts.dialogs)
            await pilot.press("enter")
            await app.workers.wait_for_complete()
            await settled(pilot)
            assert said in transcript_of(app)
        assert (tmp_path / "answer.py").read_text() == "one = 1\n"


@pytest.mark.parametrize(
    ("language", "ending"),
    [
        ("python", "py"),
        ("Python", "py"),
        ("c++", "c++"),
        ("toml", "toml"),
        ("", "txt"),
        ("y/../../z", "txt"),
        ("{.python}", "txt"),
        ("p\x1b]0;x\x07", "txt"),
    ],
)
def test_only_what_looks_like_an_ending_is_one(language: str, ending: str) -> None:
    assert file_ending(language) == ending


async def test_keys_copy_the_answer_and_its_last_code_block() -> None:
    script: list[Step] = [
        TextDelta("t1", "m1", 0, ANSWER),
        Complete("t1", "m1", "end_turn", Usage()),
    ]
    app = make_app(RecordedConversation([script]))
    async with app.run_test(size=(80, 24)) as pilot:
        await send(pilot, "go")
        await pilot.press("ctrl+x", "y")
        assert app.clipboard == ANSWER
        await pilot.press("ctrl+x", "c")
        assert app.clipboard == "two"
        assert app.parts.composer.buffer.is_empty
