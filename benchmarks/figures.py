"""The measurements: functions that take a running program, or a variant, and return figures."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.model import (
    KEY,
    Model,
    fill_prompt,
    mark_times,
    stream_prompt,
    stream_seconds,
    streamed_text,
    streamed_tokens,
)
from benchmarks.program import Output, Program, Resized, Step, TerminalEvent
from benchmarks.terminal import Emulator

TOKENS_PER_S: Final = 80
_KEYS: Final = 80
_START_LIMIT_S: Final = 4.0
_ENTER: Final = b"\r"
_BACKSPACE: Final = b"\x7f"
_REDRAW: Final = b"\x0c"
_LINES_PER_FILL: Final = 2000
_MARK: Final = re.compile(r"m\d{4}")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number."""

    name: str
    value: float | None
    """None if the program never got that far."""
    unit: str


class NoEchoError(Exception):
    """The program never showed a typed key, so that nothing can be measured."""

    def __init__(self, screen: str) -> None:
        super().__init__(f"no typed key showed; the screen:\n{screen}")


class NoAnswerError(Exception):
    """A prompt never reached the model, so that nothing can be measured."""

    def __init__(self, screen: str) -> None:
        super().__init__(f"the model was not asked; the screen:\n{screen}")


@dataclass(frozen=True, slots=True)
class Variant:
    """One program to measure, or one way to run it."""

    label: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    """The whole environment, including the model's address."""
    directory: Path
    columns: int = 120
    rows: int = 40

    def spawn(self, *arguments: str) -> Program:
        """Start the program in a terminal of this size."""
        return Program.spawn(
            [*self.command, *arguments],
            environment=self.environment,
            directory=self.directory,
            columns=self.columns,
            rows=self.rows,
        )

    @contextmanager
    def ready(self) -> Iterator[Program]:
        """Start the program, wait until a typed key appears, and end the program afterwards.

        Raises:
            NoEchoError: no key appeared within 30 s.
        """
        program = self.spawn()
        try:
            # Retry for programs that lose keys typed before their first frame.
            for _ in range(10):
                program.type(KEY.encode())
                if program.wait_until(lambda screen: screen.longest_run(KEY) > 0, timeout_s=3):
                    break
            else:
                raise NoEchoError(program.emulator.text())
            program.wait_for_quiet()
            program.type(_BACKSPACE * program.emulator.longest_run(KEY))
            program.wait_for_quiet()
            yield program
        finally:
            program.close()


def measure_start(variant: Variant, model: Model, *, starts: int) -> list[Figure]:
    """Time from the start to the first frame, to the echo of an early key, to the first request."""
    frames, echoes, requests, headless = [], [], [], []
    for run in range(starts):
        program, first = variant.spawn(), _FirstSights()
        program.observer = first.observe
        program.type(KEY.encode())
        program.listen(_START_LIMIT_S)
        program.review()
        program.close()
        frames.append(_since(program.started_s, first.frame_s))
        echoes.append(_since(program.started_s, first.echo_s))

        prompt = f"start {variant.label} {run}"
        program = variant.spawn(prompt)
        requests.append(_since(program.started_s, _asked_at(model, program, prompt)))
        program.close()
        prompt = f"headless {variant.label} {run}"
        program = variant.spawn("-p", prompt)
        headless.append(_since(program.started_s, _asked_at(model, program, prompt)))
        program.close()
    return [
        Figure("spawn to first frame", _median(frames), "ms"),
        Figure("spawn to echo of a key typed at once", _median(echoes), "ms"),
        Figure("spawn to first request, prompt as argument", _median(requests), "ms"),
        Figure("spawn to first request, without a screen (-p)", _median(headless), "ms"),
    ]


def measure_idle(program: Program, seconds: float) -> list[Figure]:
    """Memory, processor time and output of an idle program."""
    program.wait_for_quiet(1.0)
    memory_mb, cpu_s, start = program.memory_mb(), program.cpu_s(), len(program.events)
    program.listen(seconds)
    output_bytes = _bytes_written(program.events[start:])
    return [
        Figure("memory at the prompt", memory_mb, "MB"),
        Figure("idle processor", 100 * (program.cpu_s() - cpu_s) / seconds, "%"),
        Figure("idle output", output_bytes / seconds, "bytes/s"),
    ]


def measure_typing(program: Program, *, when: str, keys: int = _KEYS) -> list[Figure]:
    """Time from typing a key to the output that shows it, in the current state of the program."""
    echoes, output_bytes = _type_keys(program, keys)
    figures = [
        Figure(f"key echo {when}, p50", _percentile(echoes, 50), "ms"),
        Figure(f"key echo {when}, p95", _percentile(echoes, 95), "ms"),
        Figure(f"keys lost {when}", float(keys - len(echoes)), ""),
    ]
    if when == "idle":
        figures.append(Figure("output per typed key", output_bytes / keys, "bytes"))
    return figures


