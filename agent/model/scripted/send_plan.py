"""Converts events and faults into the steps to take on the connection, as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, Protocol, assert_never

from msgspec import Struct
from msgspec.structs import replace

from agent.model.scripted.faults import (
    Cut,
    Drop,
    Duplicate,
    ErrorFault,
    Fault,
    Insert,
    NoUsage,
    PlacedFault,
    Position,
    Quirk,
    Stall,
    Status,
    WholeJson,
)
from agent.model.scripted.frames import Frame


class SendHead(Struct, frozen=True):
    """Send the status line and headers."""


class Send(Struct, frozen=True):
    """Send bytes of the body."""

    data: bytes
    tokens: int = 0


class Wait(Struct, frozen=True):
    """Send nothing for `seconds`; without them, until `hold` is released or the client leaves."""

    seconds: float | None
    hold: str | None = None


class End(Struct, frozen=True):
    """End the response: `finish` properly, or as in `Cut.how`. Always the last step."""

    how: Literal["finish", "reset", "close", "end"] = "finish"


Step = SendHead | Send | Wait | End


class MessagesEncoder:
    """Encodes an answer for the Messages API."""

    def encode(self, frame: Frame) -> bytes:
        """Return an event's bytes."""
        return frame.encode()

    def error(self, fault: ErrorFault) -> bytes:
        """Return the bytes of an error within the stream."""
        body = error_body(fault.error_type, fault.message, fault.error_code, "req_in_stream")
        return f"event: error\ndata: {body}\n\n".encode()


class Encoder(Protocol):
    """Encodes one answer in a dialect."""

    def encode(self, frame: Frame) -> bytes:
        """Return an event's bytes; empty if the dialect has no such event."""
        ...

    def error(self, fault: ErrorFault) -> bytes:
        """Return the bytes of an error within the stream."""
        ...


def plan_stream(
    frames: Iterable[Frame],
    faults: Sequence[Fault],
    *,
    chunk_bytes: int = 0,
    encoder: Encoder | None = None,
) -> list[Step]:
    """Return the steps that send `frames` with all `faults` applied, in the order given."""
    encoder = encoder or MessagesEncoder()
    all_frames = list(frames)
    for fault in faults:
        all_frames = _edit_frames(all_frames, fault)
    steps: list[Step] = [
        SendHead(),
        *(Send(encoder.encode(f), f.tokens) for f in all_frames),
        End(),
    ]
    placed_faults = [f for f in faults if isinstance(f, Cut | Stall | ErrorFault | Insert)]
    at_events = [
        (fault, _index(all_frames, fault.at)) for fault in placed_faults if fault.at.place != "byte"
    ]
    # Later places first, so that an insertion does not shift the remaining places.
    for fault, index in sorted(at_events, key=lambda item: item[1], reverse=True):
        steps = _apply_fault(steps, fault, index, encoder)
    if chunk_bytes:
        steps = _rechunk(steps, chunk_bytes)
    for fault in placed_faults:
        if fault.at.place == "byte":
            steps = _apply_fault(*_split_at(steps, fault, fault.at.number))
    return steps


def plan_body(body: bytes, faults: Sequence[Fault]) -> list[Step]:
    """Return the steps that send a body that is not an event stream."""
    steps: list[Step] = [SendHead(), Send(body), End()]
    for fault in faults:
        if isinstance(fault, Cut | Stall):
            match fault.at.place:
                case "accept":
                    steps = _apply_fault(steps, fault, 0)
                case "byte":
                    steps = _apply_fault(*_split_at(steps, fault, fault.at.number))
                case "end":
                    steps = _apply_fault(steps, fault, len(steps) - 1)
                case _:
                    steps = _apply_fault(steps, fault, 1)
    if sum(len(step.data) for step in steps if isinstance(step, Send)) < len(body):
        # The length was announced: only closing the connection shows that no more follows.
        steps = [End("close") if step == End("end") else step for step in steps]
    return steps


def error_body(error_type: str, message: str, error_code: str | None, request_id: str) -> str:
    """Return the endpoint's error record."""
    error: dict[str, object] = {"type": error_type, "message": message}
    if error_code is not None:
        error["details"] = {"error_code": error_code}
    return json.dumps({"type": "error", "error": error, "request_id": request_id})


