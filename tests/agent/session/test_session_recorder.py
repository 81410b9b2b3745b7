"""Events become records; a failing disk is told once and stops nothing."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from agent.display import TextDisplay, TodoItem
from agent.events import (
    Compacted,
    MessageCommitted,
    PermissionResolved,
    RequestStart,
    Terminal,
    TextDelta,
    Tombstone,
    ToolResult,
    Usage,
    UsageUpdate,
)
from agent.messages import (
    Message,
    ToolUse,
    text_block,
    tool_result_block,
    tool_results_message,
    user_message,
)
from agent.session import resume
from agent.session.archive.history_pages import PastCall, SessionPages
from agent.session.records import GrantsRecord
from agent.session.session_recorder import SessionRecorder
from agent.session.store import Session, SessionStore
from permissions.base.text.redactor import Redactor
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    session = SessionStore(tmp_path).create(tmp_path)
    yield session
    session.close()


CALL = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}
GRANTED = GrantsRecord((("allow", "Bash(ls)"),), ("/elsewhere",), ("a.example",))


async def test_what_happened_comes_back(session: Session) -> None:
    recorder = SessionRecorder(session)
    said, answer = user_message("go"), Message("assistant", (CALL,), "model", model="m")
    await recorder.prompt("t", "go")
    await recorder.event(MessageCommitted("t", said), (said,))
    await recorder.event(RequestStart("t", 1, "m"), (said,))
    await recorder.event(TextDelta("t", "u", 0, "never recorded"), (said,))
    await recorder.event(MessageCommitted("t", answer), (said, answer))
    await recorder.event(UsageUpdate("t", Usage(), Usage(5), 0.5, 9, 100), (said, answer))
    await recorder.tool_started(ToolUse("a", "Bash", {}), {}, None)
    await recorder.mode("plan")
    await recorder.todos((TodoItem("x", "pending", "xing"),))
    await recorder.queue(("later",))
    await recorder.draft("half")
    await recorder.write(GRANTED)
    await recorder.system((text_block("system"),))
    await recorder.aclose()
    got = resume.load(session.path)
    assert got.messages[:2] == (said, answer)
    assert "Outcome unknown" in got.messages[2].content[0]["content"]
    assert (got.usage, got.cost_usd, got.context_tokens) == (Usage(5), 0.5, 9)
    assert (got.mode, got.queued_prompts, got.draft) == ("plan", ("later",), "half")
    assert got.todos == (TodoItem("x", "pending", "xing"),)
    assert (got.grants, got.system) == (GRANTED, (text_block("system"),))
    assert b"never recorded" not in session.path.read_bytes()


async def test_a_finished_call_keeps_its_result_through_a_crash(session: Session) -> None:
    recorder = SessionRecorder(session)
    said, answer = user_message("go"), Message("assistant", (CALL,), "model")
    for message in (said, answer):
        await recorder.event(MessageCommitted("t", message), (said,))
    use = ToolUse("a", "Bash", {})
    await recorder.tool_started(use, {}, None)
    await recorder.tool_ended(use, tool_result_block("a", "listing"), "ok", 0.1, "Bash ls", None)
    got = resume.load(session.path)  # no message with the results was ever written
    assert got.messages[-1].content == (tool_result_block("a", "listing"),)


async def test_what_users_read_of_a_failure_is_kept(session: Session) -> None:
    recorder = SessionRecorder(session)
    await recorder.event(MessageCommitted("t", user_message("go")), ())
    await recorder.event(MessageCommitted("t", Message("assistant", (CALL,), "model")), ())
    use, block = (
        ToolUse("a", "Bash", {}),
        tool_result_block("a", "It failed. Try b.", is_error=True),
    )
    fact = TextDisplay("It failed.")
    await recorder.tool_ended(use, block, "error", 0.1, "Bash a", None, fact)
    await recorder.event(MessageCommitted("t", tool_results_message([block])), ())
    await recorder.aclose()
    assert SessionPages(session.path).older().calls == {"a": PastCall("Bash a", "error", 0.1, fact)}


async def test_a_compaction_carries_the_state_on(session: Session) -> None:
    recorder = SessionRecorder(session)
    await recorder.mode("acceptEdits")
    await recorder.write(GRANTED)
    old, summary = user_message("old"), user_message("sum", origin="summary")
    await recorder.event(MessageCommitted("t", old), (old,))
    await recorder.event(Compacted("t", "auto", 9, 1, "sum"), (summary,))
    got = resume.load(session.path)
    assert got.messages == (summary,)
    assert (got.mode, got.grants) == ("acceptEdits", GRANTED)


async def test_a_withdrawn_message_and_a_rewind_are_followed(session: Session) -> None:
    recorder = SessionRecorder(session)
    first, partial, second = user_message("1"), user_message("p"), user_message("2")
    for message in (first, partial, second):
        await recorder.event(MessageCommitted("t", message), ())
    await recorder.event(Tombstone("t", partial.uid, "retry"), ())
    assert resume.load(session.path).messages == (first, second)
    await recorder.rewound(first.uid, (first,))
    await recorder.event(Terminal("t", "completed"), ())
    assert resume.load(session.path).messages == (first,)


async def test_secrets_stay_off_the_disk(session: Session) -> None:
    secret = "s3cr3t-value-of-mine"
    recorder = SessionRecorder(session, redact=Redactor({"MY_TOKEN": secret}).line)
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    answer = Message("assistant", (thinking, text_block("ok")), "model")
    await recorder.event(MessageCommitted("t", user_message(f"use {secret}")), ())
    await recorder.event(MessageCommitted("t", answer), ())
    await recorder.draft(secret)
    assert secret.encode() not in session.path.read_bytes()
    got = resume.load(session.path)
    assert got.messages[0].text == "use [redacted: MY_TOKEN]"
    # The thinking was bound to what was really said.
    assert got.messages[1].content == (text_block("ok"),)


async def test_a_full_disk_is_reported_once_and_again_when_it_works(session: Session) -> None:
    recorder = SessionRecorder(session)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        size = session.path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        messages = tuple(user_message(str(number)) for number in range(3))
        for message in messages:
            await recorder.event(MessageCommitted("t", message), messages)
        assert recorder.complaint is not None
        assert "cannot be written" in recorder.complaint
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        await recorder.mode("plan")
        assert "saved again" in recorder.complaint
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert resume.load(session.path).messages == messages


async def test_a_denial_is_kept_as_it_was_shown(session: Session) -> None:
    recorder = SessionRecorder(session)
    no = Decision(
        Behavior.DENY,
        DecisionSource.USER,
        ReasonType.USER,
        Reason.USER,
        "declined",
        feedback="use make",
    )
    answer = Message("assistant", (CALL, {**CALL, "id": "b"}), "model")
    await recorder.event(MessageCommitted("t", user_message("go")), ())
    await recorder.event(MessageCommitted("t", answer), ())
    outcomes: dict[str, Literal["denied", "interrupted"]] = {"a": "denied", "b": "interrupted"}
    for name, outcome in outcomes.items():
        await recorder.event(PermissionResolved("t", "", name, no), ())
        result = ToolResult("t", name, "Bash", "Not run.", True, 0.0, outcome, "Bash ls")
        await recorder.event(result, ())
    results = [tool_result_block(name, "Not run.", is_error=True) for name in "ab"]
    await recorder.event(MessageCommitted("t", tool_results_message(results)), ())
    await recorder.aclose()
    assert SessionPages(session.path).older().calls == {
        "a": PastCall("Bash ls", "denied", 0.0, denial=no)
    }
    assert len(resume.load(session.path).messages) == 3
