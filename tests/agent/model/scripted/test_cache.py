"""The simulated prompt cache."""

from __future__ import annotations

from typing import Any

from agent.model.scripted.cache import LOOK_BACK_UNITS, CacheSimulation
from agent.model.scripted.prefix import chain_of

LONG = "word " * 600
MARK = {"type": "ephemeral"}


def body(*texts: str, system: str = LONG, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in texts]
    return {"model": "m", "system": system, "messages": messages, "cache_control": MARK, **fields}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def read(cache: CacheSimulation, asked: dict[str, Any]) -> tuple[int, int]:
    usage = cache.usage(asked, chain_of(asked))
    return usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]


def test_an_appended_history_is_read_and_only_the_new_part_written() -> None:
    cache = CacheSimulation(Clock(), min_tokens=512)
    first = read(cache, body("a"))
    second = read(cache, body("a", LONG))
    assert first[0] == 0
    assert second[0] == first[1] > 512
    assert second[1] > 512


def test_a_changed_prefix_is_read_no_more() -> None:
    cache = CacheSimulation(Clock(), min_tokens=512)
    read(cache, body("a"))
    assert read(cache, body("a", "b", system=LONG + "today"))[0] == 0


def test_another_model_has_its_own_cache() -> None:
    cache = CacheSimulation(Clock(), min_tokens=512)
    read(cache, body("a"))
    assert read(cache, body("a", model="other"))[0] == 0


def test_entries_expire() -> None:
    clock = Clock()
    cache = CacheSimulation(clock, min_tokens=512)
    read(cache, body("a"))
    clock.now = 301.0
    assert read(cache, body("a"))[0] == 0


def test_short_prompts_and_unmarked_ones_are_not_cached() -> None:
    cache = CacheSimulation(Clock(), min_tokens=512)
    assert read(cache, body("a", system="short")) == (0, 0)
    assert read(cache, body("a", cache_control=None)) == (0, 0)


def test_an_entry_too_far_back_is_missed() -> None:
    cache = CacheSimulation(Clock(), min_tokens=512)
    read(cache, body("a"))
    near = ["a", *"x" * LOOK_BACK_UNITS]
    assert read(cache, body(*near))[0] > 0
    far = CacheSimulation(Clock(), min_tokens=512)
    read(far, body("a"))
    assert read(far, body(*near, "x"))[0] == 0


def test_one_hour_writes_are_counted_apart() -> None:
    cache = CacheSimulation(Clock(), min_tokens=512)
    asked = body("a", cache_control={"type": "ephemeral", "ttl": "1h"})
    usage = cache.usage(asked, chain_of(asked))
    assert usage["cache_creation"]["ephemeral_1h_input_tokens"] > 512
    assert usage["cache_creation"]["ephemeral_5m_input_tokens"] == 0
