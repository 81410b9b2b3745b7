"""A lazy dataclass is told from the standard one by nothing but what making it costs."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from permissions.base.lazy_dataclass import lazy_dataclass

FIELDS = st.lists(
    st.tuples(
        st.sampled_from(["bare", "default", "factory", "hidden", "uncompared", "unasked"]),
        st.booleans(),
    ),
    max_size=6,
)


def _made(decorate: Any, options: dict[str, bool], shape: list[tuple[str, bool]]) -> Any:
    """Return a class of this shape: a field each, of a kind, by keyword only or not."""
    namespace: dict[str, Any] = {"__annotations__": {}, "__module__": __name__}
    for number, (kind, keyword) in enumerate(shape):
        name = f"f{number}"
        namespace["__annotations__"][name] = "object"
        options_of: dict[str, dict[str, Any]] = {
            "bare": {},
            "default": {"default": number},
            "factory": {"default_factory": list},
            "hidden": {"default": number, "repr": False},
            "uncompared": {"default": number, "compare": False},
            "unasked": {"default_factory": dict, "init": False},
        }
        namespace[name] = field(kw_only=keyword, **options_of[kind])
    return decorate(**options)(type("Made", (), namespace))


@given(FIELDS, st.booleans(), st.booleans(), st.booleans(), st.data())
def test_it_does_what_the_standard_one_does(
    shape: list[tuple[str, bool]], frozen: bool, slots: bool, eq: bool, data: st.DataObject
) -> None:
    options = {"frozen": frozen, "slots": slots, "eq": eq}
    positional_kinds = [kind for kind, keyword in shape if not keyword and kind != "unasked"]
    assume(sorted(positional_kinds, key=lambda kind: kind != "bare") == positional_kinds)
    standard = _made(dataclass, options, shape)
    lazy = _made(lazy_dataclass, options, shape)
    assert lazy.__match_args__ == standard.__match_args__
    values = st.one_of(st.integers(0, 1), st.text(max_size=1))
    positional = data.draw(st.lists(values, max_size=3))
    named = data.draw(st.dictionaries(st.sampled_from([f"f{n}" for n in range(7)]), values))
    outcomes = [_outcome(each, positional, named) for each in (standard, lazy, lazy)]
    assert outcomes[1] == outcomes[0]
    assert outcomes[2] == outcomes[0]


def _outcome(made: Any, positional: list[Any], named: dict[str, Any]) -> Any:
    try:
        one, other = made(*positional, **named), made(*positional, **named)
    except TypeError as refused:
        return str(refused)
    seen: list[Any] = [repr(one), dataclasses.asdict(one), one == other, one == 1]
    seen.append(repr(copy.copy(one)))
    acts: list[Any] = [hash]
    if fields(made):
        acts += [lambda each: setattr(each, "f0", 2), lambda each: delattr(each, "f0")]
    for act in acts:
        try:
            done = act(one)
            seen.append(done if made.__eq__ is not object.__eq__ else None)
        except (TypeError, AttributeError) as error:
            seen.append((type(error), str(error)))
    return seen


@lazy_dataclass(frozen=True, slots=True)
class Base:
    a: int
    b: str = "b"


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class Sub(Base):
    c: tuple[int, ...] = ()


def test_a_class_inherits_from_another() -> None:
    made = Sub(1, c=(2,))
    assert (made.a, made.b, made.c) == (1, "b", (2,))
    assert made != Base(1)
    assert replace(made, b="x") == Sub(1, "x", c=(2,))
    assert [each.name for each in fields(Sub)] == ["a", "b", "c"]
    match made:
        case Sub(first, second):
            assert (first, second) == (1, "b")


def test_it_travels_and_stays_frozen() -> None:
    made = pickle.loads(pickle.dumps(Sub(1, c=(3,))))
    assert made == Sub(1, c=(3,))
    with pytest.raises(FrozenInstanceError):
        made.a = 2
    with pytest.raises(FrozenInstanceError):
        del made.a


def test_what_a_class_says_itself_stands() -> None:
    @lazy_dataclass(slots=True)
    class Own:
        """Its own text."""

        a: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

    assert repr(Own(1)) == "own"
    assert Own(1) == 7
    assert inspect.getdoc(Own) == "Its own text."
