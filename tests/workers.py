"""Run tests in several processes that are forked once all tests are collected: `--workers N`.

Workers of pytest-xdist would import and collect everything again. To other plugins a worker here
looks like one of pytest-xdist, because they check its variables. Warnings are errors in all tests,
so they need not be passed to the controller.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import count, groupby
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Final

import pytest
from _pytest.pathlib import LOCK_TIMEOUT, cleanup_numbered_dir

TESTS_OF_UNIT: Final = 20
"""Tests that a worker takes at a time, all of one file; shared fixtures are set up for each."""
_TOGETHER: Final = "tests/repo/"
"""Tests that share what they read of the tree, which takes longer than the tests."""
_WAITING: Final = (
    _TOGETHER,
    *(f"tests/{name}/" for name in ("soak", "terminal", "journeys")),
    *(f"tests/agent/{name}/" for name in ("sandbox", "library", "orchestration", "mcp", "tools")),
)
"""Tests that wait for programs, longest first; tests that only compute run beside them."""
_SHORT: Final = "tests/permissions/"
"""Run last of the computing tests, so that the workers end at about the same time."""

_RUNS_KEPT: Final = 3
"""Like pytest: keep the files of this run and of the two before it."""
_EXIT_CODES: Final = frozenset(
    {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}
)
"""Exit codes of a worker that has run its tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the number of processes."""
    parser.addoption("--workers", type=int, default=0, help="processes that run the tests")


def pytest_configure(config: pytest.Config) -> None:
    """Announce to plugins, before the session starts, that tests run in workers."""
    if workers := config.getoption("workers"):
        os.environ["PYTEST_XDIST_WORKER_COUNT"] = str(workers)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the collected tests in workers; without `--workers`, pytest runs them itself."""
    workers = session.config.getoption("workers")
    if not workers or session.config.option.collectonly or session.testsfailed:
        return None
    return Controller(session).run(workers)


def units(names: list[str]) -> list[list[int]]:
    """Return the units: indexes of tests that one worker runs together, in order."""

    def of_file(index: int) -> str:
        file = names[index].partition("::")[0]
        return _TOGETHER if file.startswith(_TOGETHER) else file

    waiting: list[list[list[int]]] = [[] for _ in _WAITING]
    computing: list[list[int]] = []
    for file, grouped in groupby(range(len(names)), of_file):
        tests = list(grouped)
        size = len(tests) if file == _TOGETHER else TESTS_OF_UNIT
        place = next((place for place, name in enumerate(_WAITING) if file.startswith(name)), None)
        of_kind = computing if place is None else waiting[place]
        of_kind += [tests[start : start + size] for start in range(0, len(tests), size)]
    computing.sort(key=lambda unit: names[unit[0]].startswith(_SHORT))
    return _mixed([unit for of_kind in waiting for unit in of_kind], computing)


def _mixed(*kinds: list[list[int]]) -> list[list[int]]:
    """Return all units; those of each kind stay in order and are spread evenly."""
    places = [
        (index / len(kind), number, index)
        for number, kind in enumerate(kinds)
        for index in range(len(kind))
    ]
    return [kinds[number][index] for _, number, index in sorted(places)]


