"""Read: every kind of file that a project may hold."""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
import zlib
from pathlib import Path

import pytest

from agent.tools.base import ToolError
from agent.tools.builtin import read
from agent.tools.builtin.read import read_tool
from agent.tools.builtin.read_image import image_size
from agent.tools.builtin.read_pdf import page_numbers
from agent.tools.files import atomic_write, document
from tests.agent.tools.conftest import Bench

READ = read_tool()


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\0" * width for _ in range(height)))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def pdf(*pages: str) -> bytes:
    """A minimal PDF with one line of text on each page."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents {5 + 2 * index} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += "".join(f"{offset:010d} 00000 n \n" for offset in offsets).encode()
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n".encode()
    return out + f"startxref\n{start}\n%%EOF\n".encode()


async def test_lines_are_numbered_like_cat(bench: Bench) -> None:
    bench.file("a.txt", "one\n\ttwo\n\nfour")
    assert await bench.text(READ, file_path="a.txt") == (
        "     1\tone\n     2\t\ttwo\n     3\t\n     4\tfour"
    )


async def test_range_says_where_to_continue(bench: Bench) -> None:
    bench.file("a.txt", "".join(f"l{i}\n" for i in range(1, 101)))
    text = await bench.text(READ, file_path="a.txt", offset=10, limit=2)
    assert text == (
        "    10\tl10\n    11\tl11\n\n[a.txt: lines 10-11 of 100; continue with offset=12]"
    )
    assert "continue" not in await bench.text(READ, file_path="a.txt", offset=99, limit=9)


async def test_offset_past_the_end_is_reported(bench: Bench) -> None:
    bench.file("a.txt", "one\n")
    with pytest.raises(ToolError, match="only 1 lines"):
        await bench.call(READ, file_path="a.txt", offset=5)


async def test_long_files_and_long_lines_are_bounded(bench: Bench) -> None:
    bench.file("lines.txt", "x\n" * 5_000)
    text = await bench.text(READ, file_path="lines.txt")
    assert text.count("\tx") == 2_000
    assert "lines 1-2000 of 5,000; continue with offset=2001" in text
    bench.file("wide.txt", "short\n" + "y" * 5_000_000 + "\nend\n")
    text = await bench.text(READ, file_path="wide.txt")
    assert len(text) < 3_000
    assert "cut: line 2" in text
    assert "     3\tend" in text
    bench.file("big.txt", ("z" * 1_500 + "\n") * 1_000)
    text = await bench.text(READ, file_path="big.txt")
    assert len(text) < 110_000
    assert "of 1,000; continue with offset=67" in text


async def test_huge_file_is_read_in_a_window(bench: Bench) -> None:
    path = bench.root / "huge.log"
    with path.open("wb") as file:
        for start in range(0, 3_000_000, 1_000):
            file.write(b"".join(b"line %d\r\n" % i for i in range(start, start + 1_000)))
    assert path.stat().st_size > 20 * 1024 * 1024
    text = await bench.text(READ, file_path="huge.log", offset=2_999_998)
    assert text.startswith(
        "2999998\tline 2999997\n2999999\tline 2999998\n3000000\tline 2999999\n\n"
    )
    assert "of 3,000,000" in text
    assert "too large for Edit" in text


@pytest.mark.parametrize(
    ("data", "line", "note"),
    [
        ("é🙂\n".encode("utf-8-sig"), "é🙂", "UTF-8 with byte order mark"),
        (b"\xff\xfe" + "é🙂\n".encode("utf-16-le"), "é🙂", "UTF-16-LE with byte order mark"),
        (b"\xfe\xff" + "é🙂\n".encode("utf-16-be"), "é🙂", "UTF-16-BE with byte order mark"),
        (b"caf\xe9\n", "café", "not valid UTF-8; read as Latin-1"),
        (b"a\r\n", "a", "CRLF line endings"),
        (b"a\r\nb\n", "a", "mixed line endings: 1 CRLF, 1 LF"),
        ("a\u202eb\n".encode(), "a\u202eb", "invisible or control characters: line 1: U+202E"),
        (b"a\x1b[2J\n", "a\x1b[2J", "invisible or control characters: line 1: U+001B"),
    ],
)
async def test_form_of_the_file_is_reported(
    bench: Bench, data: bytes, line: str, note: str
) -> None:
    bench.file("a.txt", data)
    text = await bench.text(READ, file_path="a.txt")
    assert text.split("\n")[0] == f"     1\t{line}"
    assert text.endswith(f"[a.txt: {note}]")


async def test_empty_file_is_reported(bench: Bench) -> None:
    bench.file("a.txt")
    assert await bench.text(READ, file_path="a.txt") == "[a.txt is empty.]"


@pytest.mark.parametrize(
    ("name", "make", "match"),
    [
        ("x.bin", lambda p: p.write_bytes(b"\x7fELF\0\0"), "binary file of 6 bytes"),
        ("x.dat", lambda p: p.write_bytes(bytes(range(1, 9)) * 9), "binary file"),
        ("folder", lambda p: p.mkdir(), "is a folder"),
        ("pipe", os.mkfifo, "not a regular file"),
        ("gone", lambda p: p.symlink_to("nowhere"), "link to a file that does not exist"),
        ("missing.txt", lambda p: None, "does not exist"),
        ("bad.png", lambda p: p.write_bytes(b"\x89PNG\r\n\x1a\n"), "damaged"),
        ("bad.pdf", lambda p: p.write_bytes(b"%PDF-1.4 nothing"), "PDF"),
        ("bad.ipynb", lambda p: p.write_bytes(b"{}"), "not a valid notebook"),
    ],
)
async def test_what_cannot_be_read_is_reported_plainly(
    bench: Bench, name: str, make: object, match: str
) -> None:
    assert callable(make)
    make(bench.root / name)
    with pytest.raises(ToolError, match=match):
        await bench.call(READ, file_path=name)


async def test_similar_names_are_offered(bench: Bench) -> None:
    bench.file("settings.json")
    with pytest.raises(ToolError, match=r"Similar names there: settings\.json"):
        await bench.call(READ, file_path="setings.json")


async def test_names_may_hold_anything(bench: Bench) -> None:
    name = "a b\n‘é’ 🙂.txt"
    bench.file(name, "x\n")
    assert await bench.text(READ, file_path=name) == "     1\tx"
    parsed = READ.parse({"file_path": str(bench.root / name), "offset": 10, "limit": 31})
    assert READ.identifier(parsed, bench.root) == "Read a b\\n‘é’ 🙂.txt:10-40"


async def test_picture_is_shown(bench: Bench) -> None:
    data = png(7, 3)
    bench.file("a.dat", data)
    outcome = await bench.call(READ, file_path="a.dat")
    assert outcome.content == (
        {"type": "text", "text": "a.dat: PNG, 7×3 pixels"},
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": "image/png",
                "data": base64.b64encode(data).decode(),
            },
        },
    )


async def test_picture_beyond_the_limits_is_refused(bench: Bench) -> None:
    bench.file("a.png", png(9_000, 1))
    with pytest.raises(ToolError, match="9000×1 pixels"):
        await bench.call(READ, file_path="a.png")


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"GIF89a" + struct.pack("<HH", 5, 6), (5, 6)),
        (b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x0b\x08" + struct.pack(">HH", 6, 5), (5, 6)),
        (b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x04\0\0\x05\0\0", (5, 6)),
        (b"RIFF\0\0\0\0WEBPVP8L" + b"\0" * 4 + b"\x2f" + struct.pack("<I", 4 | 5 << 14), (5, 6)),
        (b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 5, 6), (5, 6)),
        (b"GIF89a", None),
        (b"\xff\xd8\xff\xe0\0\x04", None),
        (b"no picture", None),
    ],
)
def test_size_of_a_picture_is_read_from_its_header(
    data: bytes, size: tuple[int, int] | None
) -> None:
    assert image_size(data) == size


async def test_pages_of_a_pdf(bench: Bench) -> None:
    bench.file("a.pdf", pdf("first page", "second page", "third page"))
    text = await bench.text(READ, file_path="a.pdf", pages="2-3")
    assert text == (
        "--- page 2 of 3 ---\nsecond page\n\n--- page 3 of 3 ---\nthird page\n\n[a.pdf: 3 pages]"
    )
    with pytest.raises(ToolError, match="there is no page 4"):
        await bench.call(READ, file_path="a.pdf", pages="4")


async def test_pdf_without_text_is_reported(bench: Bench) -> None:
    bench.file("a.pdf", pdf(""))
    assert "probably scanned" in await bench.text(READ, file_path="a.pdf")


async def test_a_pdf_that_takes_too_long_is_given_up(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "CPU_S", 1)
    bench.file("slow.pdf", pdf("a) Tj (" * 500_000))
    with pytest.raises(ToolError, match=r"^slow\.pdf takes more than 1 s"):
        await bench.call(READ, file_path="slow.pdf")


async def test_long_pdf_is_read_in_parts(bench: Bench) -> None:
    bench.file("a.pdf", pdf(*(f"p{i}" for i in range(1, 31))))
    text = await bench.text(READ, file_path="a.pdf")
    assert "--- page 20 of 30 ---" in text
    assert "--- page 21" not in text
    assert "more pages: pages=21-30" in text


@pytest.mark.parametrize("pages", ["", "0", "3-1", "a", "1-", "1-21", "1,", "-3", "1-10,11-21"])
def test_malformed_page_lists_are_refused(pages: str) -> None:
    with pytest.raises(ValueError, match="pages"):
        page_numbers(pages)


def test_page_lists_are_sorted_and_unique() -> None:
    assert page_numbers("9, 1-3,2") == (1, 2, 3, 9)


async def test_pages_are_for_pdf_only(bench: Bench) -> None:
    bench.file("a.txt", "x")
    assert await bench.objection(READ, file_path="a.txt", pages="1")


async def test_notebook_comes_as_cells(bench: Bench) -> None:
    picture = base64.b64encode(png(2, 2)).decode()
    cells = [
        {"cell_type": "markdown", "id": "m1", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "source": "1/0",
            "outputs": [
                {"output_type": "stream", "text": ["out\n"]},
                {"output_type": "display_data", "data": {"image/png": picture}},
                {"output_type": "error", "traceback": ["ZeroDivisionError"]},
            ],
        },
    ]
    bench.file("a.ipynb", json.dumps({"cells": cells}))
    outcome = await bench.call(READ, file_path="a.ipynb")
    assert isinstance(outcome.content, tuple)
    text, image = outcome.content
    assert [line.split("\t")[1] for line in text["text"].split("\n\n[")[0].split("\n")] == [
        "# Cell 1 (markdown) id=m1",
        "# Title",
        "text",
        "",
        "# Cell 2 (code)",
        "1/0",
        "# Output:",
        "out",
        "# Output:",
        "[image 1, below]",
        "# Error:",
        "ZeroDivisionError",
    ]
    assert image["source"]["data"] == picture


def test_permission_sees_the_absolute_path(bench: Bench) -> None:
    raw = {"file_path": "~/x/../y", "offset": 3}
    parsed = READ.parse(raw)
    seen = READ.permission_input(parsed, raw, bench.context)
    assert seen == {"file_path": f"{bench.services.home}/x/../y", "offset": 3}
    raw = {"file_path": "sub/a"}
    assert READ.permission_input(READ.parse(raw), raw, bench.context) == {
        "file_path": str(bench.root / "sub/a")
    }


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
async def test_impossible_names_are_refused(bench: Bench, path: str) -> None:
    assert await bench.objection(READ, file_path=path)


async def test_read_outside_the_home_directory_tree_keeps_links_working(
    bench: Bench, tmp_path: Path
) -> None:
    target = bench.file("real.txt", "x\n")
    (bench.root / "link.txt").symlink_to(target)
    assert await bench.text(READ, file_path="link.txt") == "     1\tx"
    assert bench.services.files.known_hash(target) == bench.services.files.known_hash(
        bench.root / "link.txt"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_a_file_that_states_no_size_is_bounded_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_write, "MAX_EDIT_BYTES", 10)
    monkeypatch.setattr(read, "MAX_EDIT_BYTES", 10)
    with pytest.raises(ToolError, match="too large to edit"):
        atomic_write.read_current(Path(f"/proc/{os.getpid()}/status"))
    with pytest.raises(ToolError, match="more than 10 bytes"):
        await bench.call(READ, file_path="/proc/self/status")
