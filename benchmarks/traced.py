"""Run the program and count every entry of its own functions; started by `benchmarks.trace`.

`python traced.py ROOT OUTPUT [ARGUMENT…]` runs the program of the checkout at ROOT. SIGUSR1 begins
a count, SIGUSR2 ends it and writes OUTPUT: a JSON object from file to function to entries. With
`TRACE_WHOLE_RUN` set, the count begins at the start and is written at the end. Imports nothing of
the tree it measures, so that it runs any version of it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

PACKAGES: Final = ("agent", "hooks", "permissions", "themes", "tui")


class EntryCounter:
    """Counts entries by code object: calls, and each resumption of a generator."""

    def __init__(self, root: Path, output: Path) -> None:
        """Count functions of the packages below `root`; write the counts to `output`."""
        self._output = output
        self._prefix = f"{root}{os.sep}"
        self._is_on = False
        self._entries: Counter[CodeType] = Counter()

    def install(self) -> None:
        """Install the profiler in this thread and all later ones."""
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)

    def begin(self, *_signal: object) -> None:
        """Start to count from zero."""
        self._entries.clear()
        self._is_on = True

    def end(self, *_signal: object) -> None:
        """Stop counting and write the counts."""
        self._is_on = False
        counts: dict[str, dict[str, int]] = {}
        for code, entries in list(self._entries.items()):
            path = code.co_filename.removeprefix(self._prefix)
            if path != code.co_filename and path.split(os.sep)[0] in PACKAGES:
                functions = counts.setdefault(path, {})
                functions[code.co_qualname] = functions.get(code.co_qualname, 0) + entries
        part_file = self._output.with_suffix(".part")
        part_file.write_text(json.dumps(counts), encoding="utf-8")
        part_file.replace(self._output)

    def _on_event(self, frame: FrameType, event: str, _argument: Any) -> None:
        if self._is_on and event == "call":
            self._entries[frame.f_code] += 1


def main() -> int:
    """Run the program like its own command does."""
    root, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    sys.path[0] = str(root)
    sys.argv[1:3] = []
    counter = EntryCounter(root, output)
    signal.signal(signal.SIGUSR1, counter.begin)
    signal.signal(signal.SIGUSR2, counter.end)
    counter.install()
    from tui.cli import main as run  # from the checkout at ROOT

    if "TRACE_WHOLE_RUN" not in os.environ:
        return run()
    counter.begin()
    try:
        return run()
    finally:
        counter.end()


if __name__ == "__main__":
    sys.exit(main())
