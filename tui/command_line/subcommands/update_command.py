"""`agent-tui update`: prints how to update this installation; nothing is run."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

import click
from msgspec import Struct
from msgspec.structs import asdict

from tui.version import version

NAME: Final = "agent-tui"


class Installation(Struct, frozen=True):
    """How the program was installed, and the commands that update it."""

    method: Literal["checkout", "pipx", "uv tool", "uv", "pip"]
    version: str
    place: str
    commands: tuple[str, ...]


@click.command("update", short_help="Show how to update this installation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> int:
    """Find out how agent-tui was installed and print the commands that update it.

    Nothing is changed: run the commands yourself, or pass them to a shell.
    """
    install = installation(Path(sys.prefix), Path(sys.executable), _distribution())
    if as_json:
        click.echo(json.dumps(asdict(install), ensure_ascii=False))
        return 0
    how = "a checkout" if install.method == "checkout" else f"installed with {install.method}"
    click.echo(f"{NAME} {install.version}, {how} in {install.place}")
    click.echo("To update it:\n")
    for line in install.commands:
        click.echo(f"  {line}")
    return 0


def installation(prefix: Path, python: Path, package: Distribution | None) -> Installation:
    """Return how the program in this environment was installed; `package` None: not installed."""
    checkout = Path(__file__).resolve().parents[3] if package is None else _checkout(package)
    if checkout is not None:
        place = shlex.quote(str(checkout))
        pull = (f"git -C {place} pull --ff-only", f"make -C {place} run ARGS=--version")
        return Installation("checkout", version(), str(checkout), pull)
    if (prefix / "pipx_metadata.json").is_file():
        return Installation("pipx", version(), str(prefix), (f"pipx upgrade {NAME}",))
    if (prefix / "uv-receipt.toml").is_file():
        return Installation("uv tool", version(), str(prefix), (f"uv tool upgrade {NAME}",))
    assert package is not None, "no distribution is a checkout"
    interpreter = shlex.quote(str(python))
    requirement = shlex.quote(_requirement(package))
    if (package.read_text("INSTALLER") or "").strip() == "uv":
        line = f"uv pip install --python {interpreter} --upgrade {requirement}"
        return Installation("uv", version(), str(prefix), (line,))
    line = f"{interpreter} -m pip install --upgrade {requirement}"
    return Installation("pip", version(), str(prefix), (line,))


def _distribution() -> Distribution | None:
    try:
        return distribution(NAME)
    except PackageNotFoundError:
        return None


def _origin(package: Distribution) -> dict[str, object]:
    """Return the installer's record of a direct URL; empty for a package index."""
    value = json.loads(package.read_text("direct_url.json") or "{}")
    return value if isinstance(value, dict) else {}


def _checkout(package: Distribution) -> Path | None:
    """Return the directory of an editable installation; None for any other."""
    origin = _origin(package)
    directory = origin.get("dir_info")
    if not isinstance(directory, dict) or directory.get("editable") is not True:
        return None
    return Path(unquote(urlsplit(str(origin.get("url"))).path))


def _requirement(package: Distribution) -> str:
    """Return the requirement to install: the name, with the URL that it came from, if any."""
    origin = _origin(package)
    url, source = origin.get("url"), origin.get("vcs_info")
    if not isinstance(url, str):
        return NAME
    prefix = f"{source.get('vcs', 'git')}+" if isinstance(source, dict) else ""
    return f"{NAME} @ {prefix}{url}"
