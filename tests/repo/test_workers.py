"""Every test is reported exactly once, even if its worker ends early."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.repo.checkout import ROOT
from tests.workers import TESTS_OF_UNIT, units

TESTS = """
import os, pytest

@pytest.mark.parametrize("number", range(50))
def test_of(number):
    if number == 7:
        os._exit(9)
    if number == 20:
        print("a worker's output")
    assert number != 20

def test_that_is_skipped():
    pytest.skip("why")
"""


def test_a_worker_that_ends_fails_one_test(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.workers",
        "-p",
        "no:cacheprovider",
    ]
    run = subprocess.run(
        [*command, "--workers=2", "-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "2 failed, 48 passed, 1 skipped" in run.stdout
    assert "its worker ended with 9" in run.stdout
    assert "assert 20 != 20" in run.stdout
    assert "a worker's output" in run.stdout


def test_units_are_parts_of_files_and_those_that_wait_are_spread_among_the_rest() -> None:
    small = [f"tests/tui/test_a.py::test[{number}]" for number in range(TESTS_OF_UNIT + 1)]
    whole = ["tests/repo/test_b.py::test_1", "tests/repo/test_c.py::test_2"]
    long = ["tests/terminal/test_d.py::test_3"]
    short = ["tests/permissions/test_e.py::test_4"]
    size = len(small)
    assert units([*short, *small, *whole, *long]) == [
        [size + 1, size + 2],
        [*range(1, TESTS_OF_UNIT + 1)],
        [size],
        [size + 3],
        [0],
    ]
