"""What is known of programs that work on other machines, and in clouds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.shell.access import Access
from permissions.shell.arguments import (
    split_arguments,
)
from permissions.shell.programs.common_arguments import (
    local_copy,
    outputs,
    settings_after,
)
from permissions.shell.programs.program import (
    Program,
    Risk,
    Wrapper,
)
from permissions.shell.syntax import (
    Word,
)


def remote_copy(words: Sequence[Word]) -> list[Access]:
    """Return the local files of scp."""
    return local_copy(split_arguments(words, valued="cDFiJloPSX"))


_SOCAT = re.compile(r"(?:EXEC|SYSTEM|SHELL):([^,]+)", re.IGNORECASE)


def addressed(words: Sequence[Word]) -> Iterator[str]:
    """Yield the commands in the addresses of socat."""
    for word in words:
        yield from _SOCAT.findall(word.text)


PROGRAMS = (
    Program("ssh", output_files="-E", read_options="-F -i", risk=Risk("oFEJI",
        valued="BbcDeiLlmOpQRSWw"), wrapper=Wrapper("BbcDEeFIiJLlmOoPpQRSWw", operands=1),
        command_options="-o", network="*", logs_in=True, exact_only=True),
    Program("mosh", network="*", logs_in=True),
    Program("telnet ftp lftp ping nslookup host", network="*"),
    Program("scp", accesses=remote_copy, read_options="-F -i", risk=Risk("oFSJD", valued="cilPX"),
        command_options="-o", network="*", logs_in=True),
    Program("sftp", output_operands={"": 1}, read_options="-F -i", risk=Risk("oFSbD",
        valued="BcilPRs"), command_options="-o", network="*", logs_in=True),
    Program("ssh-keygen", accesses=outputs("-f"), risk=Risk("D",
        valued="aAbCEFfGgIJKLlMmNnOPRrSsTtUVvWwYZz")),
    Program("ssh-add", risk=Risk("sS", valued="tE")),
    Program("nc ncat netcat", risk=Risk("ec", "--exec --lua-exec --sh-exec",
        valued="GgipqswxIiMmOoPTVWX"), command_options="-c -e --exec --sh-exec", network="*"),
    Program("socat", risky_words=r"(?i)(?:EXEC|SYSTEM|SHELL):", command_words=addressed,
        network="*"),
    Program("aws", output_operands={"s3 cp": -1, "s3 sync": -1, "s3 mv": -1, "lambda invoke": -1},
        reads_after={"s3 cp": 0, "s3 mv": 0, "s3 sync": 0},
        changes_settings=settings_after("~/.aws/config", "configure set"), network="*"),
    Program("gsutil", output_operands={"cp": -1, "rsync": -1, "mv": -1}, reads_after={"cp": 0,
        "mv": 0, "rsync": 0}),
    Program("gcloud", output_operands={"storage cp": -1, "storage rsync": -1},
        reads_after={"storage cp": 0, "storage rsync": 0, "compute scp": 0},
        changes_settings=settings_after("~/.config/gcloud/properties", "config set", "config "
        "unset"), network="*"),
    Program("rclone", output_operands={"copy": -1, "copyto": -1, "sync": -1, "move": -1,
        "moveto": -1}, reads_after={"copy": 0, "copyto": 0, "sync": 0, "move": 0, "cat": 0},
        network="*"),
    Program("az", read_options="-f --file", network="*"),
)  # fmt: skip
