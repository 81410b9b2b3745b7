"""Packages that only re-export names load each name's module when it is first asked for.

The SDK's `__init__` files import some 3,000 modules of which a request needs a third; imported this
way it costs less than half the time. What a file does beyond importing is compared with what is
known to be harmless to leave out; a file that does anything else is imported as usual.
Next: `agent.model.sdk`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from msgspec import Struct

_LEFT_OUT: Final = frozenset(
    {
        "import typing as _t",
        "_setup_logging()",
        "__locals = locals()",
        # Only renames classes in error messages; it would load every one of them.
        "for __name in __all__:\n    if not __name.startswith('__'):\n        try:\n"
        "            __locals[__name].__module__ = 'anthropic'\n"
        "        except (TypeError, AttributeError):\n            pass",
    }
)
"""Statements of known `__init__` files that need not run."""

_STAND_INS: Final = {
    "if not _t.TYPE_CHECKING:\n    from ._utils._resources_proxy import resources as resources": (
        "resources"
    )
}
"""Statements that bind an object in place of a package inside, which serves as well."""


class Exports(Struct, frozen=True):
    """What a package re-exports."""

    names: Mapping[str, tuple[str, str]]
    """Exported name: the relative module it comes from, and its name there."""
    stars: tuple[str, ...]
    """Relative modules of which everything public is exported."""
    public: tuple[str, ...] | None
    """`__all__`, where the file has it."""


def install(package: str) -> None:
    """Let `package`, not yet imported, and the packages inside it load their names when asked.

    Does nothing where it is imported or installed already.
    """
    if package in sys.modules or any(
        isinstance(each, _Finder) and each.package == package for each in sys.meta_path
    ):
        return
    sys.meta_path.insert(0, _Finder(package))


def read_exports(package_dir: Path) -> Exports | None:
    """Return what the `__init__` of a package re-exports; None if it has to run to be right."""
    try:
        tree = ast.parse((package_dir / "__init__.py").read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    names: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    public: tuple[str, ...] | None = None
    for statement in tree.body:
        match statement:
            case ast.ImportFrom(module="__future__") | ast.Expr(value=ast.Constant()):
                pass
            case ast.ImportFrom(level=level, module=module, names=imported) if level:
                source = "." * level + (module or "")
                for each in imported:
                    if each.name == "*":
                        stars.append(source)
                    else:
                        names[each.asname or each.name] = (source, each.name)
            case ast.Assign(targets=[ast.Name(id="__all__")], value=listed):
                try:
                    public = tuple(ast.literal_eval(listed))
                except ValueError:
                    return None
            case _:
                text = ast.unparse(statement)
                if text in _STAND_INS:
                    names[_STAND_INS[text]] = (".", _STAND_INS[text])
                elif text not in _LEFT_OUT:
                    return None
    if any(_hidden_by_module(name, origin, package_dir) for name, origin in names.items()):
        return None
    return Exports(names, tuple(stars), public)


def _hidden_by_module(name: str, origin: tuple[str, str], package_dir: Path) -> bool:
    """Return whether importing a module of the name would put it in the name's place."""
    if origin == (".", name):
        return False
    return (package_dir / f"{name}.py").exists() or (package_dir / name).is_dir()


class _Finder(Struct, frozen=True):
    package: str

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a lazy spec for a package that only re-exports; None leaves it to the others."""
        if name != self.package and not name.startswith(f"{self.package}."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not spec.submodule_search_locations or spec.origin is None:
            return spec
        exports = read_exports(Path(spec.origin).parent)
        if exports is not None:
            spec.loader = _LazyLoader(exports)
        return spec


class _LazyLoader(Loader):
    def __init__(self, exports: Exports) -> None:
        self.exports = exports

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the module a way to find its names instead of the names."""
        exports = self.exports

        def find(name: str) -> Any:
            value = _find(module, exports, name)
            module.__dict__[name] = value
            return value

        module.__dict__["__getattr__"] = find
        module.__dict__["__dir__"] = lambda: sorted({*module.__dict__, *exports.names})
        if exports.public is not None:
            module.__dict__["__all__"] = list(exports.public)


def _find(module: ModuleType, exports: Exports, name: str) -> Any:
    """Import what the module exports under the name.

    Raises:
        AttributeError: it exports no such name.
    """
    if name in exports.names:
        relative, there = exports.names[name]
        origin = importlib.util.resolve_name(relative, module.__name__)
        if origin != module.__name__:
            found = importlib.import_module(origin)
            if hasattr(found, there):
                return getattr(found, there)
        return importlib.import_module(f"{origin}.{there}")
    if not name.startswith("_"):
        for relative in exports.stars:
            found = importlib.import_module(relative, module.__name__)
            if name in getattr(found, "__all__", dir(found)):
                return getattr(found, name)
    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