class Controller:
    """Distributes units to workers, and passes on their reports."""

    def __init__(self, session: pytest.Session) -> None:
        """Prepare to run the collected tests of a session."""
        self._session = session
        self._units = deque(units([item.nodeid for item in session.items]))
        self._processes: dict[Connection[Any, Any], int] = {}
        self._unreported: dict[Connection[Any, Any], deque[int]] = {}
        self._numbers = count()
        self._at_their_end: list[int] = []

    def run(self, workers: int) -> bool:
        """Return once all tests are reported; in a worker, once it has no more tests."""
        self._remove_earlier_files()
        for _ in range(min(workers, len(self._units))):
            if self._is_worker():
                return True
        while self._processes:
            for connection in wait([*self._processes]):
                assert isinstance(connection, Connection)
                try:
                    self._read(connection, *connection.recv())
                except (EOFError, ConnectionError):
                    self._end(connection)
                    if self._units and self._is_worker():
                        return True
        for process in self._at_their_end:
            self._expect_success(process)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)
        return True

    def _is_worker(self) -> bool:
        """Fork a worker; return True in the worker, at its end."""
        ours, theirs = Pipe()
        number = next(self._numbers)
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            for each in (ours, *self._processes):
                each.close()
            _Worker(self._session, theirs, number).run()
            return True
        theirs.close()
        self._processes[ours] = process
        self._unreported[ours] = deque()
        return False

    def _read(self, connection: Connection[Any, Any], kind: str, value: Any) -> None:
        hook = self._session.config.hook
        if kind == "more":
            unit = self._units.popleft() if self._units else []
            self._unreported[connection] += unit
            connection.send(unit)
        else:
            self._report(
                self._unreported[connection].popleft(),
                [
                    hook.pytest_report_from_serializable(config=self._session.config, data=data)
                    for data in value
                ],
            )

    def _report(self, index: int, reports: list[pytest.TestReport]) -> None:
        hook, item = self._session.config.hook, self._session.items[index]
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        if self._session.shouldfail or self._session.shouldstop:
            self._units.clear()
            for process in self._processes.values():
                os.kill(process, signal.SIGINT)

    def _end(self, connection: Connection[Any, Any]) -> None:
        """Report the test that killed its worker, and let another worker run the rest."""
        connection.close()
        process = self._processes.pop(connection)
        rest = self._unreported.pop(connection)
        if not rest:
            # Do not wait for its end, because the other workers need units meanwhile.
            self._at_their_end.append(process)
            return
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if not self._session.shouldfail and not self._session.shouldstop:
            item = self._session.items[index := rest.popleft()]
            end = pytest.TestReport(
                item.nodeid, item.location, {}, "failed", f"its worker ended with {code}", "call"
            )
            if rest:
                self._units.appendleft(list(rest))
            self._report(index, [end])

    def _expect_success(self, process: int) -> None:
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if code not in _EXIT_CODES:
            self._session.shouldfail = f"a worker ended with {code}"

    def _remove_earlier_files(self) -> None:
        """Remove files of earlier runs, which pytest would do at its end.

        That may take half a minute on slow disks, so it is done in a separate process.
        """
        own = self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        if os.fork() == 0:
            with open(os.devnull, "r+b", buffering=0) as nothing:
                for descriptor in range(3):
                    os.dup2(nothing.fileno(), descriptor)
            try:
                cleanup_numbered_dir(own.parent, "pytest-", _RUNS_KEPT, time.time() - LOCK_TIMEOUT)
            finally:
                os._exit(0)


class _Worker:
    """A plugin that replaces the terminal reporter and sends reports to the controller."""

    def __init__(
        self, session: pytest.Session, connection: Connection[Any, Any], number: int
    ) -> None:
        self._session = session
        self._connection = connection
        self._reports: list[dict[str, Any]] = []
        name = f"gw{number}"
        os.environ["PYTEST_XDIST_WORKER"] = name
        config = session.config
        config.__dict__["workerinput"] = {"workerid": name}
        # Used by pytest to format failed comparisons like on a terminal.
        self._tw = config.get_terminal_writer()
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(self, "terminalreporter")
        factory = config._tmp_path_factory  # type: ignore[attr-defined]
        factory._basetemp = factory.getbasetemp() / str(number)
        factory._basetemp.mkdir(0o700)
        # The files with captured output belong to the controller.
        capture = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()
        capture.start_global_capturing()

    def run(self) -> None:
        """Run tests until the controller has no more units."""
        items = self._items()
        item = next(items, None)
        while item and not self._session.shouldfail and not self._session.shouldstop:
            following = next(items, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self._connection.send(("reports", self._reports))
            self._reports = []
            item = following
        self._connection.close()

    def _items(self) -> Iterator[pytest.Item]:
        while True:
            self._connection.send(("more", None))
            unit = self._connection.recv()
            if not unit:
                return
            for index in unit:
                yield self._session.items[index]

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        config = self._session.config
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        self._reports.append(data)
