"""Program records of programs that run containers, clusters and virtual machines."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, attached_values, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.program import CommandRunner, Program, Risk
from permissions.shell.syntax import HOME_MARK, PWD_MARK, Word

_GLOBAL = names("--context --host --log-level --config --kubeconfig --namespace --container --file")
_RUN_VALUED = "eplvwuhm"
_RUN_VALUED_LONG = names(
    "--name --env --env-file --publish --label --volume --mount --workdir --user --hostname "
    "--memory --cpus --network --platform --pull --restart --entrypoint --add-host --shm-size "
    "--expose --cidfile --stop-timeout"
)
_RUN_SWITCHES = names("-d -i -t -P -q -T --rm --init --detach --interactive --tty --read-only")
_BUILD_VALUED_LONG = names(
    "--tag --file --build-arg --target --platform --progress --label --secret --network "
    "--cache-from --shm-size"
)
_BUILD_SWITCHES = names("-q --no-cache --pull --quiet --rm --load")
_COMPOSE_VALUED_LONG = names("--file --project-name --env-file --profile --ansi --progress")
_ANY_WORDS = names(
    "ps images logs inspect version info top stats port diff events search history stop start "
    "restart kill rm rmi pause unpause wait tag pull push commit rename cp save export load import "
    "exec attach login logout"
)
"""Subcommands whose options neither run a program on this machine nor mount a directory."""
_GROUPED = names("ls list inspect prune rm df info tag pull push history logs stop start")
_COMPOSE = names(
    "up down logs ps exec build pull push start stop restart config images top kill rm events "
    "port pause unpause version ls"
)
_WRITES = {
    "save": names("-o --output"),
    "export": names("-o --output"),
    "build": names("-o --output --iidfile --metadata-file"),
    "run": names("--cidfile"),
    "create": names("--cidfile"),
}
_LOCAL = ("/", ".", "~", HOME_MARK, PWD_MARK)
_MOUNT = compile_late(
    r"(?:(?:type=(?:bind|volume|tmpfs)|(?:source|src|target|dst|destination)=[^,\"=]+|readonly|ro)"
    r"(?:,(?!$)|$))+"
)


def _subcommand(words: Sequence[Word]) -> tuple[Arguments, list[Word]]:
    """Return the options before the subcommand, and the words from the subcommand on."""
    arguments = split_arguments(
        words, value_letters="Hlcnfs", value_options=_GLOBAL, stops_at_operand=True
    )
    operands = list(arguments.operands)
    if operands and operands[0].text in ("container", "image", "builder"):
        operands = operands[1:]
    elif operands and operands[0].text == "compose":
        inner = split_arguments(
            operands[1:],
            value_letters="fp",
            value_options=_COMPOSE_VALUED_LONG,
            stops_at_operand=True,
        )
        operands = list(inner.operands)
    return arguments, operands


def _run_options(rest: Sequence[Word]) -> Arguments:
    return split_arguments(
        rest, value_letters=_RUN_VALUED, value_options=_RUN_VALUED_LONG, stops_at_operand=True
    )


def container(words: Sequence[Word]) -> list[Access]:
    """Return what is copied from or to a container, written, or mounted into one."""
    _, operands = _subcommand(words)
    if not operands:
        return []
    subcommand, rest = operands[0].text, operands[1:]
    if subcommand == "cp":
        return _copy_accesses(
            split_arguments(rest, value_letters="cn", value_options=_GLOBAL).operands
        )
    result = each(AccessKind.WRITE, attached_values(rest, _WRITES.get(subcommand, frozenset())))
    if subcommand in ("run", "create"):
        options = _run_options(rest)
        for value in options.values("-v", "--volume"):
            result.extend(_volume_accesses(value))
        for value in options.values("--mount"):
            result.extend(_mount_accesses(value))
    return result


def _copy_accesses(operands: Sequence[Word]) -> list[Access]:
    def is_local(word: Word) -> bool:
        return ":" not in word.text.partition("/")[0] and word.text != "-"

    return [
        *each(AccessKind.READ, [word for word in operands[:-1] if is_local(word)]),
        *each(AccessKind.WRITE, [word for word in operands[-1:] if is_local(word)]),
    ]


def _volume_accesses(value: Word) -> list[Access]:
    """Read `source:target[:options]`; a source without a slash is a volume's name."""
    pieces = value.text.split(":")
    if len(pieces) < 2 or not (pieces[0].startswith(_LOCAL) or not value.is_literal):
        return []
    is_read = len(pieces) > 2 and "ro" in pieces[2].split(",")
    return [_access(value, pieces[0], is_read=is_read)]


