"""Results too large for the conversation."""

from __future__ import annotations

from typing import Any

from agent.messages import text_block
from agent.tools.base import Tool, ToolContext, ToolOutcome, build_tool
from agent.tools.builtin.bash import BashInput
from agent.tools.large_results import bound_result
from tests.agent.tools.conftest import Bench

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 99}}


async def never_run(_input: BashInput, _context: ToolContext) -> ToolOutcome:
    raise AssertionError("never run")


def small(limit: int = 5_000) -> Tool[Any]:
    return build_tool(
        name="x",
        description="x",
        input_model=BashInput,
        run=never_run,
        max_result_size_chars=limit,
    )


async def test_results_within_the_limit_stay_as_they_are(bench: Bench) -> None:
    outcome = ToolOutcome("x" * 5_000, is_error=True)
    assert await bound_result(outcome, small(), bench.context) is outcome
    assert not bench.services.results_dir.exists()


async def test_larger_ones_go_to_a_private_file(bench: Bench) -> None:
    text = "".join(f"line {n} é\n" for n in range(2_000))
    outcome = await bound_result(ToolOutcome(text, is_error=True), small(), bench.context)
    path = bench.services.results_dir / "toolu_1.txt"
    assert isinstance(outcome.content, str)
    assert str(path) in outcome.content
    assert outcome.content.startswith(f"The result is too long to show: {len(text):,} characters.")
    assert "\nIt starts with:\nline 0 é\n" in outcome.content
    assert outcome.content.endswith("line 1999 é\n")
    assert len(outcome.content) < 5_000
    assert outcome.is_error
    assert path.read_text() == text
    assert path.stat().st_mode & 0o777 == 0o600
    assert bench.services.results_dir.stat().st_mode & 0o777 == 0o700


async def test_nothing_is_overwritten(bench: Bench) -> None:
    for text in ("a" * 6_000, "b" * 6_000):
        await bound_result(ToolOutcome(text), small(), bench.context)
    assert (bench.services.results_dir / "toolu_1.txt").read_text() == "a" * 6_000
    assert (bench.services.results_dir / "toolu_1-2.txt").read_text() == "b" * 6_000


async def test_ids_cannot_lead_out_of_the_directory(bench: Bench) -> None:
    context = ToolContext("../../x/y", "t", None, bench.controller.signal, print, bench.services)
    await bound_result(ToolOutcome("a" * 6_000), small(), context)
    assert [p.name for p in bench.services.results_dir.iterdir()] == ["_x_y.txt"]


async def test_pictures_are_never_put_into_text(bench: Bench) -> None:
    outcome = ToolOutcome((text_block("short"), IMAGE))
    assert await bound_result(outcome, small(50), bench.context) is outcome
    long = ToolOutcome((text_block("a" * 6_000), IMAGE, text_block("b")))
    bounded = await bound_result(long, small(), bench.context)
    assert isinstance(bounded.content, tuple)
    assert [block["type"] for block in bounded.content] == ["text", "image"]
    assert bounded.content[1] is IMAGE


async def test_full_disk_is_reported(bench: Bench) -> None:
    bench.services.results_dir.write_text("a file where the folder should be")
    outcome = await bound_result(ToolOutcome("a" * 6_000), small(), bench.context)
    assert "The rest is lost" in str(outcome.content)
