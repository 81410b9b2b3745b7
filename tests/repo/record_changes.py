"""Find calls that name fields of a record unseen by the type checker: `replace(record, …)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tests.repo.syntax import children, walk

REPLACES: Final = frozenset({"copy.replace", "dataclasses.replace", "msgspec.structs.replace"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class RecordChange:
    """One `replace(record, name=…)`, or a record created from an unpacked literal."""

    path: str
    line: int
    record: str
    """Dotted name of the class, not necessarily one of ours; empty if it is unknown here."""
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.record or 'a record'}"


def can_replace(imported: Iterable[str]) -> bool:
    """Whether a module that imports these dotted names can call one of `REPLACES`."""
    return any(f"{one}.".startswith(f"{name}.") for name in imported for one in REPLACES)


def record_changes(
    path: str, module: ast.Module, imports: Mapping[str, str], dotted: str
) -> Iterator[RecordChange]:
    """Yield the changes in a module; `imports` maps its imported names to dotted names."""
    classes = {one.name for one in module.body if isinstance(one, ast.ClassDef)}
    waiting: list[tuple[ast.AST, dict[str, str]]] = [(module, {})]

    def class_name(node: ast.expr | None) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            head, dot, rest = node.value.partition(".")
        elif isinstance(node, ast.Name | ast.Attribute):
            head, dot, rest = ast.unparse(node).partition(".")
        else:
            return ""
        if head in classes:
            head = f"{dotted}.{head}"
        elif head not in imports:
            return ""
        return f"{imports.get(head, head)}{dot}{rest}"

    while waiting:
        node, types = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            every = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            # A name that is bound again may have another type.
            again = {
                one.id
                for one in walk(node)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            }
            types = {
                **types,
                **{one.arg: class_name(one.annotation) for one in every if one.annotation},
                **dict.fromkeys(again, ""),
            }
        elif isinstance(node, ast.ClassDef) and node.name in classes:
            types = {**types, "self": f"{dotted}.{node.name}"}
        elif isinstance(node, ast.Call):
            yield from _changes_in(path, node, types, class_name(node.func))
        waiting.extend((child, types) for child in children(node))


def _changes_in(
    path: str, call: ast.Call, types: Mapping[str, str], function: str
) -> Iterator[RecordChange]:
    names = [one.arg for one in call.keywords if one.arg is not None]
    unpacked = [
        key.value
        for one in call.keywords
        if one.arg is None and isinstance(one.value, ast.Dict)
        for key in one.value.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]
    if function in REPLACES and call.args:
        match call.args[0]:
            case ast.Name(id=name):
                record = types.get(name, "")
            case _:
                record = ""
        yield RecordChange(path, call.lineno, record, (*names, *unpacked))
    elif unpacked and function:
        yield RecordChange(path, call.lineno, function, tuple(unpacked))
