"""What goes to the terminal's scrollback: each row once, in order, and only when it is final."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tui.text.highlight import Highlighter
from tui.text.styled_rows import Row, row
from tui.transcript.blocks import AssistantText, Block, NoticeLine, ToolCard, UserMessage
from tui.transcript.inline.scrollback import Scrollback
from tui.transcript.viewport import RowPosition, Viewport

PROMPT = UserMessage("p", "question")
CARD = ToolCard("t", "Bash", "ls", "running", {}, 0.0)
GROWING = AssistantText("a", "one\n\ntwo", is_streaming=True)
DONE = AssistantText("a", "one\n\ntwo", is_streaming=False)
LATER = NoticeLine("n", "info", "later")


class Transcript:
    def __init__(self, *blocks: Block) -> None:
        self.viewport = Viewport(Highlighter(), width_cells=40)
        self.scrollback = Scrollback(self.viewport)
        self.show(*blocks)

    def show(self, *blocks: Block) -> None:
        self.viewport.replace_from(0, blocks)
        self.scrollback.replaced_from(0)

    def take(self, shown_from: RowPosition | None = None) -> list[str]:
        return texts(self.scrollback.take(shown_from))


def texts(rows: Sequence[Row]) -> list[str]:
    return [line.text.rstrip() for line in rows]


def test_a_block_goes_when_it_is_done_and_goes_once() -> None:
    transcript = Transcript(PROMPT, CARD)
    assert transcript.take() == [" ❯ question"]
    assert transcript.take() == []
    assert transcript.scrollback.live_rows(99) == transcript.viewport.height_of(1)
    transcript.show(PROMPT, replace(CARD, state="ok", result="file"))
    assert transcript.take()[:2] == ["", " ● Bash ls"]
    assert transcript.scrollback.live_rows(99) == 0


def test_what_comes_after_a_running_call_waits_for_it() -> None:
    transcript = Transcript(CARD, LATER)
    assert transcript.take() == []
    transcript.show(replace(CARD, state="failed"), LATER)
    assert transcript.take()[-1] == " · later"


def test_rows_that_are_still_painted_wait_for_the_layout() -> None:
    transcript = Transcript(PROMPT, LATER)
    assert transcript.take(RowPosition(1, 0)) == [" ❯ question"]
    assert transcript.take(RowPosition(1, 0)) == []
    assert transcript.take() == ["", " · later"]


def test_a_growing_answer_hands_over_only_finished_rows_that_have_left_the_screen() -> None:
    transcript = Transcript(GROWING)
    assert transcript.take(RowPosition(0, 0)) == []
    assert transcript.take(RowPosition(0, 9)) == ["   one"]
    assert transcript.scrollback.live_rows(99) == 2
    transcript.show(DONE)
    assert transcript.take() == ["", "   two"]


def test_a_new_width_loses_no_words_and_repeats_less_than_a_row() -> None:
    words = " ".join(f"word{number}" for number in range(30))
    transcript = Transcript(AssistantText("a", f"{words}\n\nend", is_streaming=True))
    height = transcript.viewport.height_of(0)
    before = transcript.take(RowPosition(0, 3))
    transcript.viewport.resize(25, 24)
    transcript.scrollback.handle_resize()
    transcript.show(AssistantText("a", f"{words}\n\nend", is_streaming=False))
    after = transcript.take()
    assert height > 3
    given, rest = " ".join(before).split(), " ".join(after).split()
    repeated = len(given) + len(rest) - len(words.split()) - 1
    assert 0 <= repeated < len(after[0].split())
    assert [*given, *rest[repeated:]] == [*words.split(), "end"]


def test_what_a_rewind_leaves_is_not_written_again() -> None:
    transcript = Transcript(PROMPT, DONE, LATER)
    transcript.take()
    transcript.show(PROMPT, DONE)
    assert transcript.take() == []
    transcript.show(PROMPT, DONE, UserMessage("q", "another"))
    assert transcript.take() == ["", " ❯ another"]


def test_the_blocks_of_another_conversation_are_written() -> None:
    transcript = Transcript(PROMPT, DONE)
    transcript.take()
    transcript.show(UserMessage("x", "other"))
    assert transcript.take() == [" ❯ other"]


def test_the_page_of_a_resumed_conversation_is_written_and_older_ones_are_not() -> None:
    transcript = Transcript()
    transcript.viewport.add_before((PROMPT, DONE))
    transcript.scrollback.added_before(2)
    assert transcript.take()[0] == " ❯ question"
    transcript.scrollback.is_paused = True
    transcript.viewport.add_before((UserMessage("o", "older"),))
    transcript.scrollback.added_before(1)
    assert transcript.take() == []
    assert transcript.scrollback.live_rows(99) == 0


def test_a_history_that_is_shown_anew_was_written_before() -> None:
    transcript = Transcript(PROMPT, DONE)
    transcript.take()
    transcript.show()
    transcript.scrollback.skip()
    transcript.viewport.add_before((UserMessage("again", "question"), DONE))
    transcript.scrollback.added_before(2)
    assert transcript.take() == []
    transcript.show(UserMessage("again", "question"), DONE, LATER)
    assert transcript.take() == ["", " · later"]


def test_the_header_goes_before_the_first_block() -> None:
    transcript = Transcript()
    transcript.scrollback.set_header([row("welcome")])
    assert transcript.take() == []
    transcript.show(PROMPT)
    assert transcript.take() == ["welcome", "", " ❯ question"]
    transcript.scrollback.set_header([row("welcome again")])
    transcript.show(PROMPT, LATER)
    assert transcript.take() == ["", " · later"]


def test_the_rest_is_everything_that_was_not_written() -> None:
    transcript = Transcript(PROMPT, CARD, GROWING)
    transcript.take()
    rest = texts(transcript.scrollback.take_rest())
    assert rest[1] == " ● Bash ls"
    assert rest[-1] == "   two"
    assert transcript.scrollback.take_rest() == []
