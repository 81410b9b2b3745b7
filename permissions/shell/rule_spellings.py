"""The spellings of a command that rules may match."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import names
from permissions.shell.arguments import split_arguments
from permissions.shell.command_pattern import WORD_END
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import PIPE_MARK, Simple, Word
from permissions.shell.wrappers.layers import Layer

EXPANDED = UNKNOWN + PIPE_MARK
"""Marks in a word for text that is expanded later."""


class Form(Struct, frozen=True):
    """One spelling of a command that rules may match."""

    head: str
    """Its program."""
    joined_text: str
    spaced_text: str
    must_name: str = ""
    """The required start of a matching wildcard: a wrapper's must name the inner program."""


def form_of(words: tuple[Word, ...], program: str | None = None) -> Form:
    """Return the spelling of these words, with `program` as the program's name if it is given."""
    texts = [word.plain for word in words]
    if program is not None:
        texts[0] = program
    return _join_form(texts)


def _join_form(texts: list[str]) -> Form:
    return Form(texts[0], WORD_END.join(texts), " ".join(texts))


def allow_forms(
    simple: Simple, layers: list[Layer], layer_forms: list[Form], unsafe: list[str]
) -> tuple[Form, ...]:
    """Return the spellings that allow rules match; `unsafe` are the variables that exclude
    wildcards."""
    forms: list[Form] = []
    if simple.assignments and all(item.value.is_literal for item in simple.assignments):
        forms.append(_with_assignments(simple, layers))
    if unsafe or not simple.words:
        return tuple(forms)
    forms.extend(_open_layers(layers, layer_forms))
    return tuple(forms)


def _with_assignments(simple: Simple, layers: list[Layer]) -> Form:
    """Return the form with the assignments, as a rule may have them."""
    if not simple.words:
        return _join_form([item.raw for item in simple.assignments])
    texts = [f"{item.name}={item.value.text}" for item in simple.assignments]
    return _join_form([*texts, *(word.plain for word in layers[0].words)])


def _open_layers(layers: list[Layer], layer_forms: list[Form]) -> Iterator[Form]:
    """Yield the forms of the layers up to the first one that no allow rule may match."""
    for index, layer in enumerate(layers):
        if not layer.is_open_to_allow or layer.assignments:
            break
        inner = layers[index + 1] if index + 1 < len(layers) else None
        is_wrapper = inner is not None and inner.is_open_to_allow
        must_name = _up_to(layer, inner.words[0]) if inner is not None and is_wrapper else ""
        form = layer_forms[index]
        yield replace(form, must_name=must_name) if must_name else form


def _up_to(outer: Layer, program: Word) -> str:
    """Return a wrapper's form up to the inner program."""
    words = outer.words
    length = next((i for i, word in enumerate(words) if word is program), len(words))
    return form_of(words[: length + 1]).joined_text


def deny_forms(simple: Simple, layers: list[Layer], layer_forms: list[Form]) -> tuple[Form, ...]:
    """Return the spellings that deny and ask rules match: every layer, with and without what
    surrounds it."""
    forms: list[Form] = []
    if simple.assignments:
        texts = [item.raw for item in simple.assignments]
        forms.append(_join_form([*texts, *(word.plain for word in simple.words)]))
    for layer, form in zip(layers, layer_forms, strict=True):
        words = layer.words
        forms.append(form)
        if not form.joined_text.isascii():
            forms.extend(_expanded_forms(words))
        program = layer.program
        if program != form.head:
            forms.append(form_of(words, program))
        commands = _without_global_options(program, words)
        forms.extend(form_of(one, program) for one in commands)
    distinct: dict[str, Form] = {}
    for one in forms:
        distinct.setdefault(one.joined_text, one)
    return tuple(distinct.values())


def _expanded_forms(words: tuple[Word, ...]) -> Iterator[Form]:
    """Yield the spellings for the possible values of unknown words."""
    present = tuple(word for word in words if not _may_vanish(word))
    if present and len(present) < len(words):
        # A rule about the bare command also matches it with an empty expansion after it.
        yield form_of(present)
    if any(word.guess for word in words):
        yield form_of(tuple(replace(word, text=word.guess or word.text) for word in words))


def _may_vanish(word: Word) -> bool:
    """Return whether the word consists only of an expansion that may be empty, or a
    substitution."""
    return not word.text.strip(EXPANDED) and bool(word.text) and (word.splits or bool(word.scripts))


_GLOBAL_LONG = names(
    """
    --git-dir --work-tree --namespace --config-env --exec-path --context --host --log-level
    --config --kubeconfig --prefix --workspace --filter --dir --cwd --repo --color
    --manifest-path --target-dir --user --server --token --userconfig --registry --project
    """
)


def _without_global_options(program: str, words: tuple[Word, ...]) -> list[tuple[Word, ...]]:
    """Return the command without the options before its first operand, in both interpretations."""
    if len(words) < 2 or not words[1].plain.startswith(("-", "+")):
        return []
    commands: list[tuple[Word, ...]] = []
    value_letters = program_named(program).global_valued
    rest = words[1:]
    while rest and rest[0].plain.startswith("+"):
        rest = rest[1:]
    arguments = split_arguments(
        rest, value_letters=value_letters or "", value_options=_GLOBAL_LONG, stops_at_operand=True
    )
    commands.append((words[0], *arguments.operands))
    if value_letters is None and len(arguments.operands) > 1:
        # Any of these options may have taken the first operand as its value.
        commands.append((words[0], *arguments.operands[1:]))
    return commands
