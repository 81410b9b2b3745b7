"""Measure how the tree is laid out: sizes, names and branches of the product's own modules.

Run it from the root of a checkout to see every figure and what breaks a limit:
`python -m tests.repo.structure [PATH]`. `test_structure.py` holds each limit.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

from tests.repo.record_changes import RecordChange, can_replace, record_changes
from tests.repo.syntax import children, walk

PACKAGES = ("agent", "hooks", "permissions", "themes", "tui")
REGISTRIES = frozenset({"builtin", "panels"})
"""Directories with one module for each command, tool or panel."""

MODULES_IN_DIRECTORY = 20
MODULES_IN_REGISTRY = 40
MODULES_AT_TOP = 12
METHODS_IN_CLASS = 40
LINES_IN_CLASS = 500
LINES_IN_FUNCTION = 80
MEMBERS_IN_PROTOCOL = 8
COMPLEXITY = 10
ANY_IN_AGENT = 4
"""Uses of `Any` per thousand lines."""
COMPLEX_PERCENT = 3.0
"""Share of functions whose cyclomatic complexity may be over `COMPLEXITY`."""

_NOT_MODULES = frozenset({"__init__", "__main__"})
_BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension,
    ast.match_case,
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class FunctionFacts:
    """One function or method: its place, lines and branches."""

    path: str
    name: str
    line: int
    lines: int
    complexity: int
    """One, and one more for each branch, case, loop and further operand of `and` and `or`."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.name}"


@dataclass(frozen=True)
class ClassFacts:
    """One class at the top of a module, without what it inherits."""

    path: str
    name: str
    line: int
    lines: int
    methods: frozenset[str]
    attributes: frozenset[str]
    """Annotated names of the body: the fields of a record, the attributes of a protocol."""
    bases: tuple[str, ...]
    """Dotted names, resolved through the imports of the module."""
    is_protocol: bool
    is_record: bool
    """Whether a direct base is `Struct`, or a decorator is `dataclass`."""

    @property
    def dotted(self) -> str:
        """Dotted name of the class, as another module imports it."""
        return f"{_dotted(self.path)}.{self.name}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.name}"


