"""The scripted model in a separate process, which answers benchmark prompts and reports times."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any, Final, TextIO

from agent.model.scripted.choose import last_result, prompt_of
from agent.model.scripted.faults import Cut, Fault, Position, Status
from agent.model.scripted.frames import split_words
from agent.model.scripted.prefix import estimate_tokens
from agent.model.scripted.scenario import Pace, Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import RecordedRequest, ScriptedServer

KEY: Final = "Q"
"""The key that benchmarks type; no text of the model contains it."""
MARK_EVERY: Final = 8
"""One of this many words is unique, to detect when it was sent and when it was shown."""

_STREAM = re.compile(r"bench stream (\d+) words at (\d+) tokens/s")
_FILL = re.compile(r"bench fill (\d+) lines")
_CALLS = re.compile(r"bench call (\d+) commands")
_AGENTS = re.compile(r"bench agents (\d+) with (\d+) words at (\d+) tokens/s")
_WORKFLOW = re.compile(r"bench workflow (\d+) with (\d+) words at (\d+) tokens/s")
_SMALL_USAGE: Final = {
    "input_tokens": 1000,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}
"""Always reported, so that no program compacts the long transcript that is measured."""
_FAULTY: Final = "over a bad connection"
_SCRIPT: Final = """export const meta = { name: 'bench', description: 'streams' };
const parts = Array.from({ length: %d }, (_, part) => part);
return await parallel(parts.map(part => () => agent('%s' + part)));"""
_LUCK = random.Random(7)
_SUBJECTS = "the parser|a cached strip|this function|each session|the second hook|one narrow test"
_VERBS = "reads|keeps|moves|returns|checks|drops|renames|waits for"
_OBJECTS = "the changed lines|a folder of fixtures|its own state|every open file|the last answer"
_ENDINGS = "before it writes.|and says so.|when the limit is reached.|in order.|without a copy."


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request that arrived at the model."""

    at_s: float
    """Seconds of the monotonic clock, which all processes of a machine share."""
    path: str
    prompt: str
    """The user's latest text; empty for requests other than messages."""


