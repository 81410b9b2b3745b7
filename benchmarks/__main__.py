"""Measure the installed program, with and without its own cell diff, and print a table and JSON."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from benchmarks.agents import measure_agents
from benchmarks.confinement import measure_confinement
from benchmarks.decisions import measure_decisions
from benchmarks.figures import (
    Figure,
    NoAnswerError,
    NoEchoError,
    Variant,
    measure_growth,
    measure_idle,
    measure_long_transcript,
    measure_resizes,
    measure_start,
    measure_stream,
    measure_typing,
    measure_typing_while_streaming,
)
from benchmarks.filled_home import measure_filled
from benchmarks.model import Model, scratch_user
from benchmarks.panels import measure_panels, measure_picker
from benchmarks.program import ProgramEndedError
from benchmarks.providers import measure_providers
from benchmarks.report import as_document, as_json, as_table
from benchmarks.sessions import measure_sessions

OURS: Final = "agent-tui"
Group = Callable[[Variant, Model, bool], Iterator[Figure]]


def _start(variant: Variant, model: Model, quick: bool) -> Iterator[Figure]:
    yield from measure_start(variant, model, starts=3 if quick else 7)


def _screen(variant: Variant, model: Model, quick: bool) -> Iterator[Figure]:
    with variant.ready() as program:
        yield from measure_idle(program, 5 if quick else 30)
        yield from measure_typing(program, when="idle")
        yield from measure_stream(program, model, 400 if quick else 1200)
        yield from measure_typing_while_streaming(program, when="streaming")
        yield from measure_resizes(program, variant)


def _long(variant: Variant, model: Model, quick: bool) -> Iterator[Figure]:
    with variant.ready() as program:
        yield from measure_long_transcript(program, model, [4_000] if quick else [20_000, 50_000])


def _growth(variant: Variant, model: Model, quick: bool) -> Iterator[Figure]:
    if quick:
        return
    with variant.ready() as program:
        yield from measure_growth(program)


def _sessions(variant: Variant, _model: Model, quick: bool) -> Iterator[Figure]:
    # Measured without a terminal: the same for every variant, and impossible with other programs.
    if variant.label == OURS:
        yield from measure_sessions(quick=quick)


def _decisions(variant: Variant, _model: Model, quick: bool) -> Iterator[Figure]:
    if variant.label == OURS:
        yield from measure_decisions(quick=quick)


def _confinement(variant: Variant, _model: Model, quick: bool) -> Iterator[Figure]:
    if variant.label == OURS:
        yield from measure_confinement(quick=quick)


def _filled(variant: Variant, model: Model, quick: bool) -> Iterator[Figure]:
    if variant.label == OURS:
        with tempfile.TemporaryDirectory(prefix="bench-home-") as scratch:
            yield from measure_filled(variant, model, Path(scratch), starts=2 if quick else 5)


def _panels(variant: Variant, _model: Model, quick: bool) -> Iterator[Figure]:
    if variant.label == OURS:
        yield from measure_picker(quick=quick)
        with variant.ready() as program:
            yield from measure_panels(program, quick=quick)


def _providers(variant: Variant, model: Model, quick: bool) -> Iterator[Figure]:
    if variant.label == OURS:
        yield from measure_providers(variant, model, starts=3 if quick else 7)


def _agents(variant: Variant, model: Model, _quick: bool) -> Iterator[Figure]:
    if variant.label == OURS:
        yield from measure_agents(variant, model)


GROUPS: Final[dict[str, Group]] = {
    "start": _start,
    "screen": _screen,
    "long": _long,
    "growth": _growth,
    "sessions": _sessions,
    "decisions": _decisions,
    "confinement": _confinement,
    "filled": _filled,
    "panels": _panels,
    "providers": _providers,
    "agents": _agents,
}


def main() -> int:
    """Run the requested groups on each variant; return 1 if a program did not start."""
    arguments = _arguments()
    results: dict[str, list[Figure]] = {}
    has_failed = False
    model = Model.start()
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
            for variant in _variants(arguments, model, Path(scratch)):
                figures = results.setdefault(variant.label, [])
                for name in arguments.groups:
                    print(f"{variant.label}: {name}…", file=sys.stderr)
                    try:
                        figures.extend(GROUPS[name](variant, model, arguments.quick))
                    except (NoAnswerError, NoEchoError, ProgramEndedError) as error:
                        has_failed = True
                        print(f"{variant.label}, {name}: {error}", file=sys.stderr)
    finally:
        model.stop()
    text = json.dumps(as_json(results, (arguments.columns, arguments.rows)), indent=2)
    if arguments.json is None:
        print(text)
    else:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    print(as_table(results))
    if arguments.document is not None:
        page = as_document(results, (arguments.columns, arguments.rows))
        arguments.document.write_text(page, encoding="utf-8")
    return 1 if has_failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; default: all"
    )
    parser.add_argument("--quick", action="store_true", help="fewer runs, a shorter transcript")
    parser.add_argument("--columns", type=int, default=120)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--json", type=Path, help="write JSON here instead of printing it")
    parser.add_argument(
        "--document", type=Path, help="write the page docs/performance.md keeps here"
    )
    parser.add_argument(
        "--only-ours", action="store_true", help="leave out the stock renderer for comparison"
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="LABEL=COMMAND",
        help="measure another program too; it finds the model through ANTHROPIC_BASE_URL",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are: {', '.join(GROUPS)}")
    arguments.groups = arguments.groups or list(GROUPS)
    return arguments


def _variants(arguments: argparse.Namespace, model: Model, scratch: Path) -> Iterator[Variant]:
    """Yield the variants to measure, each with its own home and project directory."""
    ours = str(Path(sys.executable).parent / "agent-tui")
    programs: list[tuple[str, list[str], dict[str, str]]] = [(OURS, [ours], {})]
    if not arguments.only_ours:
        programs.append(("stock output", [ours], {"AGENT_TUI_RENDERER": "textual"}))
    for text in arguments.also:
        label, _, command = text.partition("=")
        programs.append((label, shlex.split(command), {}))
    for number, (label, command, extra) in enumerate(programs):
        home, directory = scratch / f"home-{number}", scratch / f"project-{number}"
        environment = scratch_user(model, home, directory, extra)
        yield Variant(
            label, tuple(command), environment, directory, arguments.columns, arguments.rows
        )


if __name__ == "__main__":
    sys.exit(main())
