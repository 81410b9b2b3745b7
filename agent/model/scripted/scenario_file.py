"""Reads scenario files, TOML, into a `Scenario`, with errors that name the place.

name = "fix a bug"
[pace]
tokens_per_s = 80
[[turn]]
name = "look"
when = { prompt = "bug" }
parts = [
  { thinking = "Where is it?" },
  { text = "I look at the file." },
  { tool = "Read", input = { file_path = "${cwd}/a.py" } },
]
[[fault]]
kind = "status"
request = 2
status = 529
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import fields

from agent.model.scripted.faults import (
    Cut,
    Drop,
    Duplicate,
    ErrorFault,
    Fault,
    Insert,
    NoUsage,
    Position,
    Stall,
    Status,
    WholeJson,
    parse_position,
)
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Pace,
    Part,
    RawBlock,
    Scenario,
    Text,
    Thinking,
    ToolCall,
    Turn,
    When,
)

T = TypeVar("T", bound=Struct)


class ScenarioError(ValueError):
    """A scenario file is invalid."""


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        ScenarioError: its content is invalid.
        OSError: it cannot be read.
    """
    try:
        return parse_scenario(path.read_text(encoding="utf-8"))
    except ScenarioError as error:
        raise ScenarioError(f"{path}: {error}") from error


def parse_scenario(text: str) -> Scenario:
    """Read a scenario from TOML text.

    Raises:
        ScenarioError: its content is invalid.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(str(error)) from error
    by_field = {_PLURALS.get(key, key): value for key, value in table.items()}
    return _build(Scenario, by_field, "scenario", _SCENARIO)


_PLURALS: Final = {"turn": "turns", "fault": "faults", "model": "models"}


def _build(
    kind: type[T],
    table: object,
    where: str,
    readers: Mapping[str, Callable[[object, str], object]],
) -> T:
    """Return a `kind` built from the table; `readers` convert fields that are not plain values."""
    if not isinstance(table, dict):
        raise ScenarioError(f"{where}: expected a table, found {table!r}")
    by_name = {field.name: field for field in fields(kind)}
    values: dict[str, object] = {}
    for key, value in table.items():
        if key not in by_name:
            raise ScenarioError(f"{where}: unknown key {key!r}; known are {', '.join(by_name)}")
        reader = readers.get(key)
        values[key] = value if reader is None else reader(value, f"{where}.{key}")
    for name, field in by_name.items():
        if field.required and name not in values:
            raise ScenarioError(f"{where}: {name!r} is missing")
    instance: T = kind(**values)
    return instance


def _sequence_of(read: Callable[[object, str], T]) -> Callable[[object, str], tuple[T, ...]]:
    def read_all(value: object, where: str) -> tuple[T, ...]:
        items = enumerate(_values(value, where))
        return tuple(read(item, f"{where}[{index}]") for index, item in items)

    return read_all


def _values(value: object, where: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise ScenarioError(f"{where}: expected a list, found {value!r}")
    return tuple(value)


def _when(value: object, where: str) -> When:
    return _build(When, value, where, {})


def _pace(value: object, where: str) -> Pace:
    return _build(Pace, value, where, {})


def _model(value: object, where: str) -> ModelInfo:
    return _build(ModelInfo, value, where, {"efforts": _values})


def _part(value: object, where: str) -> Part:
    """Return a part; its key determines its kind."""
    if isinstance(value, dict):
        if "tool" in value:
            by_field = {("name" if key == "tool" else key): each for key, each in value.items()}
            return _build(ToolCall, by_field, where, {})
        if "thinking" in value:
            by_field = {("text" if key == "thinking" else key): each for key, each in value.items()}
            return _build(Thinking, by_field, where, {})
        if "text" in value:
            return _build(Text, value, where, {})
        if "block" in value:
            return _build(RawBlock, value, where, {"deltas": _values})
    raise ScenarioError(f"{where}: a part has one of the keys text, thinking, tool, block")


def _position(value: object, where: str) -> Position:
    try:
        return parse_position(str(value))
    except ValueError as error:
        raise ScenarioError(f"{where}: {error}") from error


_FAULTS: Final[Mapping[str, type[Fault]]] = {
    "status": Status,
    "cut": Cut,
    "stall": Stall,
    "error_event": ErrorFault,
    "insert": Insert,
    "drop": Drop,
    "duplicate": Duplicate,
    "no_usage": NoUsage,
    "whole_json": WholeJson,
}


def _fault(value: object, where: str) -> Fault:
    if not isinstance(value, dict) or value.get("kind") not in _FAULTS:
        raise ScenarioError(f"{where}: 'kind' must be one of {', '.join(_FAULTS)}")
    table = {key: each for key, each in value.items() if key != "kind"}
    readers = {"at": _position, "data": lambda text, _: str(text).encode()}
    fault: Fault = _build(_FAULTS[value["kind"]], table, where, readers)
    return fault


_PLAN_KEYS: Final = frozenset({"request", "turn", "when", "path", "times"})


def _fault_plan(value: object, where: str) -> FaultPlan:
    """Return the plan of a `[[fault]]`, a table with the keys of both the fault and its plan."""
    if not isinstance(value, dict):
        raise ScenarioError(f"{where}: expected a table, found {value!r}")
    own = {key: each for key, each in value.items() if key not in _PLAN_KEYS}
    plan = {key: each for key, each in value.items() if key in _PLAN_KEYS}
    return _build(FaultPlan, {**plan, "fault": own}, where, {"when": _when, "fault": _fault})


def _turn(value: object, where: str) -> Turn:
    return _build(
        Turn,
        value,
        where,
        {"parts": _sequence_of(_part), "when": _when, "pace": _pace, "fault": _fault},
    )


_SCENARIO: Final[Mapping[str, Callable[[object, str], object]]] = {
    "turns": _sequence_of(_turn),
    "otherwise": _turn,
    "pace": _pace,
    "faults": _sequence_of(_fault_plan),
    "models": _sequence_of(_model),
}
