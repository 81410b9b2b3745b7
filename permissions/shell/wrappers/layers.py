"""A command as each of the programs around it would run it."""

from __future__ import annotations

from shlex import quote

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.syntax import Word


class Layer(Struct, frozen=True):
    """A command as one of the programs around it would run it; the first is the whole command."""

    words: tuple[Word, ...]
    is_open_to_allow: bool
    """May an allow rule match here?"""
    assignments: tuple[str, ...] = ()
    """Names that wrappers (`env A=1`) set on the way here."""
    directory: str = ""
    """Where it runs, as in `env -C`: from the shell's directory, "" for that one itself."""
    is_elsewhere: bool = False
    """Runs on another machine or in a container: its paths are not paths here."""
    program: str = ""
    """Base name of its program, worked out from the words; "" without any."""

    def __post_init__(self) -> None:
        """Name the program."""
        force_setattr(self, "program", program_of(self.words[0]) if self.words else "")


def program_of(word: Word) -> str:
    """Return the base name of a program; a path is looked through."""
    return word.plain.rpartition("/")[2]


def in_directory(text: str, directory: str) -> str:
    """Return the text as the shell would have to run it to be in `folder`, as `Layer` has it."""
    if not directory:
        return text
    place = '"${_}"' if UNKNOWN in directory else quote(directory)
    return f"cd {place} && {{\n{text}\n}}"


def inner_layers(layer: Layer, words: tuple[Word, ...]) -> list[Layer]:
    """Return the layer inside another one, as a list of one; no allow rule matches there."""
    return [replace(layer, words=words, is_open_to_allow=False)]
