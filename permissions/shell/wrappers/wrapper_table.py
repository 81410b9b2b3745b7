"""Programs that run other programs: how each takes the command, as tables."""

from __future__ import annotations

from msgspec import Struct


class Wrapper(Struct, frozen=True):
    """How a program takes the command that it runs."""

    valued: str = ""
    """Letters of its own options that take a value."""
    valued_long: frozenset[str] = frozenset()
    operands: int = 0
    """Operands of its own before the command."""
    is_open_to_allow: bool = False
    assignments: bool = False
    """Takes `NAME=value` before the command."""
    moving: frozenset[str] = frozenset()
    """Options whose value is the folder it runs in."""
    losing: frozenset[str] = frozenset()
    """Options after which the folder is not known: another root, a login."""
    loses_folder: bool = False
    supplies: bool = False
    """Appends operands from its input."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUDO = Wrapper(
    "ughpCDrtTUR",
    _set("--user --group --host --prompt --close-from --chdir --role --type --chroot"),
    assignments=True,
    moving=_set("-D --chdir"),
    losing=_set("-R --chroot -i --login"),
)
WRAPPERS = {
    "timeout": Wrapper("ks", _set("--kill-after --signal"), 1, True),
    "time": Wrapper("fo", _set("--format --output"), 0, True, assignments=True),
    "nice": Wrapper("n", _set("--adjustment"), 0, True),
    "nohup": Wrapper(is_open_to_allow=True),
    "stdbuf": Wrapper("ioe", _set("--input --output --error"), 0, True),
    "command": Wrapper(is_open_to_allow=True),
    "builtin": Wrapper(is_open_to_allow=True),
    "noglob": Wrapper(is_open_to_allow=True),
    "nocorrect": Wrapper(),
    "coproc": Wrapper(assignments=True),
    "exec": Wrapper("a"),
    "sudo": _SUDO,
    "doas": Wrapper("uC"),
    "env": Wrapper(
        "uCS",
        _set("--unset --chdir --split-string"),
        assignments=True,
        moving=_set("-C --chdir"),
    ),
    "setsid": Wrapper(),
    "ionice": Wrapper("cnpPu", _set("--class --classdata --pid")),
    "flock": Wrapper("wEc", _set("--timeout --conflict-exit-code --command"), 1),
    "watch": Wrapper("nq", _set("--interval --equexit")),
    "chroot": Wrapper("", _set("--userspec --groups"), operands=1, loses_folder=True),
    "strace": Wrapper("eopsuEaObIPSX"),
    "ltrace": Wrapper("eopsuaAlnSxF"),
    "chrt": Wrapper("TPD", operands=1),
    "taskset": Wrapper(operands=1),
    "unshare": Wrapper("RSGw", moving=_set("-w --wd"), losing=_set("-R --root")),
    "nsenter": Wrapper("tSG", losing=_set("-w --wd --wdns -W -r --root -m --mount -a --all")),
    "systemd-run": Wrapper(
        "puMHEt",
        _set("--unit --property --uid --gid --slice --working-directory"),
        loses_folder=True,
    ),
    "setarch": Wrapper(operands=1),
    "caffeinate": Wrapper("tw"),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "ssh": Wrapper("BbcDEeFIiJLlmOoPpQRSWw", operands=1),
    "xargs": Wrapper(
        "InPLdEsa",
        _set(
            "--replace --max-args --max-procs --max-lines --delimiter --eof --max-chars --arg-file"
        ),
        supplies=True,
    ),
    "parallel": Wrapper("jISNndEaL", _set("--jobs --arg-file --max-args"), supplies=True),
    "script": Wrapper("cEIOBTtm", _set("--command --log-out --log-in --log-io")),
    "pkexec": Wrapper("", _set("--user")),
    "runuser": Wrapper("ucgGs", _set("--user --command --group --shell")),
    "gosu": Wrapper(operands=1),
    "su-exec": Wrapper(operands=1),
    "sg": Wrapper("c", operands=1),
    "unbuffer": Wrapper(),
    "xvfb-run": Wrapper("efnpsw"),
    "fakeroot": Wrapper("lfsib"),
    "fakechroot": Wrapper("lsdc"),
    "proot": Wrapper("rbwqkim", moving=_set("-w"), losing=_set("-r -R -S -b")),
    "firejail": Wrapper(losing=_set("--private --chroot --overlay")),
    "setpriv": Wrapper("", _set("--reuid --regid --groups --inh-caps --bounding-set")),
    "prlimit": Wrapper(),
    "numactl": Wrapper("imNCpP"),
    "dbus-run-session": Wrapper("", _set("--config-file --dbus-daemon")),
    "ssh-agent": Wrapper("aEPOt"),
    "start-stop-daemon": Wrapper("nxpucNIgkds", losing=_set("-d --chdir -r --chroot")),
    "tini": Wrapper("pe"),
    "dumb-init": Wrapper("r"),
    "torsocks": Wrapper("aPup"),
    "torify": Wrapper(),
    "proxychains": Wrapper("f"),
    "proxychains4": Wrapper("f"),
    "rlwrap": Wrapper("aAbCDfFgHlmMOpPqsStwz"),
    "valgrind": Wrapper(),
    "perf": Wrapper("eCpto", operands=1),
    "systemd-inhibit": Wrapper(),
    "systemd-cat": Wrapper("tp"),
    "entr": Wrapper(),
    "catchsegv": Wrapper(),
    "chronic": Wrapper(),
    "ifne": Wrapper(),
    "s6-setuidgid": Wrapper(operands=1),
    "setuidgid": Wrapper(operands=1),
    "screen": Wrapper("cehpSsTt"),
    "cross-env": Wrapper(assignments=True),
    "dotenv": Wrapper("ef"),
    "arch": Wrapper(),
    "cpulimit": Wrapper("lpe"),
    "npx": Wrapper("pc", _set("--package --call")),
    "bunx": Wrapper(),
    "pnpx": Wrapper(),
    "uvx": Wrapper("p", _set("--from --with --python")),
    "pipx": Wrapper(),
}
LOOKED_THROUGH = frozenset(name for name, one in WRAPPERS.items() if one.is_open_to_allow)
"""Wrappers behind which an allow rule for the program inside matches; `xargs` is one when bare."""
SHELLS = _set("sh bash zsh dash ksh mksh ash fish rbash su csh tcsh")
RUNNERS = {
    "npm": _set("exec x"),
    "pnpm": _set("exec dlx"),
    "yarn": _set("exec dlx"),
    "bun": _set("x"),
    "uv": _set("run"),
    "poetry": _set("run"),
    "pipenv": _set("run"),
    "hatch": _set("run"),
    "pdm": _set("run"),
    "pipx": _set("run"),
    "bundle": _set("exec"),
    "mise": _set("exec x"),
    "rtx": _set("exec"),
    "asdf": _set("exec"),
    "direnv": _set("exec"),
    "devbox": _set("run"),
    **dict.fromkeys(("conda", "mamba", "micromamba", "pixi", "rye"), _set("run")),
    **dict.fromkeys(("doppler", "op", "dotenvx", "infisical"), _set("run")),
    **dict.fromkeys(("aws-vault", "chamber"), _set("exec")),
    "docker-compose": _set("exec run"),
    "docker": _set("exec run"),
    "podman": _set("exec run"),
    "kubectl": _set("exec"),
}