def measure_stream(program: Program, model: Model, words: int) -> list[Figure]:
    """Processor time and output for showing a streamed answer, and its latency."""
    seconds = stream_seconds(words, TOKENS_PER_S)
    prompt = stream_prompt(words, TOKENS_PER_S)
    cpu_s = program.cpu_s()
    sent_s = send(program, prompt)
    start = len(program.events)
    program.listen(seconds + 2.0)
    cpu_s = program.cpu_s() - cpu_s
    request = model.find(prompt, after_s=sent_s)
    program.emulator.changed_cells()
    sights = _MarkSights()
    program.review(sights.observe)
    outputs = [e for e in program.events[start:] if isinstance(e, Output)]
    output_bytes = _bytes_written(outputs)
    delays, last_s = [], None
    if request is not None:
        mark_times_s = {
            mark: request.at_s + time_s for mark, time_s in mark_times(words, TOKENS_PER_S).items()
        }
        delays = [
            (sights.seen_s[mark] - time_s) * 1000
            for mark, time_s in mark_times_s.items()
            if mark in sights.seen_s
        ]
        last_s = outputs[-1].at_s - (request.at_s + seconds) if outputs else None
    return [
        Figure("output per streamed character", output_bytes / len(streamed_text(words)), "bytes"),
        Figure("output per changed cell", output_bytes / max(1, sights.changed_cells), "bytes"),
        Figure("frames per second of stream", _bursts(outputs) / seconds, ""),
        Figure("processor per 1,000 tokens", 1000 * cpu_s / streamed_tokens(words), "s"),
        Figure("word sent to word shown, p50", _percentile(delays, 50), "ms"),
        Figure("word sent to word shown, p95", _percentile(delays, 95), "ms"),
        Figure("last word sent to last output", None if last_s is None else last_s * 1000, "ms"),
        Figure("memory after the first answers", program.memory_mb(), "MB"),
    ]


def measure_typing_while_streaming(program: Program, *, when: str) -> list[Figure]:
    """Latency of key echo while an answer streams."""
    keys = _KEYS
    words = int(1.4 * keys * 0.1 * TOKENS_PER_S / 1.6) + 80
    send(program, stream_prompt(words, TOKENS_PER_S))
    program.listen(1.0)
    figures = measure_typing(program, when=when, keys=keys)
    program.wait_for_quiet(1.0, timeout_s=30)
    return figures


def measure_resizes(program: Program, variant: Variant) -> list[Figure]:
    """One hundred resizes in two seconds during typing, and the final screen."""
    program.wait_for_quiet()
    sizes = [(variant.columns - i * 7 % 41, variant.rows - i * 5 % 17) for i in range(1, 100)]
    sizes.append((variant.columns, variant.rows))
    keys = 40
    steps = [Step((i + 1) * 0.02, size=size) for i, size in enumerate(sizes)]
    steps += [Step(0.031 + i * 0.049, keys=KEY.encode()) for i in range(keys)]
    steps.sort(key=lambda step: step.after_s)
    counter = _KeyCounter()
    typed_s = program.play(steps, rest_s=2.0)
    program.review(counter.observe)
    echoes = counter.echoes_ms(typed_s)
    lost_count = keys - program.emulator.longest_run(KEY)
    after_storm = program.emulator.text()
    program.type(_REDRAW)
    program.wait_for_quiet()
    pairs = zip(after_storm.split("\n"), program.emulator.text().split("\n"), strict=True)
    unlike = sum(old != new for old, new in pairs)
    _erase(program, keys)
    return [
        Figure("key echo in 100 resizes, p95", _percentile(echoes, 95), "ms"),
        Figure("keys lost in 100 resizes", float(lost_count), ""),
        Figure("rows unlike a full redraw after it", float(unlike), ""),
    ]


def measure_long_transcript(program: Program, model: Model, lines: Sequence[int]) -> list[Figure]:
    """Typing latency and memory for transcripts of these lengths, given in ascending order.

    Raises:
        NoAnswerError: a request for more lines never reached the model.
    """
    figures = []
    line_count = 0
    for target in lines:
        while line_count < target:
            prompt = fill_prompt(_LINES_PER_FILL)
            if _asked_at(model, program, prompt, after_s=send(program, prompt)) is None:
                raise NoAnswerError(program.emulator.text())
            program.wait_for_quiet(1.0, timeout_s=120)
            line_count += _LINES_PER_FILL
        state = f"after {target:,} lines"
        figures.append(Figure(f"memory {state}", program.memory_mb(), "MB"))
        figures += measure_typing(program, when=state)
        figures += measure_typing_while_streaming(program, when=f"{state}, streaming")
    return figures


