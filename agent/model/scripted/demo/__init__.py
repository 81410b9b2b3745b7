"""The demo: a script for the embedded model, and the small project it works on."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path
from typing import Final

from agent.model.scripted.scenario import Scenario
from agent.model.scripted.scenario_file import parse_scenario

DEMO_MODEL: Final = "demo-scripted"
"""Model id that the demo's requests carry."""

SUGGESTED_PROMPT: Final = "The total of the basket is wrong. Find out why and fix it."


def demo_scenario() -> Scenario:
    """Return the shipped script; it needs the variables of `demo_variables`."""
    text = resources.files(__name__).joinpath("demo.toml").read_text(encoding="utf-8")
    return parse_scenario(text)


def demo_variables(project: Path) -> dict[str, str]:
    """Return the values of the script's variables for a copy of the sample in this folder."""
    return {"cwd": str(project), "outside": str(project.parent)}


def copy_sample(target: Path) -> Path:
    """Copy the sample project into the folder, which may exist already, and return the folder.

    Raises:
        OSError: it cannot be written.
    """
    with resources.as_file(resources.files(__name__).joinpath("sample")) as source:
        shutil.copytree(
            source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    return target
