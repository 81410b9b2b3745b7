"""Scenario files."""

from __future__ import annotations

import pytest

from agent.model.scripted.faults import Cut, Position, Status
from agent.model.scripted.scenario import (
    FaultPlan,
    Pace,
    RawBlock,
    Scenario,
    Text,
    Thinking,
    ToolCall,
    Turn,
    When,
)
from agent.model.scripted.scenario_file import ScenarioError, parse_scenario

FULL = """
name = "all"
[pace]
tokens_per_s = 80
[[turn]]
name = "look"
when = { prompt = "bug", after = "" }
parts = [
  { thinking = "hm" },
  { text = "I look." },
  { tool = "Read", input = { file_path = "${cwd}/a.py" } },
  { block = { type = "new" }, deltas = [{ type = "new_delta" }] },
]
fault = { kind = "cut", at = "byte:7", how = "close" }
[[fault]]
kind = "status"
request = 2
status = 429
headers = { retry-after = "3" }
[otherwise]
parts = [{ text = "?" }]
"""


def test_a_file_says_what_python_says() -> None:
    assert parse_scenario(FULL) == Scenario(
        name="all",
        pace=Pace(tokens_per_s=80),
        turns=(
            Turn(
                (
                    Thinking("hm"),
                    Text("I look."),
                    ToolCall("Read", {"file_path": "${cwd}/a.py"}),
                    RawBlock({"type": "new"}, ({"type": "new_delta"},)),
                ),
                name="look",
                when=When(prompt="bug", after=""),
                fault=Cut(Position("byte", 7), "close"),
            ),
        ),
        faults=(FaultPlan(Status(429, headers={"retry-after": "3"}), request=2),),
        otherwise=Turn((Text("?"),)),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = ", "Invalid value"),
        ("nmae = 'x'", "unknown key 'nmae'"),
        ("[[turn]]\nparts = [{ txt = 'x' }]", r"scenario.turns\[0\].parts\[0\]"),
        ("[[fault]]\nkind = 'flood'", "'kind' must be one of"),
        ("[[fault]]\nkind = 'cut'\nat = 'soon'", "'soon' is no position"),
        ("[[fault]]\nkind = 'status'", "'status' is missing"),
        ("turn = 3", "expected a list"),
    ],
)
def test_errors_name_the_place(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        parse_scenario(text)
