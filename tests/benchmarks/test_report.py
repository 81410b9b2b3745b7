"""Tables and pictures say what was measured and shown."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmarks.figures import Figure
from benchmarks.report import as_table
from benchmarks.svg import as_svg, shoot
from benchmarks.terminal import Emulator


def test_table_has_a_column_per_variant_and_ratios_to_the_first() -> None:
    results = {
        "ours": [Figure("echo", 2.0, "ms"), Figure("lost", 0.0, "")],
        "stock": [Figure("echo", 6.0, "ms"), Figure("lost", None, "")],
    }
    assert as_table(results).split("\n") == [
        "| figure   | ours | stock | stock ÷ ours |",
        "| ---      |  --: |   --: |          --: |",
        "| echo, ms | 2.00 |  6.00 |         3.00 |",
        "| lost     | 0.00 | never |              |",
    ]


def test_picture_is_valid_and_holds_text_and_colors() -> None:
    emulator = Emulator(20, 3)
    emulator.write(b"\x1b[31;1ma < b\x1b[0m\x1b[2;1H\x1b[7mon\x1b[0m")
    root = ElementTree.fromstring(as_svg([shoot(emulator)], title="one & all"))
    texts = [(node.text, node.get("fill"), node.get("class")) for node in root.iter() if node.text]
    assert ("a < b", "#e06c75", "b") in texts
    assert ("on", "#14171c", None) in texts


def test_several_shots_take_turns_in_their_order() -> None:
    emulator = Emulator(20, 3)
    emulator.write(b"one")
    first = shoot(emulator, seconds=1)
    emulator.write(b"\rtwo")
    text = as_svg([first, shoot(emulator, seconds=3)], title="demo")
    assert "@keyframes k0{0.000%{visibility:visible}25.000%{visibility:hidden}}" in text
    assert "@keyframes k1{0%{visibility:hidden}25.000%{visibility:visible}100.000%" in text
