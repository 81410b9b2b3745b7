"""Paths that an answer names are links where the file exists, and text elsewhere."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tui.text.file_links import find_file
from tui.text.highlight import Highlighter
from tui.text.styled_rows import Row
from tui.transcript.block_layout import make_layout
from tui.transcript.blocks import AssistantText
from tui.transcript.markdown.markdown_rows import markdown_rows

NAMES = ("src/foo.py", "README.md", "Makefile", "a b.txt", "ü/ä.rs", "src/data-1.2/x_y.tar.gz")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in NAMES:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return project


def links(rows: list[Row]) -> list[tuple[str, str]]:
    return [(text, ink.link) for row in rows for text, ink in row.runs if ink.link is not None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See src/foo.py:12, README.md.", [("src/foo.py:12", "src/foo.py#12"), ("README.md",) * 2]),
        ("(`src/foo.py:3`)", [("src/foo.py:3", "src/foo.py#3")]),
        ("src/foo.py:1", [("src/foo.py:1", "src/foo.py")]),
        ("src/foo.py:12:5 and src/foo.py#L7", [
            ("src/foo.py:12", "src/foo.py#12"), ("src/foo.py#L7", "src/foo.py#7"),
        ]),
        ("`Makefile` but Makefile", [("Makefile",) * 2]),
        ("`pytest -q src/foo.py`", [("src/foo.py",) * 2]),
        ("**src/**, ./src/foo.py", [("src/",  "src"), ("./src/foo.py", "src/foo.py")]),
        ("ü/ä.rs", [("ü/ä.rs", "%C3%BC/%C3%A4.rs")]),
        ("src/data-1.2/x_y.tar.gz!", [("src/data-1.2/x_y.tar.gz",) * 2]),
        ("~/project/README.md", [("~/project/README.md", "README.md")]),
        ("- [x] src/foo.py\n\n| a |\n|--|\n| README.md |", [
            ("src/foo.py",) * 2, ("README.md",) * 2,
        ]),
        ("[the file](src/foo.py#L3)", [("src/foo.py#L3", "src/foo.py#3")]),
        ("[README.md](https://a.b/README.md)", None),
        ("src/nothing.py and/or e.g. 1.5 x.README.md https://a.b/README.md", None),
        ("```\nsrc/foo.py\n```", []),
    ],
)  # fmt: skip
def test_paths_are_links(project: Path, text: str, expected: list[tuple[str, str]] | None) -> None:
    def find(path: str) -> str | None:
        return find_file(path, str(project), str(project.parent))

    found = links(markdown_rows(text, 200, Highlighter(find_file=find), is_final=True))
    base = project.as_uri()
    files = [(shown, link) for shown, link in found if link.startswith("file:")]
    assert files == [(shown, f"{base}/{name}") for shown, name in expected or ()]
    assert all(link == shown or link.startswith("file:") for shown, link in found)


def test_what_grows_is_not_looked_up(project: Path) -> None:
    asked: list[str] = []

    def find(path: str) -> str | None:
        asked.append(path)
        return None

    layout = make_layout(
        AssistantText("k", "src/foo.py", is_streaming=True),
        80,
        is_detailed=False,
        highlighter=Highlighter(find_file=find),
    )
    assert asked == []
    layout.update(AssistantText("k", "src/foo.py is", is_streaming=False))
    assert asked == ["src/foo.py"]


async def test_files_are_found_in_the_thread_and_drawn_then(project: Path) -> None:
    ready = asyncio.Event()
    text = "src/foo.py:7 and src/new.py\n\n" * 3

    def find(path: str) -> str | None:
        return find_file(path, str(project), "")

    def finished(highlighter: Highlighter) -> list[tuple[str, str]]:
        block = AssistantText("k", text, is_streaming=False)
        layout = make_layout(block, 80, is_detailed=False, highlighter=highlighter)
        layouts.append(layout)
        return links([layout.row(line) for line in range(layout.height)])

    async def painted() -> list[tuple[str, str]]:
        async with asyncio.timeout(20):
            while layouts[-1].settled_rows < layouts[-1].height:
                await ready.wait()
                ready.clear()
                layouts[-1].repaint()
        return links([layouts[-1].row(line) for line in range(layouts[-1].height)])

    layouts: list = []  # type: ignore[type-arg]
    with ThreadPoolExecutor(1) as executor:
        highlighter = Highlighter(executor, ready.set, find)
        assert finished(highlighter) == []
        assert await painted() == [("src/foo.py:7", (project / "src/foo.py").as_uri() + "#7")] * 3
        # A later answer sees what has been made since.
        (project / "src" / "new.py").touch()
        finished(highlighter)
        assert len(await painted()) == 6


def test_an_endless_list_of_paths_is_looked_for_in_part() -> None:
    asked: list[str] = []

    def find(path: str) -> str | None:
        asked.append(path)
        return None

    text = " ".join(f"`a/{number}`" for number in range(5_000))
    markdown_rows(text, 80, Highlighter(find_file=find), is_final=True)
    assert len(asked) == 200
