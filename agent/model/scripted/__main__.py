"""Serve a scenario file: `python -m agent.model.scripted SCENARIO.toml [--port N] [--set k=v]…`.

The first line on standard output is the base URL. It ends with its parent when started with
`--with-parent`, and at SIGINT and SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from agent.model.scripted.scenario import Scenario
from agent.model.scripted.scenario_file import ScenarioError, load_scenario
from agent.model.scripted.server import RecordedRequest, ScriptedServer


def main() -> int:
    """Run until stopped; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m agent.model.scripted", description=__doc__)
    parser.add_argument("scenario", type=Path, help="a scenario file, or `demo`")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="replace ${NAME}"
    )
    parser.add_argument("--log", type=Path, help="append each request as a line of JSON")
    parser.add_argument(
        "--with-parent", action="store_true", help="stop when standard input is closed"
    )
    options = parser.parse_args()
    variables = dict(pair.partition("=")[::2] for pair in options.set)
    try:
        scenario = _scenario(options.scenario)
        asyncio.run(_serve(scenario, options.port, variables, options.log, options.with_parent))
    except (ScenarioError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _scenario(path: Path) -> Scenario:
    if str(path) == "demo":
        from agent.model.scripted.demo import demo_scenario  # only for the demo

        return demo_scenario()
    return load_scenario(path)


async def _serve(
    scenario: Scenario, port: int, variables: dict[str, str], log: Path | None, with_parent: bool
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if with_parent:
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        watcher = asyncio.ensure_future(reader.read())
        watcher.add_done_callback(lambda _: stop.set())
    on_done = None if log is None else _Log(log)
    server = ScriptedServer(scenario, variables=variables, on_done=on_done)
    try:
        print(await server.start(port), flush=True)
        await stop.wait()
    finally:
        await server.aclose()


class _Log:
    """Appends finished requests to a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, record: RecordedRequest) -> None:
        line = {
            "number": record.number,
            "method": record.method,
            "path": record.path,
            "headers": dict(record.headers),
            "body": record.body,
            "turn": record.turn,
            "status": record.status,
            "problem": record.problem,
            "usage": dict(record.usage),
            "hung_up": record.hung_up,
            "started_at": record.started_at,
            "ended_at": record.ended_at,
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
