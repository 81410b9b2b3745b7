"""A command read from its text alone is what its syntax tree says it is."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from permissions.evaluate.cascade import decide
from permissions.request import PermissionRequest
from permissions.shell.parse.lexer import Lexer
from permissions.shell.parse.parse import parse
from permissions.shell.parse.plain_command import is_plain, plain_words, single_quotes
from permissions.shell.syntax import (
    AndOr,
    Branches,
    FunctionBody,
    Isolated,
    Node,
    Redirected,
    Sequence,
    Simple,
    Unparsable,
    Words,
)
from tests.examples import examples
from tests.permissions.engine import Engine

THOROUGH = settings(
    max_examples=examples(400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

RESERVED = (
    "if then elif else fi for while until do done case esac in select function { } ! [[ ]] [ ] "
    "time coproc"
)
WORDS = st.sampled_from(
    [
        *RESERVED.split(),
        "ls", "-l", "--", "-", "rm", "-rf", "src", "../x", "/etc/passwd", "a.b", "a:b", "a@b", "%s",
        "+x", "1", "2", "0", "16", "--flag=value", "-n5", "x=1", "A=b", "=", "==", "a=b=c", "cd",
        "sub", "sudo", "env", "xargs", "sh", "-c", "eval", "exec", "source", ".", "export", "read",
        "declare", "trap", "command", "'a b'", '"a b"', "''", '""', "'a;b'", '"a|b"', "'#'", '"#"',
        "a'b'c", 'a"b"c', "--m='x y'", '--m="x y"', "'x'=1", '"it\'s"', "'say \"x\"'", "'\n'",
        "'é'", '"ü"', "'if'", '"rm"', "é", "…", "\u202e", "\u00a0", "a\\ b", "\\rm", "$x", "$HOME",
        "$(ls)", "`id`", '"$x"', '"`id`"', '"\\x"', "*.py", "?", "[ab]", "{a,b}", "~", "~/x", "#",
        "#c", "a#b", "!x", "^", "a,b", "(", ")", "((", "))", ">", "<", ">x", "2>&1", "2>x", "0<x",
        "0>x", "<<E", "<<<x", "&>x", "case",
        "tool1", "git", "commit", "-am", "\"fix: it\"", "status",
    ]
)  # fmt: skip
JOINTS = st.sampled_from(["&&", "||", ";", "|", "&", "|&", "\n", ";;", "!"])
COMMANDS = st.lists(st.one_of(WORDS, WORDS, WORDS, JOINTS), min_size=1, max_size=10)
TEXTS = st.lists(
    st.sampled_from([*"abz019_-./:@%+='\" \"'\"'=;|&#!~*{}$\\\n\té", "if", " -", " a", "\u202e"]),
    max_size=24,
).map("".join)


@THOROUGH
@given(COMMANDS)
@example(["time", "if"])
@example(["a", "A=b"])
@example(["cmd", "0", ">x"])
def test_a_plain_command_is_read_as_its_tree_is(tokens: list[str]) -> None:
    # A second blank between two words means nothing to the shell, but is not plain any more.
    quick, slow = parse(" ".join(tokens)), parse("  ".join(tokens))
    if isinstance(quick, Unparsable) or isinstance(slow, Unparsable):
        assert (type(quick), str(quick)) == (type(slow), str(slow)) or _odd(tokens)
        return
    assert quick.hides == slow.hides
    assert quick.taints_variables == slow.taints_variables
    assert [_shape(one) for one in _simples(quick.body)] == [
        _shape(one) for one in _simples(slow.body)
    ]
    assert not any(one.is_plain and len(one.words) > 1 for one in _simples(slow.body))


@THOROUGH
@given(COMMANDS)
def test_a_plain_command_is_judged_as_its_tree_is(engine: Engine, tokens: list[str]) -> None:
    context = engine.context(
        allow=["Bash(ls *)", "Bash(git *)", "Edit(src/**)"],
        ask=["Bash(git commit *)", "Bash(sudo *)"],
        deny=["Bash(rm *)", "Read(//etc/**)", "Bash(* | sh)"],
    )
    quick, slow = (
        decide(PermissionRequest("Bash", {"command": blank.join(tokens)}), context)
        for blank in (" ", "  ")
    )
    if not _odd(tokens):
        assert [(one.kind, one.behavior, one.reason) for one in quick.parts] == [
            (one.kind, one.behavior, one.reason) for one in slow.parts
        ]


@THOROUGH
@given(TEXTS)
def test_what_is_plain_has_nothing_in_it_for_the_shell(text: str) -> None:
    source = text.encode()
    if not is_plain(source, 0, len(source)):
        return
    marks = Lexer(source.decode("latin-1")).scan()
    assert (marks.operators, marks.comments, marks.expansions) == ([], set(), set())
    assert marks.quoted == set(single_quotes(source, 0, len(source)))
    assert " ".join(word.raw for word in plain_words(text)) == text


def _odd(tokens: list[str]) -> bool:
    """Does a second blank mean something: in a here-document, behind a continued line?"""
    return any("\n" in token or "<<" in token or "\\" in token for token in tokens)


def _shape(simple: Simple) -> tuple[object, ...]:
    return (
        simple.words,
        tuple((one.name, one.value) for one in simple.assignments),
        tuple((one.kind, one.target) for one in simple.redirects),
    )


def _simples(node: Node) -> Iterator[Simple]:
    match node:
        case Simple():
            yield node
            for word in (*node.words, *(one.value for one in node.assignments)):
                for script in word.scripts:
                    yield from _simples(script.body)
        case Sequence() | Isolated():
            for item in node.items:
                yield from _simples(item)
        case AndOr():
            yield from _simples(node.left)
            yield from _simples(node.right)
        case Branches():
            for item in (*node.condition, *node.bodies):
                yield from _simples(item)
        case FunctionBody() | Redirected():
            yield from _simples(node.body)
        case Words():
            return
