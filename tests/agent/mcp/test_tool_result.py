"""Results of servers: text stays, pictures are seen, everything else is a file with a name."""

from __future__ import annotations

import base64
from pathlib import Path

from agent.mcp.bridge.tool_result import ResultFiles, outcome_of
from agent.mcp.server_offer import CallResult, Json
from agent.tools.base import ToolOutcome

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _outcome(tmp_path: Path, *blocks: Json, structured: object = None) -> ToolOutcome:
    return outcome_of(CallResult(blocks, structured), ResultFiles(tmp_path, "call/1"))


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_texts_are_one_text(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path, {"type": "text", "text": "a"}, {"type": "text", "text": "b"})
    assert outcome.content == "a\nb"


def test_a_picture_is_a_picture_whatever_it_is_called(tmp_path: Path) -> None:
    block = {"type": "image", "data": _encoded(PIXEL), "mimeType": "image/jpeg"}
    content = _outcome(tmp_path, block).content
    assert isinstance(content, tuple)
    line, picture = content
    stored = tmp_path / "call_1-1.png"
    assert stored.read_bytes() == PIXEL
    about = f"[image/png, {len(PIXEL)} bytes, stored as {stored}]"
    assert line["text"] == f"image: PNG, 1×1 pixels {about}"
    assert picture["source"]["media_type"] == "image/png"


def test_what_is_no_picture_becomes_a_file(tmp_path: Path) -> None:
    svg = {"type": "image", "data": _encoded(b"<svg/>"), "mimeType": "image/svg+xml"}
    sound = {"type": "audio", "data": _encoded(b"RIFF"), "mimeType": "audio/wav"}
    outcome = _outcome(tmp_path, svg, sound)
    assert (tmp_path / "call_1-1.svg").read_bytes() == b"<svg/>"
    assert "call_1-1.svg" in outcome.content
    assert [path.read_bytes() for path in tmp_path.glob("call_1-2.*")] == [b"RIFF"]


def test_resources_are_named_and_never_fetched(tmp_path: Path) -> None:
    link = {"type": "resource_link", "name": "notes", "uri": "file:///etc/passwd"}
    text = {"type": "resource", "resource": {"uri": "note:///1", "text": "content"}}
    blob = {"type": "resource", "resource": {"uri": "note:///2", "blob": "!!", "mimeType": "a/b"}}
    outcome = _outcome(tmp_path, link, text, blob)
    assert isinstance(outcome.content, str)
    assert outcome.content.startswith("[resource notes: file:///etc/passwd]\n[resource note:///1]")
    assert "[a/b, 0 bytes" in outcome.content


def test_structured_content_is_added_where_no_text_says_it(tmp_path: Path) -> None:
    text = {"type": "text", "text": '{"a": 1}'}
    assert _outcome(tmp_path, text, structured={"a": 1}).content == '{"a": 1}'
    assert _outcome(tmp_path, text, structured={"a": 2}).content == '{"a": 1}\n{"a": 2}'


def test_an_unknown_kind_is_reported(tmp_path: Path) -> None:
    assert _outcome(tmp_path, {"type": "hologram"}).content == (
        "[content of the unknown kind 'hologram']"
    )
