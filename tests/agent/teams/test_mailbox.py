"""Mailboxes: one file for a message, consumed once, recorded before it is deleted."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.session.record_lines import Line, read_forwards
from agent.teams import post
from agent.teams.mailbox import MAX_BATCH, MailDirectory
from agent.teams.team_message import TeamError, TeamMessage
from tests.agent.teams.members import Receiver, mailbox, message, place_at


async def taken(_: TeamMessage) -> bool:
    return True


def files(directory: MailDirectory) -> list[str]:
    return sorted(os.listdir(directory._new))


async def test_m5_one_file_is_one_message_and_is_written_whole(tmp_path: Path) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    box.put(message("bob", "ada", 1))
    box.put(message("bob", "ada", 2))

    names = files(box)
    assert len(names) == 2
    assert all(name.endswith(".msg") and "bob@crew" in name for name in names)
    assert os.listdir(box._tmp) == []
    received = await box.receive(set(), taken)
    assert [one.text for one in received.messages] == ["bob 1", "bob 2"]
    assert files(box) == []


async def test_a_message_is_consumed_exactly_once_by_two_readers(tmp_path: Path) -> None:
    box, other = mailbox(place_at(tmp_path), "ada"), mailbox(place_at(tmp_path), "ada")
    for number in range(40):
        box.put(message("bob", "ada", number))
    seen: set[str] = set()

    async def slowly(_: TeamMessage) -> bool:
        await asyncio.sleep(0)
        return True

    first, second = await asyncio.gather(box.receive(seen, slowly), other.receive(seen, slowly))
    got = [one.id for one in (*first.messages, *second.messages)]
    assert len(got) == len(set(got)) == 40


async def test_a_message_is_in_the_transcript_before_its_file_is_deleted(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    box = mailbox(place, "ada")
    box.put(message("bob", "ada", 1))
    there: list[bool] = []

    async def record(_: TeamMessage) -> bool:
        there.append(bool(files(box)))
        return True

    await box.receive(set(), record)
    assert there == [True]


async def test_a_record_that_the_disk_refuses_leaves_the_message_where_it_is(
    tmp_path: Path,
) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    box.put(message("bob", "ada", 1))

    async def refuse(_: TeamMessage) -> bool:
        return False

    received = await box.receive(set(), refuse)
    assert received.is_stuck
    assert received.messages == ()
    assert len(files(box)) == 1
    assert [one.text for one in (await box.receive(set(), taken)).messages] == ["bob 1"]


async def test_what_the_transcript_has_is_deleted_and_not_delivered_again(tmp_path: Path) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    box.put(message("bob", "ada", 1))
    assert (await box.receive({"bob00000001"}, taken)).messages == ()
    assert files(box) == []


async def test_c3_a_broken_message_is_put_aside_and_holds_up_no_one(tmp_path: Path) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    (box._new / "1-00000000000000000001-bob@crew-x.msg").write_text("{half")
    box.put(message("bob", "ada", 1))

    received = await box.receive(set(), taken)
    assert [one.text for one in received.messages] == ["bob 1"]
    assert len(received.problems) == 1
    assert str(box._broken) in received.problems[0]
    assert (await box.receive(set(), taken)).problems == ()


def test_c4_a_message_to_no_one_is_refused(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    with pytest.raises(TeamError, match="no eve@crew"):
        MailDirectory(place.member_dir("eve")).put(message("bob", "eve", 1))


async def test_one_sender_cannot_hold_up_another(tmp_path: Path) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    for number in range(300):
        box.put(message("mass", "ada", number))
    box.put(message("zoe", "ada", 999))
    first = await box.receive(set(), taken)
    assert len(first.messages) == MAX_BATCH
    assert "zoe 999" in [one.text for one in first.messages]


async def test_questions_and_stops_overtake_texts(tmp_path: Path) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    for number in range(100):
        box.put(message("mass", "ada", number))
    box.put(message("bob", "ada", 5_000, "permission_request"))
    assert (await box.receive(set(), taken)).messages[0].kind == "permission_request"


async def test_the_order_of_each_sender_is_that_of_sending(tmp_path: Path) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    for number in (3, 1, 2):
        box.put(message("bob", "ada", number))
    assert [m.text for m in (await box.receive(set(), taken)).messages] == [
        "bob 1", "bob 2", "bob 3",
    ]  # fmt: skip


def test_a_full_disk_says_that_nothing_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = mailbox(place_at(tmp_path), "ada")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        box.put(message("bob", "ada", 1))
    assert files(box) == os.listdir(box._tmp) == []


def test_a_message_that_is_too_large_is_refused_with_what_to_do(tmp_path: Path) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    with pytest.raises(TeamError, match="Write it to a file"):
        box.put(message("bob", "ada", 1, text="x" * 300_000))
    assert files(box) == []


async def test_a_reader_that_holds_the_lock_is_the_only_one(tmp_path: Path) -> None:
    box = mailbox(place_at(tmp_path), "ada")
    box.put(message("bob", "ada", 1))
    with box._lock.open("w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert (await box.receive(set(), taken)).messages == ()
    assert len((await box.receive(set(), taken)).messages) == 1


async def test_a_message_arrives_and_is_recorded(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    ada, bob = Receiver(place, "ada", tmp_path / "a"), Receiver(place, "bob", tmp_path / "b")
    ada.start()
    for number in range(20):
        await bob.post.send("ada@crew", "text", text=str(number))
    got = await ada.wait_for(20)
    assert [one.text for one in got] == [str(number) for number in range(20)]
    assert {one.sender for one in got} == {"bob@crew"}
    lines = [line for line in read_forwards(ada.session.path) if isinstance(line, Line)]
    assert [line.data["message"]["text"] for line in lines if line.data["kind"] == "mail"] == [
        str(number) for number in range(20)
    ]
    await ada.aclose()
    await bob.aclose()


async def test_a_message_is_noticed_within_a_second_where_no_change_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reports_nothing(*_: object, **__: object) -> AsyncIterator[object]:
        raise OSError("no watches left")

    monkeypatch.setattr(post, "file_changes", reports_nothing)
    assert post.POLL_S <= 1.0
    place = place_at(tmp_path)
    ada = Receiver(place, "ada", tmp_path / "a")
    ada.start()
    await asyncio.to_thread(mailbox(place, "ada").put, message("bob", "ada", 1))
    assert [one.text for one in await ada.wait_for(1)] == ["bob 1"]
    await ada.aclose()


async def test_a_message_from_another_process_wakes_the_receiver(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    ada = Receiver(place, "ada", tmp_path / "a")
    ada.start()
    # Nobody pokes: as another process would send it.
    await asyncio.to_thread(mailbox(place, "ada").put, message("bob", "ada", 1))
    assert [one.text for one in await ada.wait_for(1)] == ["bob 1"]
    await ada.aclose()


async def test_a_delivery_is_no_news_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post, "POLL_S", 1_000.0)
    place = place_at(tmp_path)
    receiver = Receiver(place, "ada", tmp_path)
    calls: list[None] = []
    receiver.watch.listen(lambda: calls.append(None))
    receiver.start()
    await asyncio.sleep(0.1)
    mailbox(place, "ada").put(message("bob", "ada", 1))
    await receiver.wait_for(1)
    await asyncio.sleep(0.5)
    await receiver.aclose()
    assert 0 < len(calls) < 8, "the file, its new place, its end, and no more"
