"""Kill durable runs at every point.

`python -m tests.agent.library.durable_kills ROUNDS SEED PLACE`
PLACE is a directory for files of SQLite, or the address of a Postgres database.
Each round begins a run of several turns in a child process, kills that after a number of events,
and begins again until the run ends. What the database has as done must never begin again. Prints
one JSON object with what was found.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import random
import sqlite3
import sys
from collections.abc import AsyncIterator

import psycopg

from agent import Agent, DurableRunner, Model, ModelResponse, Usage, function_tool
from agent.library.base.raw_items import DictItem, RawItem

TURNS = 4
EVENTS = 2 * TURNS + 2 * 2 * TURNS + 2
"""Lines of a run that is never killed: begin and end of each model call and tool."""
EVENT_PIPE: list[int] = []


def note(text: str) -> None:
    """Tell the parent, before anything else happens."""
    os.write(EVENT_PIPE[0], f"{text}\n".encode())


@function_tool
async def work(turn: int, part: int) -> str:
    """Do a part of the work of a turn."""
    note(f"begin tool {turn}-{part}")
    await asyncio.sleep(0)
    note(f"end tool {turn}-{part}")
    return f"{turn}-{part}"


class Planner(Model):
    """Asks for two parts in each turn, then ends."""

    async def get_response(self, *args: RawItem, **kwargs: RawItem) -> ModelResponse:
        """Return the next turn."""
        items = kwargs["input"]
        turn = sum(item.get("type") == "function_call_output" for item in items) // 2
        note(f"begin model {turn + 1}")
        calls = [
            DictItem(
                type="function_call",
                id=f"fc-{turn}-{part}",
                call_id=f"{turn}-{part}",
                name="work",
                arguments=json.dumps({"turn": turn, "part": part}),
            )
            for part in range(2)
        ]
        text = DictItem(type="output_text", text="all done", annotations=[])
        message = DictItem(type="message", id="m", role="assistant", content=[text])
        note(f"end model {turn + 1}")
        return ModelResponse(calls if turn < TURNS else [message], Usage(requests=1), f"r{turn}")

    async def stream_response(self, *args: RawItem, **kwargs: RawItem) -> AsyncIterator[RawItem]:
        """Durable runs are not streamed."""
        raise NotImplementedError
        yield  # type: ignore[unreachable]  # makes it a generator


async def child(database: str, run_id: str) -> None:
    """Run to the end."""
    agent = Agent("Planner", model=Planner(), tools=[work])
    async with DurableRunner([agent], database, executor_id="one") as runner:
        run = await runner.start(agent, "go", run_id=run_id)
        note(f"result {(await run.result()).final_output}")


def recorded(database: str, run_id: str) -> set[str]:
    """Return the names of the steps that the database has as done."""
    where = f"operation_outputs WHERE output IS NOT NULL AND workflow_uuid = '{run_id}'"
    if database.startswith("postgresql:"):
        try:
            with psycopg.connect(database) as postgres:
                rows = postgres.execute(f"SELECT function_name FROM dbos.{where}").fetchall()
        except (psycopg.OperationalError, psycopg.errors.UndefinedTable):
            return set()
    else:
        try:
            with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
                rows = connection.execute(f"SELECT function_name FROM {where}").fetchall()
        except sqlite3.OperationalError:
            return set()
    return {str(name) for (name,) in rows}


def life(database: str, run_id: str, kill_after: int | None) -> list[str]:
    """Return the events of one process, which is killed after some of them."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        EVENT_PIPE[:] = [writing]
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        try:
            asyncio.run(child(database, run_id))
        finally:
            os._exit(sys.exc_info()[0] is not None)
    os.close(writing)
    events: list[str] = []
    with open(reading, encoding="utf-8") as lines:
        for line in lines:
            events.append(line.strip())
            if len(events) == kill_after:
                os.kill(pid, 9)
                break
        else:
            kill_after = None
        events.extend(line.strip() for line in lines if line.endswith("\n"))
    _, status = os.waitpid(pid, 0)
    if kill_after is None and status:
        raise RuntimeError(f"the child ended with status {status}: {events}")
    return events


def one_round(database: str, run_id: str, rng: random.Random) -> tuple[int, list[str], str]:
    """Return the kills of a round, what was repeated although it was done, and the result."""
    kills = 0
    repeated: list[str] = []
    while True:
        done = recorded(database, run_id)
        after = rng.randrange(1, EVENTS) if kills < 2 else None
        events = life(database, run_id, after)
        repeated += [each for each in events if each.removeprefix("begin ") in done]
        results = [each for each in events if each.startswith("result ")]
        if results:
            return kills, repeated, results[0]
        kills += 1


def main(rounds: int, seed: int, place: str) -> None:
    """Run the rounds and print what was found."""
    importlib.import_module("dbos")  # once, and not in each child
    rng = random.Random(seed)
    kills = 0
    repeated: list[str] = []
    wrong: list[str] = []
    for number in range(rounds):
        is_address = place.startswith("postgresql:")
        database = place if is_address else os.path.join(place, f"{number}.db")
        killed, again, result = one_round(database, f"run-{number}", rng)
        kills += killed
        repeated += again
        if result != "result all done":
            wrong.append(result)
    print(json.dumps({"rounds": rounds, "kills": kills, "repeated": repeated, "wrong": wrong}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