@dataclass(frozen=True)
class TextFacts:
    """One string constant of a module, or a part of an f-string."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Tree:
    """The product modules of a checkout, parsed once."""

    sources: dict[str, str]
    """Text of each module by its path from the root, without the samples of the demo."""
    functions: list[FunctionFacts] = field(default_factory=list)
    classes: list[ClassFacts] = field(default_factory=list)
    any_names: Counter[str] = field(default_factory=Counter)
    """Uses of `Any` by package."""
    imported: set[str] = field(default_factory=set)
    """Dotted names that the modules import."""
    texts: list[TextFacts] = field(default_factory=list)
    bound_names: set[tuple[str, str]] = field(default_factory=set)
    """Path and name of each parameter, variable, field and attribute that is assigned."""
    record_changes: list[RecordChange] = field(default_factory=list)

    def __post_init__(self) -> None:
        for path, source in self.sources.items():
            _Reader(self, path).read(ast.parse(source, path))

    @cached_property
    def lines(self) -> Counter[str]:
        """The number of lines by package."""
        count: Counter[str] = Counter()
        for path, source in self.sources.items():
            count[_package(path)] += source.count("\n")
        return count

    @cached_property
    def modules(self) -> dict[str, list[str]]:
        """Module names by directory."""
        directories: dict[str, list[str]] = defaultdict(list)
        for path in self.sources:
            where = PurePosixPath(path)
            if where.stem not in _NOT_MODULES:
                directories[str(where.parent)].append(where.stem)
        return directories

    @cached_property
    def _by_name(self) -> dict[str, ClassFacts]:
        return {one.dotted: one for one in self.classes}

    def with_bases(self, one: ClassFacts) -> list[ClassFacts]:
        """Return a class and the product's classes that it inherits from, without protocols."""
        family = [one]
        for member in family:
            for base in member.bases:
                parent = self._by_name.get(base)
                if parent and not parent.is_protocol and parent not in family:
                    family.append(parent)
        return family

    def record_fields(self) -> dict[str, frozenset[str]]:
        """Return the fields of each record class by its dotted name, including inherited ones."""
        families = {one.dotted: self.with_bases(one) for one in self.classes}
        return {
            name: frozenset[str]().union(*(each.attributes for each in family))
            for name, family in families.items()
            if any(each.is_record for each in family)
        }

    # Each check below returns violations of its limit as texts; an empty list means success.

    def crowded_directories(self) -> list[str]:
        """List directories with too many modules."""
        return [
            f"{directory}: {len(names)} modules, {limit} allowed"
            for directory, names in sorted(self.modules.items())
            if len(names) > (limit := _module_limit(directory))
        ]

    def large_classes(self) -> list[str]:
        """List classes that are too large together with the classes they inherit from."""
        large = []
        for one in self.classes:
            family = self.with_bases(one)
            methods = len(frozenset[str]().union(*(each.methods for each in family)))
            lines = sum(each.lines for each in family)
            if methods > METHODS_IN_CLASS or lines > LINES_IN_CLASS:
                bases = ", ".join(each.name for each in family[1:])
                large.append(f"{one}: {methods} methods, {lines} lines ({bases or 'no bases'})")
        return large

    def long_functions(self) -> list[str]:
        """List functions with too many lines, longest first."""
        long = [one for one in self.functions if one.lines > LINES_IN_FUNCTION]
        return [f"{one}: {one.lines} lines" for one in sorted(long, key=lambda f: -f.lines)]

    def complex_functions(self, package: str = "") -> list[FunctionFacts]:
        """List functions over the complexity limit, worst first, of one package or all."""
        found = [
            one
            for one in self.functions
            if one.complexity > COMPLEXITY and package in ("", _package(one.path))
        ]
        return sorted(found, key=lambda one: -one.complexity)

    def complex_percent(self, package: str = "") -> float:
        """Return the share of functions over the complexity limit, in percent."""
        every = [one for one in self.functions if package in ("", _package(one.path))]
        return 100 * len(self.complex_functions(package)) / max(1, len(every))

    def shared_class_names(self) -> list[str]:
        """List public class names that several modules define."""
        places: dict[str, list[str]] = defaultdict(list)
        for one in self.classes:
            if not one.name.startswith("_"):
                places[one.name].append(one.path)
        return _shared(places)

    def shared_module_names(self) -> list[str]:
        """List module names that occur in several directories of one package."""
        places: dict[str, list[str]] = defaultdict(list)
        for directory, names in self.modules.items():
            for name in names:
                places[f"{_package(directory)}: {name}"].append(directory)
        return _shared(places)

    def wide_protocols(self) -> list[str]:
        """List protocols with too many members, including inherited ones."""
        wide = []
        for one in self.classes:
            if one.is_protocol:
                members = one.methods | one.attributes
                for base in one.bases:
                    if parent := self._by_name.get(base):
                        members |= parent.methods | parent.attributes
                if len(members) > MEMBERS_IN_PROTOCOL:
                    wide.append(f"{one}: {len(members)} members")
        return wide


@cache
def read_tree(root: Path) -> Tree:
    """Parse the tracked product modules of a checkout; the result is cached.

    Raises:
        subprocess.CalledProcessError: the directory is not a git work tree.
    """
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", *PACKAGES], capture_output=True, check=True
    )
    paths = [name for name in listed.stdout.decode().split("\0") if name.endswith(".py")]
    return Tree(
        {
            path: (root / path).read_text(encoding="utf-8")
            for path in paths
            if not any("sample" in part for part in path.split("/")) and (root / path).is_file()
        }
    )


