"""Images among the text: what the terminal is asked and given, and where it draws."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from PIL import Image
from rich.color import ColorSystem

from agent.events import Complete, ToolDispatch, ToolResult, Usage
from tests.tui.app.test_app_keys import send, settled
from tests.tui.recorded import RecordedConversation, Step, make_app
from tui.app.app import AgentApp
from tui.images.image_cells import PLACEHOLDER, cells_of, image_rows
from tui.images.image_support import ImageSupport, image_query, support_from_reply
from tui.images.inline_images import ImageFile, InlineImages
from tui.images.load_image import UnreadableImage, load_png, load_sixel
from tui.input.driver import _Reader
from tui.input.terminal_reply import TerminalReply
from tui.screen.sixel_layer import SixelLayer
from tui.transcript.blocks import ToolCard
from tui.transcript.results.image_blocks import shown_images

KITTY = "\x1bP>|kitty(0.46.2)\x1b\\"
SIXEL = ("\x1bP>|foot(1.27.0)\x1b\\", "\x1b[6;20;10t", "\x1b[?62;4;22c")


def picture(path: Path, size: tuple[int, int] = (60, 40)) -> Path:
    """Write an image, red above and blue below."""
    image = Image.new("RGB", size, (255, 0, 0))
    image.paste((0, 0, 255), (0, size[1] // 2, *size))
    image.save(path)
    return path


def looked_at(path: Path, size: str = "60×40") -> list[Step]:
    """Return the events of a turn in which the model looks at an image."""
    text = f"{path.name}: PNG, {size} pixels\n[image]"
    return [
        ToolDispatch("t", "u", "Read", {"file_path": str(path)}, f"Read {path.name}"),
        ToolResult("t", "u", "Read", text, False, 0.1, "ok", f"Read {path.name}"),
        Complete("t", "m", "end_turn", Usage()),
    ]


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        ([KITTY], "kitty"),
        (["\x1bP>|ghostty 1.3.1\x1b\\", "\x1b[?62;22c"], "kitty"),
        ([KITTY, "\x1b[?62;4c"], "kitty"),
        (SIXEL, "sixel"),
        # It knows a part of kitty's protocol, and sixel; but not how large its cells are.
        (["\x1bP>|WezTerm 20260331\x1b\\", "\x1b[?65;4;6;18;22c"], ""),
        (["\x1bP>|Konsole 26.04\x1b\\", "\x1b[6;20;10t", "\x1b[?62;1c"], ""),
        (["\x1b[?1;2c", "\x1b[6;20;10t"], ""),
    ],
)
def test_what_a_terminal_shows_follows_from_its_replies(replies: list[str], expected: str) -> None:
    support = ImageSupport()
    messages = _Reader(debug=False).feed("".join(replies).encode())
    assert [m.text for m in messages if isinstance(m, TerminalReply)] == list(replies)
    assert len(messages) == len(replies)
    for reply in replies:
        known = support_from_reply(reply, support)
        assert known is not None
        support = known
    assert (support.kind if support.is_complete else "") == expected
    assert support_from_reply("\x1b[?997;1n", support) is None
    assert support_from_reply("\x1b[2;3R", support) is None


def test_terminals_that_pass_queries_on_or_draw_them_are_not_asked() -> None:
    assert image_query({"TERM": "xterm-256color"}).endswith("\x1b[c")
    assert not image_query({"TERM": "linux"})
    assert not image_query({"TERM": "xterm-256color", "STY": "1.pts"})


@pytest.mark.parametrize(
    ("size", "cell", "expected"),
    [
        ((60, 40), (10, 20), (6, 2)),
        ((1, 1), (10, 20), (1, 1)),
        ((4000, 2000), (10, 20), (48, 12)),
        ((100, 9000), (10, 20), (1, 14)),
        ((60, 40), (0, 0), (8, 2)),
    ],
)
def test_an_image_keeps_its_proportions_and_is_never_enlarged(
    size: tuple[int, int], cell: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert cells_of(size, cell, 70) == expected


def drawn(sequence: str) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Return the color, in percent, of each pixel that a sixel sequence draws."""
    body = sequence[sequence.index("q") + 1 : -2]
    colors: dict[str, tuple[int, int, int]] = {}
    pixels: dict[tuple[int, int], tuple[int, int, int]] = {}
    x = top = 0
    color = (0, 0, 0)
    tokens = re.findall(r'"[\d;]+|#(\d+)(?:;2;(\d+);(\d+);(\d+))?|(?:!(\d+))?([?-~])|([$-])', body)
    for number, red, green, blue, count, data, move in tokens:
        if red:
            colors[number] = (int(red), int(green), int(blue))
        elif number:
            color = colors[number]
        elif data:
            for _ in range(int(count or 1)):
                bits = ord(data) - 63
                pixels.update({(x, top + bit): color for bit in range(6) if bits >> bit & 1})
                x += 1
        elif move:
            x, top = 0, top + (6 if move == "-" else 0)
    return pixels


def test_a_sixel_draws_every_pixel_of_the_image(tmp_path: Path) -> None:
    pixels = drawn(load_sixel(picture(tmp_path / "a.png"), (60, 40), (60, 40)))
    # The last band would have four rows.
    assert set(pixels) == {(x, y) for x in range(60) for y in range(36)}
    assert pixels[0, 0] == (100, 0, 0)
    assert pixels[59, 35] == (0, 0, 100)