def _edit_frames(frames: list[Frame], fault: Fault) -> list[Frame]:
    match fault:
        case Drop(event, nth):
            target = _nth(frames, event, nth)
            return [frame for index, frame in enumerate(frames) if index != target]
        case Duplicate(event, nth):
            target = _nth(frames, event, nth)
            return [
                f for index, frame in enumerate(frames) for f in [frame] * (1 + (index == target))
            ]
        case NoUsage():
            return [replace(frame, data=_without_usage(frame.data)) for frame in frames]
        case Cut() | Stall() | ErrorFault() | Insert() | Status() | WholeJson() | Quirk():
            return frames
    assert_never(fault)


def _without_usage(data: object) -> object:
    if isinstance(data, dict):
        return {key: _without_usage(value) for key, value in data.items() if key != "usage"}
    return data


def _nth(frames: Sequence[Frame], event: str, nth: int) -> int:
    places = [index for index, frame in enumerate(frames) if frame.event == event]
    return places[nth] if nth < len(places) else -1


_DELTA_OF: Final[Mapping[str, str]] = {
    "thinking": "thinking_delta",
    "text": "text_delta",
    "tool_input": "input_json_delta",
}


def _index(frames: Sequence[Frame], position: Position) -> int:
    """Return the index of the step before which a fault at this point happens."""
    first_send = 1
    before_last = first_send + max(0, len(frames) - 1)
    match position.place:
        case "accept":
            return 0
        case "headers":
            return first_send
        case "end":
            return first_send + len(frames)
        case "event":
            return min(first_send + position.number, before_last)
        case "before_delta":
            frame_index = _nth(frames, "message_delta", 0)
        case "between_blocks":
            stop = _nth(frames, "content_block_stop", 0)
            frame_index = -1 if stop < 0 else stop + 1
        case "thinking" | "text" | "tool_input":
            frame_index = _after_first_delta(frames, _DELTA_OF[position.place])
        case "before_stop" | "byte":
            frame_index = -1
        case _:
            assert_never(position.place)
    return before_last if frame_index < 0 else first_send + frame_index


def _after_first_delta(frames: Sequence[Frame], delta_type: str) -> int:
    for index, frame in enumerate(frames):
        delta = frame.data.get("delta")
        if isinstance(delta, Mapping) and delta.get("type") == delta_type:
            return index + 1
    return -1


def _apply_fault(
    steps: list[Step], fault: PlacedFault, index: int, encoder: Encoder | None = None
) -> list[Step]:
    head, tail = steps[:index], steps[index:]
    match fault:
        case Cut():
            return [*head, End(fault.how)]
        case Stall():
            return [*head, Wait(fault.seconds, fault.hold), *tail]
        case Insert():
            return [*head, Send(fault.data), *tail]
        case ErrorFault():
            return [*head, Send((encoder or MessagesEncoder()).error(fault)), End()]
    assert_never(fault)


def _split_at(
    steps: list[Step], fault: PlacedFault, offset: int
) -> tuple[list[Step], PlacedFault, int]:
    """Split the body at a byte; return the steps, the fault and the index between the halves."""
    remaining = offset
    for index, step in enumerate(steps):
        if not isinstance(step, Send):
            continue
        if remaining <= len(step.data):
            halves: list[Step] = [
                Send(step.data[:remaining], step.tokens),
                Send(step.data[remaining:]),
            ]
            return [*steps[:index], *halves, *steps[index + 1 :]], fault, index + 1
        remaining -= len(step.data)
    return steps, fault, len(steps) - 1


def _rechunk(steps: list[Step], size: int) -> list[Step]:
    """Return the steps with bodies in pieces of `size` bytes; a negative size means one piece."""
    result: list[Step] = []
    pending = b""
    tokens = 0
    for step in steps:
        if isinstance(step, Send):
            pending += step.data
            tokens += step.tokens
            continue
        width = size if size > 0 else max(1, len(pending))
        pieces = [pending[start : start + width] for start in range(0, len(pending), width)]
        share = tokens // max(1, len(pieces))
        result += [Send(piece, share) for piece in pieces]
        result.append(step)
        pending, tokens = b"", 0
    return result