def measure_growth(program: Program, turns: int = 40) -> list[Figure]:
    """Processor time of a late turn relative to an early one."""
    costs = []
    for _ in range(turns):
        cpu_s = program.cpu_s()
        send(program, stream_prompt(40, 2000))
        program.wait_for_quiet(0.4)
        costs.append(program.cpu_s() - cpu_s)
    early, late = median(costs[2:8]), median(costs[-6:])
    return [Figure("cost of turn 40 to turn 5", late / early if early else None, "x")]


class _FirstSights:
    """Records when anything, and when the key, was first on the screen."""

    def __init__(self) -> None:
        self.frame_s: float | None = None
        self.echo_s: float | None = None

    def observe(self, event: TerminalEvent, screen: Emulator) -> None:
        if self.frame_s is None and screen.text().strip():
            self.frame_s = event.at_s
        if self.echo_s is None and screen.longest_run(KEY):
            self.echo_s = event.at_s


class _KeyCounter:
    """Records when each of the typed keys was first on the screen."""

    def __init__(self) -> None:
        self.shown_s: list[float] = []

    def observe(self, event: TerminalEvent, screen: Emulator) -> None:
        if isinstance(event, Output) and KEY.encode() in event.data:
            new = screen.longest_run(KEY) - len(self.shown_s)
            self.shown_s.extend([event.at_s] * max(0, new))

    def echoes_ms(self, typed_s: Sequence[float]) -> list[float]:
        pairs = zip(typed_s, self.shown_s, strict=False)
        return [(echo_s - key_s) * 1000 for key_s, echo_s in pairs]


class _MarkSights:
    """Records when each mark of a streamed text was first on the screen, and changed cells."""

    def __init__(self) -> None:
        self.seen_s: dict[str, float] = {}
        self.changed_cells = 0

    def observe(self, event: TerminalEvent, screen: Emulator) -> None:
        if isinstance(event, Resized):
            return
        self.changed_cells += screen.changed_cells()
        for mark in _MARK.findall(screen.text()):
            self.seen_s.setdefault(mark, event.at_s)


def _type_keys(program: Program, keys: int) -> tuple[list[float], int]:
    """Type keys at an uneven pace and erase them; return echo times in ms, and output bytes."""
    chance = random.Random(keys)
    program.review()
    counter = _KeyCounter()
    at_s, steps = 0.05, []
    for _ in range(keys):
        steps.append(Step(at_s, keys=KEY.encode()))
        at_s += chance.uniform(0.06, 0.14)
    start = len(program.events)
    typed_s = program.play(steps, rest_s=0.6)
    output_bytes = _bytes_written(program.events[start:])
    program.review(counter.observe)
    _erase(program, keys)
    return counter.echoes_ms(typed_s), output_bytes


def _erase(program: Program, keys: int) -> None:
    program.type(_BACKSPACE * keys)
    program.listen(0.5)
    program.review()


def send(program: Program, prompt: str) -> float:
    """Type a prompt and send it once it is shown; return the time of sending."""
    program.wait_for_quiet()
    program.type(prompt.encode())
    program.wait_until(lambda screen: prompt[-12:] in screen.text(), timeout_s=5)
    return program.type(_ENTER)


def _asked_at(model: Model, program: Program, prompt: str, *, after_s: float = 0.0) -> float | None:
    limit_s = time.monotonic() + 10
    while time.monotonic() < limit_s:
        program.listen(0.02)
        if request := model.find(prompt, after_s=max(after_s, program.started_s)):
            return request.at_s
        if program.exit_status is not None:
            break
    return None


def _since(start_s: float, at_s: float | None) -> float | None:
    return None if at_s is None else (at_s - start_s) * 1000


def _bytes_written(events: Sequence[TerminalEvent]) -> int:
    return sum(len(event.data) for event in events if isinstance(event, Output))


def _bursts(outputs: Sequence[Output]) -> int:
    """Count groups of writes less than 4 ms apart, which are frames even if not marked as such."""
    return sum(late.at_s - early.at_s > 0.004 for early, late in pairwise(outputs)) + 1


def _median(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return median(numbers) if len(numbers) * 2 > len(values) else None


def _percentile(values: Sequence[float], percent: int) -> float | None:
    """Return a percentile by the nearest-rank method; None without values."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]
