"""The worked examples of docs/permissions.md, run as they stand there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from permissions.check_cli import EXIT_STATUS, Checker, LoadedSettings, explain
from permissions.decision import Behavior
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.permissions.engine import Engine

PAGE = Path(__file__).parents[2] / "docs" / "permissions.md"
CALL = re.compile(r"(Read|Edit)\((.*)\)")


@dataclass(frozen=True)
class Example:
    """One row of a table, with the settings above it."""

    title: str
    given: dict[str, Any]
    row: dict[str, str]

    @property
    def call(self) -> dict[str, Any]:
        """The row as a line of `permissions check`."""
        text = self.row["call"]
        found = CALL.fullmatch(text)
        tool = found[1] if found else "Bash"
        tool_input = {"file_path": found[2]} if found else {"command": text}
        given = {key: value for key, value in self.given.items() if key != "classifier"}
        mode = {"mode": self.row["mode"]} if "mode" in self.row else {}
        return {
            "id": 1,
            "tool": tool,
            "input": tool_input,
            "rules": {},
            "sandbox": "none",
            **given,
            **mode,
        }


def examples() -> Iterator[Example]:
    text = PAGE.read_text("utf-8").split("## Worked examples")[1].split("\n## ")[0]
    for section in text.split("\n### ")[1:]:
        title = section.splitlines()[0]
        block = re.search(r"```json\n(.*?)```", section, re.DOTALL)
        assert block is not None, title
        lines = [line for line in section.splitlines() if line.startswith("| ")]
        head = _cells(lines[0])
        for line in lines[2:]:
            yield Example(title, json.loads(block[1]), dict(zip(head, _cells(line), strict=True)))


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip().strip("`").replace("\\|", "|") for cell in cells]


@pytest.mark.parametrize(
    "example", list(examples()), ids=lambda e: f"{e.title}: {e.row.get('mode', '')} {e.row['call']}"
)
def test_an_example_is_decided_as_the_page_says(engine: Engine, example: Example) -> None:
    checker = Checker(
        lambda _root, _home: LoadedSettings(),
        classifier=bool(example.given.get("classifier")),
        cwd=engine.root,
        home=engine.home,
    )
    answer = checker.check(json.dumps(example.call))
    assert (answer["behavior"], answer["reason"]) == (example.row["answer"], example.row["reason"])


def test_every_section_has_examples() -> None:
    titles = {example.title for example in examples()}
    assert len(titles) == 10


def test_why_a_user_is_asked_is_reported_as_the_page_says(engine: Engine) -> None:
    section = PAGE.read_text("utf-8").split("## Why was I asked?")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    asks = [RuleText("Bash(git push *)", RuleBehavior.ASK, RuleSource.USER, None, None)]
    for row in rows:
        found = re.match(r"\| `(.*?)`: `(.*?)` \|", row)
        assert found is not None, row
        call = found[2] if CALL.fullmatch(found[2]) else f"Bash({found[2]})"
        said, decision = explain(call, engine.context(texts=asks), cwd=engine.root)
        assert decision.behavior is Behavior.ASK
        told = said.splitlines()[0].replace(str(engine.root), "…")
        assert told.startswith("ask: " + found[1].removesuffix("(…)")), row
    assert len(rows) == 7


def test_what_only_reads_is_not_reported_as_asked_about(engine: Engine) -> None:
    said, decision = explain("Bash(ls)", engine.context(), cwd=engine.root)
    assert decision.behavior is Behavior.ASK
    assert said.splitlines()[-1].endswith("--classifier shows it.")
    for call, classifier in (("Bash(make)", False), ("Bash(ls)", True)):
        said, _ = explain(call, engine.context(), cwd=engine.root, classifier=classifier)
        assert "--classifier" not in said


def test_the_decision_that_is_read_step_by_step_reads_as_the_page_says(engine: Engine) -> None:
    section = PAGE.read_text("utf-8").split("## Reading a decision")[1].split("\n## ")[0]
    settings = re.search(r"```json\n(.*?)```", section, re.DOTALL)
    console = re.search(
        r"```console\n\$ agent-tui permissions explain '(.*?)'\n(.*?)\n```", section, re.DOTALL
    )
    assert settings is not None
    assert console is not None
    lines = settings[1].splitlines()
    file = str(engine.home / ".agent" / "settings.json")
    texts = [
        RuleText(
            rule,
            RuleBehavior(behavior),
            RuleSource.USER,
            file,
            next(number for number, line in enumerate(lines, 1) if f'"{rule}"' in line),
        )
        for behavior, rules in json.loads(settings[1])["permissions"].items()
        for rule in rules
    ]
    said, decision = explain(console[1], engine.context(texts=texts))
    assert said == console[2]
    assert EXIT_STATUS[decision.behavior] == 3