def _mount_accesses(value: Word) -> list[Access]:
    """Read `type=bind,source=…,target=…[,readonly]`."""
    fields = dict(field.partition("=")[::2] for field in value.text.lower().split(","))
    source = fields.get("source", fields.get("src", ""))
    if not source or fields.get("type", "volume") != "bind":
        return []
    is_read = any(fields.get(name, "no") in ("", "true", "1") for name in ("readonly", "ro"))
    start = value.text.lower().index(source)
    return [_access(value, value.text[start : start + len(source)], is_read=is_read)]


def _access(value: Word, source: str, *, is_read: bool) -> Access:
    kind = AccessKind.READ if is_read else AccessKind.MOUNTED
    return Access(kind, Word(value.raw, source, value.splits))


def container_risk(program: str, words: Sequence[Word]) -> str:
    """Return why a wildcard does not cover it: access to the daemon allows anything."""
    arguments, operands = _subcommand(words)
    if not operands:
        return ""
    subcommand, rest = operands[0].text, operands[1:]
    words_before = words[: len(words) - len(arguments.operands)]
    first = arguments.operands[0].text
    is_known = not words_before and _is_known(first, subcommand, rest, arguments.operands)
    return "" if is_known else f"not all of these words of {program} are understood"


def _is_known(first: str, subcommand: str, rest: Sequence[Word], words: Sequence[Word]) -> bool:
    if first == "compose":
        files = attached_values(words[1 : len(words) - len(rest) - 1], names("-f --file"))
        is_known = subcommand in _COMPOSE and all(map(_is_file, files))
    elif first in ("volume", "network", "system"):
        return len(words) > 1 and words[1].text in _GROUPED
    elif subcommand == "build":
        arguments = split_arguments(rest, value_letters="tf", value_options=_BUILD_VALUED_LONG)
        return _has_only(arguments, "tf", _BUILD_VALUED_LONG | _BUILD_SWITCHES)
    else:
        is_known = subcommand in (_ANY_WORDS if first == subcommand else _ANY_WORDS | _GROUPED)
    return is_known or _is_known_run(subcommand, rest)


def _is_file(word: Word) -> bool:
    return word.is_literal and not word.text.startswith(("-", "/dev/", "/proc/"))


def _is_known_run(subcommand: str, rest: Sequence[Word]) -> bool:
    arguments = _run_options(rest)
    return (
        subcommand in ("run", "create")
        and _has_only(arguments, _RUN_VALUED, _RUN_VALUED_LONG | _RUN_SWITCHES)
        and all(_MOUNT.fullmatch(value.text) for value in arguments.values("--mount"))
    )


def _has_only(arguments: Arguments, value_letters: str, option_names: frozenset[str]) -> bool:
    return not arguments.injectable and all(
        option.name in option_names or (option.name[1:] in value_letters and len(option.name) == 2)
        for option in arguments.options
    )


_IN_CONTAINER = CommandRunner("exec run", value_letters="pceuwvnhl", skip=1, is_elsewhere=True)
_CLUSTER_RISK = Risk(long="--kubeconfig --as --server --token", takes_unknown=True)

PROGRAMS = (
    Program("docker", accesses=container, risk_check=container_risk, shows_version=True,
        runner=_IN_CONTAINER, global_valued="Hlc", network="login pull push", exact_only=True),
    Program("podman", accesses=container, risk_check=container_risk, runner=_IN_CONTAINER,
        global_valued="", exact_only=True),
    Program("kubectl", accesses=container, risk=_CLUSTER_RISK,
        runner=CommandRunner("exec", value_letters="pceuwvnhl", skip=1, is_elsewhere=True),
        global_valued="nsv", network="*", has_subcommands=True, exact_subcommands="apply cp create "
        "delete drain edit exec patch replace rollout scale"),
    Program("docker-compose", runner=_IN_CONTAINER, builds=True),
    Program("oc", risk=_CLUSTER_RISK),
    Program("helm", risk=Risk(long="--post-renderer --kubeconfig", takes_unknown=True),
        global_valued="n", network="*", has_subcommands=True, exact_subcommands="delete install "
        "rollback uninstall upgrade"),
    Program("terraform", global_valued="", builds=True, network="*", has_subcommands=True,
        exact_subcommands="apply destroy"),
    Program("tofu", builds=True),
)  # fmt: skip
