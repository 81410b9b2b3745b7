"""Count what the program does for one key, one text delta and one Bash call.

`python -m benchmarks.trace [--tree PATH]` starts the real program in a pseudo-terminal on the
scripted model and prints the entries of its own functions, and how many files they are in, as a
table and as JSON. For a key what is entered while it is handled is counted; for a delta and a call,
what a longer answer enters more often than a shorter one. Another checkout is measured with
`--tree`, by the interpreter of its `.venv` if it has one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from agent.model.scripted.frames import split_words
from benchmarks.figures import Variant
from benchmarks.model import (
    Model,
    call_prompt,
    scratch_user,
    stream_prompt,
    streamed_text,
)
from benchmarks.program import Program

_KEYS: Final = "abcdefghi"
_TURNS: Final = 3
_SHORT_WORDS, _LONG_WORDS = 8, 40
_TOKENS_PER_S: Final = 20
"""Slow enough for each delta to get its own frame."""
_FEW_CALLS, _MANY_CALLS = 1, 4
_KEY_QUIET_S: Final = 0.15
"""Shorter than the delay before a draft is saved, which is not part of a single key."""
_WORST_FILES: Final = 12
_TRACED: Final = Path(__file__).with_name("traced.py")

Entries = Counter[tuple[str, str]]
"""Entries by file and function."""


@dataclass(frozen=True)
class Traced:
    """The entries that one action causes."""

    name: str
    entries: dict[str, float]
    """Entries by file."""

    @property
    def total(self) -> float:
        """Sum of the entries in all files."""
        return sum(self.entries.values())


class Tracer:
    """Runs one checkout and counts its entries."""

    def __init__(self, tree: Path, model: Model, scratch: Path) -> None:
        """Run the program of `tree` in a home and a project below `scratch`."""
        self._output = scratch / "entries.json"
        home, directory = scratch / "home", scratch / "project"
        own = tree / ".venv" / "bin" / "python"
        python = str(own) if own.exists() else sys.executable
        self.variant = Variant(
            "traced",
            (python, str(_TRACED), str(tree), str(self._output)),
            scratch_user(model, home, directory),
            directory,
        )

    def keys(self, program: Program) -> Traced:
        """Type keys into the idle prompt; return the sample with the median count."""
        samples = []
        for key in _KEYS:
            self._begin(program)
            program.type(key.encode())
            program.wait_for_quiet(_KEY_QUIET_S)
            samples.append(self._end(program))
            program.wait_for_quiet()
        samples.sort(key=lambda entries: entries.total())
        return Traced("a key", by_file(samples[len(samples) // 2]))

    def deltas(self, program: Program) -> Traced:
        """Stream answers of two lengths; return the entries per additional delta."""
        deltas = [
            len(split_words(streamed_text(words), 1)) for words in (_SHORT_WORDS, _LONG_WORDS)
        ]
        more = self.difference(
            [
                self._turn(program, stream_prompt(_SHORT_WORDS, _TOKENS_PER_S))
                for _ in range(_TURNS)
            ],
            [self._turn(program, stream_prompt(_LONG_WORDS, _TOKENS_PER_S)) for _ in range(_TURNS)],
            deltas[1] - deltas[0],
        )
        return Traced("a text delta", more)

    def calls(self, program: Program) -> Traced:
        """Let answers call Bash once and several times; return the entries per additional call."""
        more = self.difference(
            [self._turn(program, call_prompt(_FEW_CALLS)) for _ in range(_TURNS)],
            [self._turn(program, call_prompt(_MANY_CALLS)) for _ in range(_TURNS)],
            _MANY_CALLS - _FEW_CALLS,
        )
        return Traced("a Bash call", more)

    def headless_calls(self) -> Traced:
        """Do the same as `calls` in headless runs."""
        more = self.difference(
            [self._headless(call_prompt(_FEW_CALLS)) for _ in range(_TURNS)],
            [self._headless(call_prompt(_MANY_CALLS)) for _ in range(_TURNS)],
            _MANY_CALLS - _FEW_CALLS,
        )
        return Traced("a Bash call, no screen", more)

    def _turn(self, program: Program, prompt: str) -> Entries:
        program.type(prompt.encode())
        program.wait_for_quiet()
        self._begin(program)
        program.type(b"\r")
        program.wait_for_quiet(1.5, timeout_s=60)
        return self._end(program)

    def _headless(self, prompt: str) -> Entries:
        subprocess.run(
            [*self.variant.command, "-p", prompt],
            env={**self.variant.environment, "TRACE_WHOLE_RUN": "1"},
            cwd=self.variant.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return self._read()

    def _begin(self, program: Program) -> None:
        os.kill(program.pid, signal.SIGUSR1)
        program.listen(0.1)

    def _end(self, program: Program) -> Entries:
        self._output.unlink(missing_ok=True)
        os.kill(program.pid, signal.SIGUSR2)
        limit_s = time.monotonic() + 10
        while not self._output.exists():
            if time.monotonic() > limit_s:
                raise TimeoutError(f"no count was written; the screen:\n{program.emulator.text()}")
            program.listen(0.02)
        return self._read()

    def _read(self) -> Entries:
        counts = json.loads(self._output.read_text(encoding="utf-8"))
        return Counter(
            {(path, name): n for path, names in counts.items() for name, n in names.items()}
        )

    @staticmethod
    def difference(few: list[Entries], many: list[Entries], times: int) -> dict[str, float]:
        """Return the entries per additional time, by file; less than 0.5 is noise."""
        more: dict[str, float] = {}
        for path, name in {key for entries in many for key in entries}:
            key = (path, name)
            extra = median(e[key] for e in many) - median(e[key] for e in few)
            more[path] = more.get(path, 0) + extra / times
        return {path: round(entries, 1) for path, entries in more.items() if entries >= 0.5}


def by_file(entries: Entries) -> dict[str, float]:
    """Return the sum of entries by file."""
    files: Counter[str] = Counter()
    for (path, _), count in entries.items():
        files[path] += count
    return dict(files)


def measure(tree: Path) -> Iterator[Traced]:
    """Measure one checkout, first with a screen, then headless."""
    model = Model.start()
    try:
        with tempfile.TemporaryDirectory(prefix="bench-trace-") as scratch:
            tracer = Tracer(tree, model, Path(scratch))
            with tracer.variant.ready() as program:
                # Warm up, so that imports and caches are not counted.
                for prompt in (stream_prompt(_SHORT_WORDS, 80), call_prompt(_FEW_CALLS)):
                    program.type(f"{prompt}\r".encode())
                    program.wait_for_quiet(1.5, timeout_s=60)
                yield tracer.deltas(program)
                yield tracer.calls(program)
                yield tracer.keys(program)
            yield tracer.headless_calls()
    finally:
        model.stop()


def main() -> int:
    """Measure, then print a table and JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trace", description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(), help="root of the checkout to measure")
    parser.add_argument("--files", type=int, default=_WORST_FILES, help="files to name for each")
    arguments = parser.parse_args()
    results = list(measure(arguments.tree.resolve()))
    document = {
        one.name: {"entries": round(one.total), "files": len(one.entries), "by_file": one.entries}
        for one in results
    }
    print(json.dumps(document, indent=2))
    print(f"\n| {'for':24} | {'entries':>7} | {'files':>5} |")
    print(f"| {'-' * 24} | {'-' * 6}: | {'-' * 4}: |")
    for one in results:
        print(f"| {one.name:24} | {one.total:7.0f} | {len(one.entries):5} |")
    for one in results:
        print(f"\n{one.name}: the files with the most entries")
        for path, entries in sorted(one.entries.items(), key=lambda item: -item[1])[
            : arguments.files
        ]:
            print(f"  {entries:8.1f}  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
