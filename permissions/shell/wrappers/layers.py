"""Layers: a command as each of its wrapper programs would run it."""

from __future__ import annotations

from shlex import quote

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.syntax import Word


class Layer(Struct, frozen=True):
    """A command as one of its wrappers would run it; the first layer is the whole command."""

    words: tuple[Word, ...]
    is_open_to_allow: bool
    """Whether an allow rule may match here."""
    assignments: tuple[str, ...] = ()
    """Names of variables that the wrappers around it (`env A=1`) set."""
    directory: str = ""
    """The directory it runs in (`env -C`), relative to the shell's; "" for the shell's own."""
    is_elsewhere: bool = False
    """Whether it runs on another machine or in a container: its paths are not local paths."""
    program: str = ""
    """Base name of its program, derived from the words; "" if there is none."""

    def __post_init__(self) -> None:
        """Set the program's name."""
        force_setattr(self, "program", program_of(self.words[0]) if self.words else "")


def program_of(word: Word) -> str:
    """Return the base name of a program, without a path."""
    return word.plain.rpartition("/")[2]


def in_directory(text: str, directory: str) -> str:
    """Return the text with a `cd` to `directory` (as in `Layer`) before it."""
    if not directory:
        return text
    place = '"${_}"' if UNKNOWN in directory else quote(directory)
    return f"cd {place} && {{\n{text}\n}}"


def inner_layers(layer: Layer, words: tuple[Word, ...]) -> list[Layer]:
    """Return the layer inside another one, as a list of one element; no allow rule matches it."""
    return [replace(layer, words=words, is_open_to_allow=False)]
