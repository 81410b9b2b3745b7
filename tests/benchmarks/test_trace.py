"""The trace counts what the product enters, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from benchmarks.trace import Tracer, by_file

TRACED = Path(__file__).parents[2] / "benchmarks" / "traced.py"

CLI = """
import json
import threading


def numbers():
    yield 1
    yield 2


def main():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    json.dumps({})
    return len(list(numbers())) - 2


def work():
    pass
"""


def test_calls_and_resumed_generators_count_in_every_thread(tmp_path: Path) -> None:
    (tmp_path / "tui").mkdir()
    (tmp_path / "tui" / "__init__.py").touch()
    (tmp_path / "tui" / "cli.py").write_text(CLI)
    output = tmp_path / "entries.json"
    environment = {"PATH": os.defpath, "TRACE_WHOLE_RUN": "1"}
    command = [sys.executable, str(TRACED), str(tmp_path), str(output)]
    subprocess.run(command, env=environment, check=True, timeout=60)
    entries = json.loads(output.read_text())
    assert entries == {"tui/cli.py": {"main": 1, "numbers": 3, "work": 1}}


def test_what_a_longer_run_enters_more_often_is_divided_by_its_excess() -> None:
    few = [Counter({("a.py", "f"): 2, ("b.py", "g"): 1})]
    many = [Counter({("a.py", "f"): 8, ("b.py", "g"): 1, ("a.py", "h"): 3})]
    assert Tracer.difference(few, many, 3) == {"a.py": 3.0}


def test_entries_of_a_file_are_added() -> None:
    entries = Counter({("a.py", "f"): 2, ("a.py", "g"): 1, ("b.py", "f"): 5})
    assert by_file(entries) == {"a.py": 3, "b.py": 5}
