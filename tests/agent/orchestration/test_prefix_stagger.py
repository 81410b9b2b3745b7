"""Agents that begin alike: the first one's answer opens the way for the others."""

from __future__ import annotations

import asyncio

from agent.orchestration.run.prefix_stagger import STAGGER_S, WARM_S, PrefixStagger
from tests.soak.virtual_time import VirtualLoop, run_virtually


def test_others_wait_for_the_first_and_other_kinds_do_not() -> None:
    async def main(_loop: VirtualLoop) -> None:
        stagger = PrefixStagger()
        begun = await stagger.wait("kind")
        other = asyncio.ensure_future(stagger.wait("kind"))
        await stagger.wait("another kind")
        await asyncio.sleep(0)
        assert not other.done()
        begun()
        await other
        third = asyncio.ensure_future(stagger.wait("kind"))
        await asyncio.sleep(0)
        assert third.done()

    run_virtually(main)


def test_a_first_one_that_never_begins_holds_the_others_once() -> None:
    async def main(loop: VirtualLoop) -> None:
        stagger = PrefixStagger()
        await stagger.wait("kind")
        start = loop.time()
        await stagger.wait("kind")
        assert loop.time() - start >= STAGGER_S == 5.0
        third = asyncio.ensure_future(stagger.wait("kind"))
        await asyncio.sleep(0)
        assert third.done()

    run_virtually(main)


def test_a_cache_that_is_cold_again_has_a_first_one_again() -> None:
    now = [0.0]

    async def main(_loop: VirtualLoop) -> None:
        stagger = PrefixStagger(lambda: now[0])
        (await stagger.wait("kind"))()
        now[0] = WARM_S + 1
        again = await stagger.wait("kind")
        other = asyncio.ensure_future(stagger.wait("kind"))
        await asyncio.sleep(0)
        assert not other.done()
        again()
        await other

    run_virtually(main)
