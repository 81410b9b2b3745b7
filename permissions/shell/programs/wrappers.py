"""Program records of programs that run the rest of their words as a command."""

from __future__ import annotations

from permissions.shell.program import CommandRunner, Program, Risk, Wrapper
from permissions.shell.programs.common_arguments import writes
from permissions.shell.programs.shell_builtins import environment

PROGRAMS = (
    Program("asdf aws-vault chamber", runner=CommandRunner("exec", skip=1)),
    Program("busybox", wrapper=Wrapper(), exact_only=True),
    Program("caffeinate", wrapper=Wrapper("tw")),
    Program("catchsegv chronic entr ifne prlimit systemd-inhibit torify toybox unbuffer "
        "valgrind",
        wrapper=Wrapper()),
    Program("chroot", wrapper=Wrapper(value_options="--groups --userspec", operands=1,
        loses_directory=True)),
    Program("chrt", wrapper=Wrapper("TPD", operands=1)),
    Program("cpulimit", wrapper=Wrapper("lpe")),
    Program("dbus-run-session", wrapper=Wrapper(value_options="--config-file --dbus-daemon")),
    Program("devbox", runner=CommandRunner("run"), exact_only=True),
    Program("direnv", runner=CommandRunner("exec", skip=1), exact_only=True),
    Program("doas", wrapper=Wrapper("uC"), is_root=True, exact_only=True),
    Program("doppler dotenvx infisical op", runner=CommandRunner("run")),
    Program("dumb-init", wrapper=Wrapper("r")),
    Program("env", accesses=environment, risk=Risk("S", "--split-string", value_letters="uC"),
        wrapper=Wrapper("uCS", "--chdir --split-string --unset", assignments=True, moving="-C "
        "--chdir"), exact_only=True),
    Program("fakechroot", wrapper=Wrapper("lsdc")),
    Program("fakeroot", wrapper=Wrapper("lfsib")),
    Program("firejail", wrapper=Wrapper(losing="--chroot --overlay --private")),
    Program("flock", runs_anything=True, wrapper=Wrapper("wEc", "--command --conflict-exit-code "
        "--timeout", operands=1), exact_only=True),
    Program("gosu s6-setuidgid setarch setuidgid su-exec taskset", wrapper=Wrapper(operands=1)),
    Program("ionice", runs_anything=True, wrapper=Wrapper("cnpPu", "--class --classdata --pid"),
        exact_only=True),
    Program("ltrace", wrapper=Wrapper("eopsuaAlnSxF")),
    Program("mise", runner=CommandRunner("exec x"), exact_only=True),
    Program("nice", wrapper=Wrapper("n", "--adjustment", is_open_to_allow=True)),
    Program("nohup", wrapper=Wrapper(is_open_to_allow=True), exact_only=True),
    Program("nsenter", wrapper=Wrapper("tSG", losing="-W -a --all -m --mount -r --root -w --wd "
        "--wdns")),
    Program("numactl", wrapper=Wrapper("imNCpP")),
    Program("parallel",
        wrapper=Wrapper("jISNndEaL", "--arg-file --jobs --max-args", supplies=True)),
    Program("perf", wrapper=Wrapper("eCpto", operands=1)),
    Program("pkexec", wrapper=Wrapper(value_options="--user"), is_root=True),
    Program("proot", wrapper=Wrapper("rbwqkim", moving="-w", losing="-R -S -b -r")),
    Program("proxychains proxychains4", wrapper=Wrapper("f")),
    Program("rlwrap", wrapper=Wrapper("aAbCDfFgHlmMOpPqsStwz")),
    Program("rtx", runner=CommandRunner("exec")),
    Program("runuser", wrapper=Wrapper("ucgGs", "--command --group --shell --user"), is_root=True),
    Program("screen", wrapper=Wrapper("cehpSsTt"), exact_only=True),
    Program("script", accesses=writes("cEIOBTtm"), wrapper=Wrapper("cEIOBTtm", "--command --log-in "
        "--log-io --log-out"), exact_only=True),
    Program("setpriv", wrapper=Wrapper(value_options="--bounding-set --groups --inh-caps --regid "
        "--reuid")),
    Program("setsid", runs_anything=True, wrapper=Wrapper(), exact_only=True),
    Program("sg", wrapper=Wrapper("c", operands=1)),
    Program("ssh-agent", wrapper=Wrapper("aEPOt")),
    Program("start-stop-daemon", wrapper=Wrapper("nxpucNIgkds", losing="--chdir --chroot -d -r")),
    Program("stdbuf", wrapper=Wrapper("ioe", "--error --input --output", is_open_to_allow=True)),
    Program("strace", risk=Risk("o", "--output", value_letters="eps"),
        wrapper=Wrapper("eopsuEaObIPSX")),
    Program("sudo", wrapper=Wrapper("ughpCDrtTUR", "--chdir --chroot --close-from --group --host "
        "--prompt --role --type --user", assignments=True, moving="-D --chdir", losing="-R "
        "--chroot -i --login"), is_root=True, exact_only=True),
    Program("systemd-cat", wrapper=Wrapper("tp")),
    Program("systemd-run", wrapper=Wrapper("puMHEt", "--gid --property --slice --uid --unit "
        "--working-directory", loses_directory=True)),
    Program("timeout", wrapper=Wrapper("ks", "--kill-after --signal", operands=1,
        is_open_to_allow=True), exact_only=True),
    Program("tini", wrapper=Wrapper("pe")),
    Program("torsocks", wrapper=Wrapper("aPup")),
    Program("unshare", wrapper=Wrapper("RSGw", moving="-w --wd", losing="-R --root")),
    Program("watch", runs_anything=True, wrapper=Wrapper("nq", "--equexit --interval"),
        exact_only=True),
    Program("xargs", wrapper=Wrapper("InPLdEsa", "--arg-file  --delimiter --eof --max-args "
        "--max-chars --max-lines --max-procs --replace", supplies=True), exact_only=True),
    Program("xvfb-run", wrapper=Wrapper("efnpsw")),
)  # fmt: skip
