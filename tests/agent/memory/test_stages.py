"""Steps of compaction keep a history valid, and drop thinking whose past changed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.history import problems
from agent.memory.cut_points import safe_starts, tail_start, unread_start
from agent.memory.estimate import next_request_tokens, total_tokens
from agent.memory.pipeline import shrink
from agent.memory.stages.digest import ONE_PROMPT_CHARACTERS, digest, own_words
from agent.memory.stages.images import strip_media
from agent.memory.stages.result_trimming import trim_results
from agent.memory.stages.round_dropping import drop_rounds
from agent.memory.stages.summary import replace_past
from agent.messages import (
    Message,
    text_block,
    tool_result_block,
    tool_results_message,
    user_message,
)
from agent.model.text_tokens import text_tokens

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}


def call(call_id: str, name: str = "Read", **tool_input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": tool_input}


def answer(*blocks: dict[str, Any]) -> Message:
    return Message("assistant", (THINKING, *blocks), "model")


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    messages: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        messages.append(user_message("do " + "x" * draw(st.integers(1, 3000))))
        for _ in range(draw(st.integers(0, 3))):
            ids = [f"t{number + i}" for i in range(draw(st.integers(1, 3)))]
            number += len(ids)
            messages.append(answer(*(call(i) for i in ids)))
            size = draw(st.integers(1, 9000))
            with_image = draw(st.booleans())
            content: Any = [text_block("r" * size), IMAGE] if with_image else "r" * size
            messages.append(tool_results_message([tool_result_block(i, content) for i in ids]))
        messages.append(answer(text_block("done")))
    return (*messages, user_message("next"))


def thinking_after_a_change(before: tuple[Message, ...], after: tuple[Message, ...]) -> int:
    changed = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), None)
    if changed is None:
        return 0
    later = [b for m in after[changed + 1 :] for b in m.content]
    return sum(block["type"] == "thinking" for block in later)


@given(histories(), st.integers(10, 20_000))
def test_shrinking_keeps_a_history_valid_and_its_thinking_bound(
    messages: tuple[Message, ...], target: int
) -> None:
    shrunk = shrink(messages, target=target)
    assert problems(shrunk.messages) == ()
    assert shrunk.tokens == total_tokens(shrunk.messages) <= total_tokens(messages)
    assert thinking_after_a_change(messages, shrunk.messages) == 0
    assert bool(shrunk.steps) == (shrunk.messages != messages)


@st.composite
def unfinished(draw: st.DrawFn) -> tuple[Message, ...]:
    """A history that ends with results which the model has not seen yet."""
    messages = draw(histories())
    results = [f"u{number}" for number in range(draw(st.integers(1, 3)))]
    contents = ["r" * draw(st.integers(1, 40_000)) for _ in results]
    blocks = [tool_result_block(i, c) for i, c in zip(results, contents, strict=True)]
    return (*messages, answer(*(call(i) for i in results)), tool_results_message(blocks))


@given(unfinished(), st.integers(10, 20_000))
def test_what_the_model_has_not_answered_is_never_shortened(
    messages: tuple[Message, ...], target: int
) -> None:
    shrunk = shrink(messages, target=target)
    assert problems(shrunk.messages) == ()
    assert shrunk.messages[-1] == messages[-1]
    summarized = replace_past(messages, tail_start(messages, target), "what happened")
    assert problems(summarized) == ()
    assert summarized[-1] == messages[-1]


@given(unfinished(), st.integers(10, 20_000))
def test_the_users_messages_are_never_dropped(messages: tuple[Message, ...], target: int) -> None:
    shrunk = shrink(messages, target=target).messages
    own = [m for m in messages if m.origin == "person"]
    assert [m for m in shrunk if m.origin == "person"] == own
    said = [m.text for m in messages if m.role == "assistant" and m.text]
    assert [m.text for m in shrunk if m.role == "assistant" and m.text] == said


def test_the_oldest_rounds_go_whole_and_a_note_names_them() -> None:
    messages: list[Message] = [user_message("read them")]
    for number in range(6):
        use = call(f"c{number}", file_path=f"/{number}")
        messages.append(answer(text_block(f"file {number}"), use))
        messages.append(tool_results_message([tool_result_block(f"c{number}", "r" * 1_900)]))
    once = drop_rounds(messages, end=len(messages), tokens=700)
    assert problems(once) == ()
    assert [use.id for m in once for use in m.tool_uses()] == ["c2", "c3", "c4", "c5"]
    assert "Read /0\nRead /1\n" in once[1].text
    twice = drop_rounds(once, end=len(once), tokens=700)
    assert problems(twice) == ()
    assert "Read /0\nRead /1\nRead /2\nRead /3\n" in twice[1].text
    assert [m.text for m in twice if m.role == "assistant"] == [f"file {n}" for n in range(6)]


@given(histories(), st.integers(1, 20_000))
def test_a_summary_never_splits_a_call_from_its_result(
    messages: tuple[Message, ...], keep: int
) -> None:
    start = tail_start(messages, keep)
    replaced = replace_past(messages, start, "what happened")
    assert problems(replaced) == ()
    assert start == len(messages) or start in safe_starts(messages)
    tail = messages[start:]
    assert total_tokens(tail) <= keep or tail == messages[unread_start(messages) :]
    assert all(block["type"] != "thinking" for m in replaced for block in m.content)


def test_the_tail_begins_with_the_users_words_where_it_can() -> None:
    messages = [
        user_message("one " * 100),
        answer(text_block("a")),
        user_message("two"),
        answer(text_block("b")),
        user_message("note", origin="hook"),
    ]
    assert tail_start(messages, 60) == 2
    assert tail_start(messages, 6) == 4
    assert tail_start(messages, 0) == 4
    assert tail_start(messages[:4], 0) == 4
    assert tail_start([*messages, user_message("three")], 0) == 4  # the note is unread as well


def test_only_old_media_become_words() -> None:
    messages = (
        Message("user", (IMAGE, text_block("look")), "person"),
        answer(call("a")),
        tool_results_message([tool_result_block("a", [IMAGE])]),
        Message("user", (IMAGE,), "person"),
    )
    changed = strip_media(messages, end=3)
    assert changed[0].content == (text_block("[image]"), text_block("look"))
    assert changed[2].content[0]["content"] == [text_block("[image]")]
    assert changed[3] is messages[3]
    assert strip_media(messages, end=0) == messages


def test_long_results_are_cut_and_marked() -> None:
    messages = (tool_results_message([tool_result_block("a", "x" * 5000)]),)
    (message,) = trim_results(messages, end=1)
    text = message.content[0]["content"]
    assert text.startswith("x" * 600 + "\n[… 4,000 characters")
    assert text.endswith("repeat the call …]\n" + "x" * 400)
    read = (answer(call("a", file_path="/p/a.py")), *messages)
    assert "Read /p/a.py again" in trim_results(read, end=2)[1].content[0]["content"]
    short = (tool_results_message([tool_result_block("a", "x" * 500)]),)
    assert trim_results(short, end=1) == short


def test_the_users_words_survive_a_summary_word_for_word() -> None:
    messages = [user_message("never touch the file X"), answer(text_block("ok"))]
    text = replace_past(messages, 2, "summary")[0].text
    assert "1. never touch the file X" in text


def test_of_too_many_words_the_first_and_the_last_stay() -> None:
    long = "y" * ONE_PROMPT_CHARACTERS
    messages = [user_message(t) for t in ("FIRST", long, long, long, long, "LAST")]
    words = own_words(messages)
    assert words.startswith("1. FIRST\n[2 prompts left out]")
    assert words.endswith("6. LAST")
    assert "[…" in own_words([user_message("a" * 9000)])


def test_a_digest_names_files_commands_and_the_last_answer() -> None:
    messages = [
        user_message("go"),
        answer(call("a", "Read", file_path="/p/r.py"), call("b", "Edit", file_path="/p/e.py")),
        answer(call("c", "Bash", command="make test\nmore"), text_block("all green")),
    ]
    text = digest(messages)
    assert "## Files changed\n/p/e.py" in text
    assert "## Files read\n/p/r.py" in text
    assert "## Last commands\nmake test\n" in text
    assert text.endswith("## Last answer\nall green")


def test_only_what_came_after_the_last_measurement_is_estimated() -> None:
    messages = [user_message("x" * 10_000), answer(text_block("a")), user_message("hi")]
    assert next_request_tokens(messages, 500, 9_999) == 500 + total_tokens(messages[2:])
    assert next_request_tokens(messages, 0, 100) == 100 + total_tokens(messages)


def test_scripts_with_wide_characters_count_more() -> None:
    assert text_tokens("漢字" * 100) > 2 * text_tokens("ab" * 100)
    assert text_tokens("é漢b字" * 90) == text_tokens("漢" * 180 + "b" * 180)
    assert text_tokens("") == 0


def test_the_users_words_survive_one_compaction_after_the_other() -> None:
    messages: tuple[Message, ...] = (user_message("first: use tabs"), user_message("2. two\nlines"))
    for number in range(40):
        messages = replace_past(messages, len(messages), f"summary {number}")
        messages = (*messages, user_message(f"prompt {number} " + "x" * 600))
    said = own_words(messages)
    assert said.startswith("1. first: use tabs\n[")
    assert said.splitlines()[-1].startswith("42. prompt 39 ")
    assert len(said) < 14_000


def test_a_few_words_are_carried_whole() -> None:
    messages = (user_message("first: use tabs"), user_message("2. two\nlines"))
    once = replace_past(messages, 2, "s")
    twice = replace_past((*once, user_message("third")), 2, "s")
    assert own_words(twice) == "1. first: use tabs\n2. 2. two\nlines\n3. third"