def test_a_transparent_pixel_is_not_drawn(tmp_path: Path) -> None:
    image = Image.new("RGBA", (12, 12), (0, 0, 0, 0))
    image.putpixel((3, 4), (0, 255, 0, 255))
    image.save(tmp_path / "a.png")
    assert set(drawn(load_sixel(tmp_path / "a.png", (12, 12), (12, 12)))) == {(3, 4)}


def test_another_or_a_damaged_file_is_not_shown(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png")
    with pytest.raises(UnreadableImage):
        load_png(path, (61, 40), (60, 40))
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(UnreadableImage):
        load_png(path, (60, 40), (60, 40))
    with pytest.raises(UnreadableImage):
        load_sixel(tmp_path / "none.png", (60, 40), (60, 40))
    path.write_text('<svg width="60" height="40"/>')
    with pytest.raises(UnreadableImage):
        load_png(path, (60, 40), (60, 40))


def written(app: AgentApp) -> list[str]:
    """Return a list that receives what is handed to the terminal besides frames."""
    out: list[str] = []
    images = app.parts.transcript.viewport.images
    assert isinstance(images, InlineImages)
    images._write = out.append
    return out


def screen_rows(app: AgentApp) -> list[str]:
    return ["".join(cell.grapheme for cell in row) for row in app._cells.back.rows]


async def test_kitty_is_given_the_image_and_shows_it_by_placeholders(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png")
    app = make_app(RecordedConversation([looked_at(path)]))
    async with app.run_test(size=(60, 30)) as pilot:
        out = written(app)
        app.post_message(TerminalReply(KITTY))
        await send(pilot, "go")
        await settled(pilot)
        while not out:
            await pilot.pause()
        await pilot.pause()
        rows = screen_rows(app)
    head, *shown = (row for row in rows if "60×40 PNG" in row or PLACEHOLDER in row)
    assert "a.png" in head
    assert [row.count(PLACEHOLDER) for row in shown] == [8, 8]
    sent = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", "".join(out))
    number = int(re.findall(r"i=(\d+)", sent[0][0])[0])
    png = base64.b64decode("".join(data for _, data in sent))
    with Image.open(io.BytesIO(png)) as image:
        assert image.size == (60, 40)
        assert image.convert("RGB").getpixel((0, 39)) == (0, 0, 255)
    assert "c=8,r=2" in sent[0][0]
    assert image_rows(number, 8, 2, "kitty")[0].text in shown[0]


def test_an_image_of_a_server_is_shown_where_it_is_a_file_of_its_call() -> None:
    stored = "[image/png, 1,234 bytes, stored as /s/results/toolu_1-2.png]"
    text = f"Here it is.\nimage: PNG, 60×40 pixels {stored}\n[image]"
    card = ToolCard("toolu_1", "mcp__draw__plot", "draw: plot", "ok", {}, 0.0, result=text)
    assert shown_images(card) == [ImageFile(Path("/s/results/toolu_1-2.png"), (60, 40))]
    assert shown_images(replace(card, key="toolu_2")) == []
    assert shown_images(replace(card, state="failed")) == []


async def test_a_terminal_without_images_gets_a_line_with_size_and_type(tmp_path: Path) -> None:
    app = make_app(RecordedConversation([looked_at(picture(tmp_path / "a.png"))]))
    async with app.run_test(size=(60, 30)) as pilot:
        out = written(app)
        app.post_message(TerminalReply("\x1b[?62;22c"))
        await send(pilot, "go")
        while not any("60×40 PNG" in row for row in screen_rows(app)):
            await pilot.pause()
        rows = screen_rows(app)
    assert any("a.png" in row and "60×40 PNG" in row for row in rows)
    assert not out
    assert not any(PLACEHOLDER in row for row in rows)


async def test_a_sixel_is_drawn_where_its_cells_are_and_again_when_they_move(
    tmp_path: Path,
) -> None:
    steps = looked_at(picture(tmp_path / "a.png"))
    app = make_app(RecordedConversation([steps, [Complete("t2", "m2", "end_turn", Usage())]]))
    app.console._color_system = ColorSystem.TRUECOLOR
    async with app.run_test(size=(60, 30)) as pilot:
        for reply in SIXEL:
            app.post_message(TerminalReply(reply))
        await send(pilot, "go")
        await settled(pilot)
        layer: SixelLayer = app.sixels
        while not layer._visible_spots:
            await pilot.pause()
        (spot,) = layer._visible_spots
        head = next(y for y, row in enumerate(screen_rows(app)) if "60×40 PNG" in row)
        assert (spot.y, spot.x) == (head + 1, 3)
        cells, state = app._cells, app._cells._terminal
        caret = app.cursor_position
        assert "\x1bP0;1;0q" not in cells.encode(caret, shows_caret=True)
        cells.forget_terminal()
        again = cells.encode(caret, shows_caret=True)
        assert again.count("\x1bP0;1;0q") == 1
        assert f"\x1b[{spot.y + 1};{spot.x + 1}H\x1bP" in again
        # One row less above it: its old cells are written, and it is drawn at the new place.
        moved = [*cells.back.rows[1:-1], cells.back.rows[0], cells.back.rows[-1]]
        cells.back.rows = moved
        after = cells.encode(caret, shows_caret=True)
        assert f"\x1b[{spot.y};{spot.x + 1}H\x1bP" in after
        assert state.x is not None
