"""Packages that load names when asked: the same names as an ordinary import, fewer modules."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent.model.lazy_packages import read_exports

NAMES = """
import json, sys
{before}
import anthropic, anthropic.types, anthropic.types.beta, anthropic.resources
found = {{}}
for package in (anthropic, anthropic.types, anthropic.types.beta, anthropic.resources):
    for name in getattr(package, "__all__", None) or dir(package):
        if name.startswith("_") or name == "annotations":
            continue
        value = getattr(package, name)
        found[f"{{package.__name__}}.{{name}}"] = (
            type(value).__name__, getattr(value, "__qualname__", "")
        )
json.dump(found, sys.stdout)
"""


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_every_name_of_the_sdk_is_what_an_ordinary_import_gives() -> None:
    install = 'from agent.model.lazy_packages import install; install("anthropic")'
    lazy = json.loads(run(NAMES.format(before=install)))
    plain = json.loads(run(NAMES.format(before="")))
    # A lazy package lists its exports only; an ordinary one also the modules inside it.
    exported = {name: each for name, each in plain.items() if each[0] != "module"}
    named = {name: each for name, each in lazy.items() if each[0] != "module"}
    assert named == {name: exported[name] for name in named}
    assert len(named) > 1_500
    assert set(exported) - set(named) <= {"anthropic.resources"}


def test_the_sdk_is_still_of_the_shape_that_makes_it_lazy() -> None:
    code = """
import json, sys
from agent.model.sdk import load_sdk
load_sdk()
packages = [n for n in ("anthropic", "anthropic.types", "anthropic.types.beta") if n in sys.modules]
json.dump(
    {
        "lazy": [n for n in packages if type(sys.modules[n].__loader__).__name__ == "_LazyLoader"],
        "resources": [n for n in sys.modules if n.startswith("anthropic.resources.")],
        "modules": sum(n.startswith("anthropic") for n in sys.modules),
    },
    sys.stdout,
)
"""
    found = json.loads(run(code))
    assert found["lazy"] == ["anthropic", "anthropic.types", "anthropic.types.beta"]
    assert found["resources"] == []
    assert found["modules"] < 1_200


def test_an_unknown_name_is_an_attribute_error() -> None:
    code = """
from agent.model.lazy_packages import install
install("anthropic")
import anthropic
assert not hasattr(anthropic, "nothing_of_this_name")
assert anthropic.AnthropicVertex.__name__ == "AnthropicVertex"
from anthropic import resources, types
assert types.__name__ == "anthropic.types"
assert resources.Messages.__name__ == "Messages"
print("well")
"""
    assert run(code) == "well\n"


@pytest.mark.parametrize(
    "source",
    [
        "from .one import A as A\nprint('more than names')\n",
        "from .one import A as A\nif True:\n    B = 1\n",
        "from .one import A as A\n__all__ = [str(1)]\n",
        "from .one import one as one\n",
        "import os\n",
        "not python at all (\n",
        "from outside import A\n",
    ],
)
def test_a_package_that_does_more_is_imported_as_usual(tmp_path: Path, source: str) -> None:
    (tmp_path / "one.py").write_text("A = 1\n")
    (tmp_path / "__init__.py").write_text(source)
    assert read_exports(tmp_path) is None


def test_names_and_stars_are_read(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text(
        '"""Doc."""\nfrom __future__ import annotations\nfrom .one import A as A, b as C\n'
        "from . import two\nfrom .two import *\n__all__ = ['A', 'C']\n"
    )
    found = read_exports(tmp_path)
    assert found is not None
    assert found.names == {"A": (".one", "A"), "C": (".one", "b"), "two": (".", "two")}
    assert found.stars == (".two",)
    assert found.public == ("A", "C")