@dataclass(slots=True)
class Model:
    """A running model server and the requests it received."""

    process: subprocess.Popen[str]
    base_url: str
    requests: list[SeenRequest] = field(default_factory=list)
    _partial_line: bytes = b""

    @classmethod
    def start(cls) -> Model:
        """Start the server and wait until it listens."""
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.model"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert process.stdout is not None
        first_line = process.stdout.readline()
        if not first_line:
            raise RuntimeError("the model server did not start")
        return cls(process, json.loads(first_line)["base_url"])

    def update(self) -> list[SeenRequest]:
        """Read new requests from the server; return all requests so far."""
        output = self.process.stdout
        assert output is not None
        # Unbuffered, because `select` does not see lines in the stream's own buffer.
        while select.select([output], [], [], 0)[0]:
            data = os.read(output.fileno(), 65536)
            if not data:
                break
            *lines, self._partial_line = (self._partial_line + data).split(b"\n")
            self.requests.extend(SeenRequest(**json.loads(line)) for line in lines)
        return self.requests

    def find(self, prompt: str, *, after_s: float) -> SeenRequest | None:
        """Return the first request since `after_s` whose prompt contains this text, or None."""
        for request in self.update():
            if request.at_s >= after_s and prompt in request.prompt:
                return request
        return None

    def stop(self) -> None:
        """End the server."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=5)


def stream_prompt(words: int, tokens_per_s: int) -> str:
    """Return the prompt that makes the model stream this many words at this rate."""
    return f"bench stream {words} words at {tokens_per_s} tokens/s"


def fill_prompt(lines: int) -> str:
    """Return the prompt that makes the model send this many lines as fast as possible."""
    return f"bench fill {lines} lines"


def call_prompt(commands: int) -> str:
    """Return the prompt that makes the model run this many shell commands in one message."""
    return f"bench call {commands} commands"


def agents_prompt(agents: int, words: int, tokens_per_s: int) -> str:
    """Return the prompt that starts this many agents at once, each streaming this many words."""
    return f"bench agents {agents} with {words} words at {tokens_per_s} tokens/s"


def workflow_prompt(agents: int, words: int, tokens_per_s: int) -> str:
    """Return the prompt that starts a workflow with this many agents, each streaming `words`.

    5 % of the requests get an overload error, 2 % a reset connection, and 1 % a truncated stream.
    """
    return f"bench workflow {agents} with {words} words at {tokens_per_s} tokens/s"


def streamed_text(words: int) -> str:
    """Return the text of a streamed answer: paragraphs, lists and code, with numbered marks."""
    return " ".join(_take_words(words)).replace(" \n ", "\n").replace("\n ", "\n")


def mark_times(words: int, tokens_per_s: int) -> dict[str, float]:
    """Return when each mark of a streamed answer is sent, in seconds after the request."""
    tokens = 0
    times: dict[str, float] = {}
    for piece in split_words(streamed_text(words), 1):
        tokens += estimate_tokens(piece)
        if mark := re.search(r"\bm\d{4}\b", piece):
            times[mark.group()] = tokens / tokens_per_s
    return times


def stream_seconds(words: int, tokens_per_s: int) -> float:
    """Return how long a streamed answer takes to be sent."""
    return streamed_tokens(words) / tokens_per_s


def streamed_tokens(words: int) -> int:
    """Return the number of tokens by which the server paces a streamed answer."""
    return sum(estimate_tokens(piece) for piece in split_words(streamed_text(words), 1))


def filling_text(lines: int) -> str:
    """Return an answer of this many lines of about 60 characters: prose, lists and code."""
    text_lines: list[str] = []
    sentences = _sentences()
    for number in count(1):
        if len(text_lines) >= lines:
            break
        match number % 4:
            case 0:
                code = [f"    value_{i} = compute({number}, {i})" for i in range(6)]
                text_lines += ["```python", f"def part_{number}():", *code, "```", ""]
            case 1:
                text_lines += [f"- {next(sentences)}" for _ in range(5)] + [""]
            case _:
                text_lines += [f"{next(sentences)} {next(sentences)}"[:100], ""]
    return "\n".join(text_lines[:lines])


def _sentences() -> Iterator[str]:
    parts = [cycle(text.split("|")) for text in (_SUBJECTS, _VERBS, _OBJECTS, _ENDINGS)]
    while True:
        yield " ".join(next(part) for part in parts).capitalize()


def _take_words(words: int) -> list[str]:
    tokens: list[str] = []
    marks = count()
    for paragraph, sentence in enumerate(_sentences()):
        if len(tokens) >= words:
            break
        if paragraph % 5 == 0 and tokens:
            tokens.append("\n\n")
        elif paragraph % 5 in (2, 3) and paragraph % 20 > 10:
            tokens.append("\n-")
        for word in sentence.split():
            tokens.append(word)
            if len(tokens) % MARK_EVERY == 0:
                tokens.append(f"m{next(marks):04d}")
    return tokens[:words]


def _answer(record: RecordedRequest, output: TextIO) -> Turn:
    prompt = prompt_of(record.messages_body)
    _tell(output, at_s=record.started_at, path=record.path, prompt=prompt)
    if stream := _STREAM.search(prompt):
        words, tokens_per_s = int(stream[1]), int(stream[2])
        pace = Pace(tokens_per_s=tokens_per_s)
        fault = _fault() if _FAULTY in prompt else None
        return Turn((Text(streamed_text(words)),), pace=pace, usage=_SMALL_USAGE, fault=fault)
    if fill := _FILL.search(prompt):
        return Turn((Text(filling_text(int(fill[1]))),), usage=_SMALL_USAGE)
    if (calls := _CALLS.search(prompt)) and not last_result(record.messages_body):
        commands = (f"echo {number}" for number in range(int(calls[1])))
        return Turn(
            tuple(ToolCall("Bash", {"command": command}) for command in commands),
            usage=_SMALL_USAGE,
        )
    if (agents := _AGENTS.search(prompt)) and not last_result(record.messages_body):
        task = stream_prompt(int(agents[2]), int(agents[3]))
        starts = (
            ToolCall("Agent", {"description": f"part {number}", "prompt": task})
            for number in range(int(agents[1]))
        )
        return Turn(tuple(starts), usage=_SMALL_USAGE)
    if (workflow := _WORKFLOW.search(prompt)) and not last_result(record.messages_body):
        task = stream_prompt(int(workflow[2]), int(workflow[3]))
        script = _SCRIPT % (int(workflow[1]), f"{_FAULTY}: {task}, part ")
        return Turn((ToolCall("Workflow", {"script": script}),), usage=_SMALL_USAGE)
    return Turn((Text("done."),), usage=_SMALL_USAGE)


def _fault() -> Fault | None:
    chance = _LUCK.random()
    if chance < 0.05:
        return Status(529)
    if chance < 0.07:
        return Cut()
    return Cut(Position("text"), "close") if chance < 0.08 else None


def _tell(output: TextIO, **fields: Any) -> None:
    print(json.dumps(fields), file=output, flush=True)


async def _serve() -> None:
    """Serve until standard input closes, so that the server never outlives its benchmark."""
    scenario = Scenario(name="benchmark", strict=False)
    server = ScriptedServer(scenario, respond=lambda record: _answer(record, sys.stdout))
    async with server:
        _tell(sys.stdout, base_url=server.base_url)
        input_end = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), input_end.set)
        await input_end.wait()


if __name__ == "__main__":
    asyncio.run(_serve())
    os._exit(0)


def scratch_user(
    model: Model, home: Path, directory: Path, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Create an empty home and a small project; return the environment for the program."""
    home.mkdir()
    directory.mkdir()
    (directory / "README.md").write_text("# A project to measure in\n", encoding="utf-8")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "ANTHROPIC_BASE_URL": model.base_url,
        "ANTHROPIC_API_KEY": "benchmark",
        "ANTHROPIC_MODEL": "benchmark",
        **(extra or {}),
    }
