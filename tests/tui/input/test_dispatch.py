"""Capture, then bubble, and nothing after a claim."""

from __future__ import annotations

import gc
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events

from tests.tui.input.listeners import listener_count
from tui.input.dispatch import Handler, InputRouter
from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind


class Node:
    """Somewhere in a tree."""


class Planned(NamedTuple):
    """One listener of a random case."""

    depth: int
    phase: Phase
    claims: bool


def _key(key: str, path: list[Node]) -> RoutedEvent:
    return RoutedEvent(events.Key(key, None), EventKind.KEY, path)


PLANS = st.lists(
    st.builds(Planned, st.integers(0, 4), st.sampled_from(Phase), st.booleans()), max_size=12
)


@given(st.integers(1, 5), PLANS)
def test_capture_then_bubble_and_nothing_after_a_claim(depth: int, plans: list[Planned]) -> None:
    path = [Node() for _ in range(depth)]
    router = InputRouter()
    heard: list[tuple[Phase, int, int]] = []
    for order, plan in enumerate(plans):
        if plan.depth >= depth:
            continue

        def handler(event: RoutedEvent, plan: Planned = plan, order: int = order) -> None:
            assert event.phase is plan.phase
            heard.append((plan.phase, plan.depth, order))
            if plan.claims:
                event.stop_immediate_propagation()

        router.listen(path[plan.depth], plan.phase, handler)
    claimed = router.dispatch(_key("a", path))

    placed = [(plan, order) for order, plan in enumerate(plans) if plan.depth < depth]
    down = sorted(
        (item for item in placed if item[0].phase is Phase.CAPTURE),
        key=lambda item: (item[0].depth, item[1]),
    )
    up = sorted(
        (item for item in placed if item[0].phase is Phase.BUBBLE),
        key=lambda item: (-item[0].depth, item[1]),
    )
    expected: list[tuple[Phase, int, int]] = []
    for plan, order in [*down, *up]:
        expected.append((plan.phase, plan.depth, order))
        if plan.claims:
            break
    assert heard == expected
    assert claimed == any(plan.claims for plan, _ in placed)


def test_a_reserved_key_is_the_roots_before_anybodys() -> None:
    root, target = Node(), Node()
    router = InputRouter()
    heard: list[str] = []

    def claiming(name: str) -> Handler:
        def handler(event: RoutedEvent) -> None:
            heard.append(name)
            event.claim()

        return handler

    router.listen(root, Phase.CAPTURE, claiming("capture"))
    router.reserve("ctrl+c", claiming("reserved"))
    assert router.dispatch(_key("ctrl+c", [root, target]))
    assert heard == ["reserved"]


def test_only_the_two_reserved_keys_can_be_reserved() -> None:
    with pytest.raises(ValueError, match=r"ctrl\+x is not reserved"):
        InputRouter().reserve("ctrl+x", lambda event: None)


def test_a_listener_receives_only_the_kinds_it_asked_for() -> None:
    node = Node()
    router = InputRouter()
    heard: list[EventKind] = []
    router.listen(node, Phase.BUBBLE, lambda event: heard.append(event.kind), {EventKind.PASTE})
    router.dispatch(_key("a", [node]))
    router.dispatch(RoutedEvent(events.Paste("x"), EventKind.PASTE, [node]))
    assert heard == [EventKind.PASTE]
    assert router.has_listener(EventKind.PASTE)
    assert not router.has_listener(EventKind.KEY)


def test_a_released_listener_is_silent() -> None:
    node = Node()
    router = InputRouter()
    heard: list[str] = []
    release = router.listen(node, Phase.BUBBLE, lambda event: heard.append(event.key))
    release()
    release()
    assert not router.dispatch(_key("a", [node]))
    assert (heard, listener_count(router)) == ([], 0)


def test_a_node_that_dies_takes_its_listeners_along() -> None:
    class Talkative(Node):
        def on_key(self, event: RoutedEvent) -> None:
            event.claim()

    router = InputRouter()
    node = Talkative()
    router.listen(node, Phase.BUBBLE, node.on_key)
    router.own_keyboard(node)
    del node
    gc.collect()
    assert listener_count(router) == 0
    assert router.keyboard_owner is None


def test_the_newest_owner_of_the_keyboard_counts() -> None:
    router = InputRouter()
    first, second = Node(), Node()
    router.own_keyboard(first)
    release = router.own_keyboard(second)
    newest = router.keyboard_owner
    release()
    assert (newest, router.keyboard_owner) == (second, first)
