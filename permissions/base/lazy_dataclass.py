"""Dataclasses whose methods are made when they are first used.

The standard library writes and compiles up to six methods for every dataclass while its module is
imported. Some four hundred classes stand between a start and the first request, and most of them
have no instance on the way: a class gets its `__init__` here with its first instance, and the
other methods are shared. They compare, hash, print, match and `replace` as any dataclass does.
There is no `InitVar`, no `__post_init__` and no order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as lazy_dataclass
else:
    from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
    from operator import attrgetter
    from reprlib import recursive_repr

    def lazy_dataclass(*, frozen=False, slots=False, kw_only=False, eq=True, unsafe_hash=False):
        """Return a decorator that takes what `dataclass` takes and does the same at less cost."""

        def decorate(cls):
            cls.__doc__ = cls.__doc__ or cls.__name__  # or else its signature is worked out
            made = dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
            methods = {"__init__": _first_init(made, frozen=frozen), "__repr__": _repr}
            if eq:
                methods |= _comparing(made, hashable=frozen or unsafe_hash)
            if frozen:
                methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
                methods |= {"__getstate__": _state, "__setstate__": _set_state}
            for name, method in methods.items():
                if name not in vars(cls):
                    setattr(made, name, method)
            return made

        return decorate

    def _first_init(cls, *, frozen):
        def __init__(self, *args, **named):
            cls.__init__ = _written_init(cls, frozen=frozen)
            cls.__init__(self, *args, **named)

        return __init__

    def _written_init(cls, *, frozen):
        known = {"MISSING": MISSING}
        positional, named, body = ["self"], [], []
        for each in fields(cls):
            name = value = parameter = each.name
            if each.default is not MISSING:
                known[f"default_{name}"] = each.default
                parameter = f"{name}=default_{name}"
            elif each.default_factory is not MISSING:
                known[f"make_{name}"] = each.default_factory
                parameter = f"{name}=MISSING"
                value = f"make_{name}() if {name} is MISSING else {name}"
            if each.init:
                (named if each.kw_only else positional).append(parameter)
            elif parameter == name:
                continue
            elif value == name:
                value = f"default_{name}"
            else:
                value = f"make_{name}()"
            if frozen:
                known[f"set_{name}"] = _setter(cls, name)
                body.append(f" set_{name}(self, {value})")
            else:
                body.append(f" self.{name} = {value}")
        signature = ", ".join([*positional, *(["*", *named] if named else ())])
        exec(f"def __init__({signature}):\n" + ("\n".join(body) or " pass"), known)
        made = known["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        return made

    def _setter(cls, name):
        slot = getattr(cls, name, None)
        if hasattr(slot, "__set__"):
            return slot.__set__
        return lambda self, value: object.__setattr__(self, name, value)

    def _comparing(cls, *, hashable):
        names = [each.name for each in fields(cls) if each.compare]
        get = attrgetter(*names) if names else lambda _: ()
        values = (lambda self: (get(self),)) if len(names) == 1 else get

        def __eq__(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            return values(self) == values(other)

        def __hash__(self):
            return hash(values(self))

        return {"__eq__": __eq__, "__hash__": __hash__ if hashable else None}

    @recursive_repr()
    def _repr(self):
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _refuse_to_set(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, each.name) for each in fields(self)]

    def _set_state(self, state):
        for each, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, each.name, value)


__all__ = ["lazy_dataclass"]
