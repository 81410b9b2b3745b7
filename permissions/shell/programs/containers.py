"""What is known of programs that run containers, clusters and machines."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, attached_values, each, names
from permissions.shell.arguments import (
    split_arguments,
)
from permissions.shell.program import (
    CommandRunner,
    Creates,
    Program,
    Risk,
)
from permissions.shell.syntax import (
    HOME_MARK,
    PWD_MARK,
    Word,
)

_GLOBAL = names("--context --host --log-level --config --kubeconfig --namespace --container --file")


_STARTS = names("run create")


_WRITES = {
    "save": names("-o --output"),
    "export": names("-o --output"),
    "build": names("-o --output --iidfile --metadata-file"),
    "run": names("--cidfile"),
    "create": names("--cidfile"),
}


_LOCAL = ("/", ".", "~", HOME_MARK, PWD_MARK)


def container(words: Sequence[Word]) -> list[Access]:
    """Return what is copied from or to a container, written, or mounted into one."""
    found = split_arguments(words, valued="Hlcnfs", valued_long=_GLOBAL, stops_at_operand=True)
    operands = found.operands
    if operands and operands[0].text in ("container", "image", "builder", "buildx", "compose"):
        inner = split_arguments(operands[1:], valued="fp", stops_at_operand=True)
        operands = inner.operands
    if not operands:
        return []
    subcommand, rest = operands[0].text, operands[1:]
    if subcommand == "cp":
        return _copied(split_arguments(rest, valued="cn", valued_long=_GLOBAL).operands)
    result = each(AccessKind.WRITE, attached_values(rest, _WRITES.get(subcommand, frozenset())))
    if subcommand in _STARTS:
        for value in attached_values(rest, names("-v --volume")):
            result.extend(_lent(value))
        for value in attached_values(rest, names("--mount")):
            result.extend(_mounted(value))
    return result


def _copied(operands: Sequence[Word]) -> list[Access]:
    def is_local(word: Word) -> bool:
        return ":" not in word.text.partition("/")[0] and word.text != "-"

    return [
        *each(AccessKind.READ, [word for word in operands[:-1] if is_local(word)]),
        *each(AccessKind.WRITE, [word for word in operands[-1:] if is_local(word)]),
    ]


def _lent(value: Word) -> list[Access]:
    """Read `source:place[:options]`; a source without a slash is a volume's name."""
    pieces = value.text.split(":")
    if len(pieces) < 2 or not (pieces[0].startswith(_LOCAL) or not value.is_literal):
        return []
    is_read = len(pieces) > 2 and "ro" in pieces[2].split(",")
    return [_access(value, pieces[0], is_read=is_read)]


def _mounted(value: Word) -> list[Access]:
    """Read `type=bind,source=…,target=…[,readonly]`."""
    fields = dict(field.partition("=")[::2] for field in value.text.split(","))
    source = fields.get("source", fields.get("src", ""))
    if not source or fields.get("type", "volume") != "bind":
        return []
    is_read = any(fields.get(name, "no") in ("", "true", "1") for name in ("readonly", "ro"))
    return [_access(value, source, is_read=is_read)]


def _access(value: Word, source: str, *, is_read: bool) -> Access:
    kind = AccessKind.READ if is_read else AccessKind.LENT
    return Access(kind, Word(value.raw, source, value.splits))


def creates_container(words: Sequence[str]) -> Creates | None:
    return Creates.COPY if "cp" in words[:2] else None


PROGRAMS = (
    Program("docker", accesses=container, read_options="--env-file -f --file --secret",
        risk=Risk(long="--privileged", takes_unknown=True),
        risky_words=r"--(?:pid|ipc|userns|uts)=host", shows_version=True, creates=creates_container,
        runner=CommandRunner("exec run", valued="pceuwvnhl", skip=1, is_elsewhere=True),
        global_valued="Hlc", network="login pull push", exact_only=True),
    Program("podman", accesses=container, read_options="--env-file -f --file --secret",
        risk=Risk(long="--privileged", takes_unknown=True),
        risky_words=r"--(?:pid|ipc|userns|uts)=host", creates=creates_container,
        runner=CommandRunner("exec run", valued="pceuwvnhl", skip=1, is_elsewhere=True),
        global_valued="", exact_only=True),
    Program("kubectl", accesses=container, output_directories="--cache-dir --output-directory",
        read_options="-f --filename --from-env-file --from-file --kubeconfig",
        creates=creates_container, runner=CommandRunner("exec", valued="pceuwvnhl", skip=1,
        is_elsewhere=True), global_valued="nsv", network="*", has_subcommands=True,
        exact_subcommands="apply cp create delete drain edit exec patch replace rollout scale"),
    Program("docker-compose", read_options="--env-file -f --file", runner=CommandRunner("exec run",
        valued="pceuwvnhl", skip=1, is_elsewhere=True), builds=True),
    Program("oc", read_options="-f --filename --from-env-file --from-file --kubeconfig"),
    Program("helm", output_directories="-d --destination --output-dir --untardir",
        read_options="-f --set-file --values", risk=Risk(long="--post-renderer",
        takes_unknown=True), global_valued="n", network="*", has_subcommands=True,
        exact_subcommands="delete install rollback uninstall upgrade"),
    Program("terraform", output_files="-out -state-out", output_directories="-chdir",
        read_options="-var-file", global_valued="", builds=True, network="*", has_subcommands=True,
        exact_subcommands="apply destroy"),
    Program("tofu", output_files="-out -state-out", output_directories="-chdir",
        read_options="-var-file", builds=True),
    Program("ansible ansible-playbook", read_options="-i --inventory --vault-password-file"),
)  # fmt: skip
