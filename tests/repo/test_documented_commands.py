"""The program accepts every agent-tui command line in the documents."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator

import click
import pytest
import yaml

from tests.repo.checkout import ROOT, tracked_texts
from tui.command_line.command_line import run
from tui.command_line.subcommands import commands

_FENCE = re.compile(r"^```(sh|console|yaml)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`(agent-tui [^`\n]+)`(?!`)")
_ENDS = re.compile(r"[|&;()<>]+")


def _scripts() -> Iterator[tuple[str, str]]:
    """Yield the page and text of every shell script in the documents."""
    for path, text in tracked_texts().items():
        # Decisions describe the past; other documents must be current.
        if path.suffix != ".md" or "decisions" in path.parts:
            continue
        for language, body in _FENCE.findall(text):
            if language == "yaml":
                yield from ((str(path), script) for script in _runs(yaml.safe_load(body)))
            else:
                yield str(path), re.sub(r"^\$ ", "", body, flags=re.MULTILINE)
        for line in _INLINE.findall(text):
            yield str(path), line


def _runs(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "run" and isinstance(inner, str):
                yield inner
            else:
                yield from _runs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _runs(inner)


def _calls(script: str) -> Iterator[list[str]]:
    """Yield the arguments of each call of agent-tui in a script."""
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.commenters = "#"
        words = list(lexer)
        while "agent-tui" in words:
            words = words[words.index("agent-tui") + 1 :]
            end = next((at for at, word in enumerate(words) if _ENDS.fullmatch(word)), len(words))
            yield words[:end]


CALLS = sorted({(page, tuple(call)) for page, script in _scripts() for call in _calls(script)})


def _refusal(arguments: list[str]) -> str:
    """Return why a command line is rejected; empty if it is accepted, ignoring missing files."""
    group = commands()
    assert isinstance(group, click.Group)
    command: click.Command = run
    inner = group.get_command(click.Context(group), arguments[0]) if arguments else None
    while inner is not None:
        command, arguments = inner, arguments[1:]
        known = command.commands if isinstance(command, click.Group) else {}
        inner = known.get(arguments[0]) if arguments else None
    if isinstance(command, click.Group) and not arguments:
        return ""
    try:
        command.make_context("agent-tui", arguments)
    except click.exceptions.Exit as told:
        return str(told.exit_code or "")
    except click.MissingParameter:
        return ""
    except click.UsageError as error:
        return "" if "does not exist" in error.message else error.message
    return ""


@pytest.mark.parametrize(("page", "call"), CALLS, ids=[" ".join(call) for _, call in CALLS])
def test_the_command_line_is_taken(page: str, call: tuple[str, ...]) -> None:
    refusal = _refusal([word for word in call if word != "…"])
    assert refusal == "", page


def test_there_are_some() -> None:
    assert len(CALLS) > 20


def test_the_workflow_is_whole() -> None:
    text = (ROOT / "docs" / "headless.md").read_text("utf-8")
    (body,) = (body for language, body in _FENCE.findall(text) if language == "yaml")
    workflow = yaml.safe_load(body)
    assert workflow["jobs"]["review"]["steps"]
    for script in _runs(workflow):
        subprocess.run(["bash", "-n", "-c", script], check=True)