class _Reader:
    """Collects the facts of one module into its tree."""

    def __init__(self, tree: Tree, path: str) -> None:
        self._tree = tree
        self._path = path
        self._imports: dict[str, str] = {}

    def read(self, module: ast.Module) -> None:
        for node in walk(module):
            if isinstance(node, ast.ImportFrom):
                self._tree.imported.add(str(node.module))
                for alias in node.names:
                    name = f"{node.module}.{alias.name}"
                    self._imports[alias.asname or alias.name] = name
                    self._tree.imported.add(name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    self._imports[alias.asname or alias.name] = alias.name
                    self._tree.imported.add(alias.name)
            elif isinstance(node, _FUNCTIONS):
                self._add_function(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._tree.texts.append(TextFacts(self._path, node.lineno, node.value))
            elif isinstance(node, ast.arg):
                self._tree.bound_names.add((self._path, node.arg))
            elif isinstance(node, ast.MatchAs | ast.ExceptHandler) and node.name:
                self._tree.bound_names.add((self._path, node.name))
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                self._tree.bound_names.add((self._path, node.attr))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._tree.bound_names.add((self._path, node.id))
            elif isinstance(node, ast.Name) and node.id == "Any":
                self._tree.any_names[_package(self._path)] += 1
        for statement in module.body:
            if isinstance(statement, ast.ClassDef):
                self._add_class(statement)
        # Most modules have no such calls, and checking all calls would double the time.
        if "**{" in self._tree.sources[self._path] or can_replace(self._imports.values()):
            self._tree.record_changes.extend(
                record_changes(self._path, module, self._imports, _dotted(self._path))
            )

    def _add_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        complexity = 1 + sum(map(_branches, _own_nodes(node)))
        self._tree.functions.append(
            FunctionFacts(self._path, node.name, node.lineno, lines, complexity)
        )

    def _add_class(self, node: ast.ClassDef) -> None:
        bases = tuple(self._base_name(base) for base in node.bases)
        self._tree.classes.append(
            ClassFacts(
                path=self._path,
                name=node.name,
                line=node.lineno,
                lines=(node.end_lineno or node.lineno) - node.lineno + 1,
                methods=frozenset(one.name for one in node.body if isinstance(one, _FUNCTIONS)),
                attributes=frozenset(
                    one.target.id
                    for one in node.body
                    if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
                ),
                bases=bases,
                is_protocol=any(base.endswith("Protocol") for base in bases),
                is_record="msgspec.Struct" in bases
                or any("dataclass" in ast.unparse(one) for one in node.decorator_list),
            )
        )

    def _base_name(self, base: ast.expr) -> str:
        if isinstance(base, ast.Subscript):
            base = base.value
        written = ast.unparse(base)
        head, dot, rest = written.partition(".")
        imported = self._imports.get(head)
        if imported is None:
            return f"{_dotted(self._path)}.{written}"
        return f"{imported}{dot}{rest}"


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Walk a function without the functions, lambdas and classes inside it."""
    waiting = [function]
    while waiting:
        for child in children(waiting.pop()):
            if not isinstance(child, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
                yield child
                waiting.append(child)


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return int(isinstance(node, _BRANCHES))


def _package(path: str) -> str:
    return path.partition("/")[0]


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _module_limit(directory: str) -> int:
    if directory in PACKAGES:
        return MODULES_AT_TOP
    if PurePosixPath(directory).name in REGISTRIES:
        return MODULES_IN_REGISTRY
    return MODULES_IN_DIRECTORY


def _shared(places: dict[str, list[str]]) -> list[str]:
    return [
        f"{name}: {', '.join(sorted(paths))}"
        for name, paths in sorted(places.items())
        if len(paths) > 1
    ]


def _print_list(title: str, lines: Iterable[object]) -> None:
    every = list(lines)
    print(f"\n{title}: {len(every)}")
    for line in every:
        print(f"  {line}")


def main() -> None:
    """Print every figure, then the violations of each limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", nargs="?", type=Path, default=Path(), help="root of a checkout")
    tree = read_tree(parser.parse_args().path)
    print(
        f"{'package':12} {'lines':>7} {'top':>4} {'functions':>9} {'complex %':>9} {'Any/1000':>8}"
    )
    for package in PACKAGES:
        functions = sum(_package(one.path) == package for one in tree.functions)
        any_share = 1000 * tree.any_names[package] / tree.lines[package]
        print(
            f"{package:12} {tree.lines[package]:7} {len(tree.modules[package]):4} {functions:9} "
            f"{tree.complex_percent(package):9.1f} {any_share:8.1f}"
        )
    total = len(tree.functions)
    print(f"{'all':12} {tree.lines.total():7} {'':4} {total:9} {tree.complex_percent():9.1f}")
    _print_list("directories over the limit", tree.crowded_directories())
    _print_list("classes over the limits, with their bases", tree.large_classes())
    _print_list(f"functions over {LINES_IN_FUNCTION} lines", tree.long_functions())
    _print_list("public class names used twice", tree.shared_class_names())
    _print_list("module names used twice in a package", tree.shared_module_names())
    _print_list(f"protocols over {MEMBERS_IN_PROTOCOL} members", tree.wide_protocols())
    worst = tree.complex_functions()
    _print_list(
        f"functions over complexity {COMPLEXITY}, worst first",
        (f"{one.complexity:3} {one}" for one in worst),
    )


if __name__ == "__main__":
    main()
