"""What is known of other tools: documents, pictures, keys, mail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from permissions.shell.access import Access, AccessKind, each
from permissions.shell.arguments import (
    split_arguments,
)
from permissions.shell.programs.common_arguments import (
    after_option,
    command_in,
    outputs,
)
from permissions.shell.programs.program import (
    Program,
    Rewrites,
    Risk,
)
from permissions.shell.programs.python_tools import CHECKING
from permissions.shell.syntax import (
    Word,
)


def converter(words: Sequence[Word]) -> list[Access]:
    """Return what a converter of pictures or films writes: its last operand, and maybe others."""
    operands = split_arguments(words, valued="i").operands
    paths = [word for word in operands[:-1] if "/" in word.text and word.is_literal]
    return each(AccessKind.WRITE, [*paths, *operands[-1:]])


def pandoc_risk(program: str, words: Sequence[Word]) -> str:
    """Return whether a script in Lua is among the words."""
    del program
    has_script = any(word.plain.endswith(".lua") for word in words)
    return "pandoc runs a script in Lua" if has_script else ""


def whole_words(words: Sequence[Word]) -> Iterator[str]:
    """Yield the command in every word."""
    for word in words:
        yield from command_in(word.text)


PROGRAMS = (
    Program("age iconv xmllint", output_files="-o --output", reads_operands=True),
    Program("ansible-vault basenc bc catdoc colrm cpp csvcut csvlook dasel dc dialog enscript glow "
        "highlight lolcat look lp lpr m4 mdcat mlr open ptx pygmentize sops tsort ul uuencode "
        "whiptail xdg-open", reads_operands=True),
    Program("convert magick", accesses=converter, reads_operands=True,
        risky_words=r"(?i)\||(?:msl|mvg|ephemeral):"),
    Program("dos2unix mogrify unix2dos", rewrites=Rewrites(stops=CHECKING)),
    Program("dot", accesses=outputs("-o"), risk=Risk("oO", valued="TKGNE")),
    Program("exiftool", output_files="-o"),
    Program("ffmpeg", accesses=converter, read_options="-i"),
    Program("fzf", risk=Risk(long="--bind --listen --listen-unsafe --preview --with-shell",
        valued="qfdn")),
    Program("gpg", accesses=outputs("-o --output"), output_files="--attribute-file --log-file "
        "--logger-file --status-file", read_options="--import --passphrase-file",
        reads_operands=True, risk=Risk("o", "--agent-program --exec-path --options --output "
        "--photo-viewer", valued="ru")),
    Program("gpg2", accesses=outputs("-o --output"), output_files="--attribute-file --log-file "
        "--logger-file --status-file", read_options="--import --passphrase-file",
        reads_operands=True),
    Program("hugo jekyll", output_directories="-d --destination --site-dir"),
    Program("hyperfine", output_files="--export-csv --export-json --export-markdown",
        command_words=whole_words),
    Program("inkscape screencapture sips wkhtmltopdf", output_files="--export-filename -o --out"),
    Program("mail mutt", read_options="-a", reads_operands=True),
    Program("minisign", output_files="-o --output"),
    Program("nix", commands=after_option("--args -c --command")),
    Program("nix-shell", command_options="--command --run"),
    Program("openssl", accesses=outputs("-out", clusters=False), output_files="-keyout -out "
        "-writerand", read_options="-CAfile -certfile -in -inkey -passin", reads_operands=True,
        risk=Risk(long="-config -engine -keyout -out -provider -writerand", single_dash=True)),
    Program("pandoc", accesses=outputs("-o --output"), output_files="--log",
        output_directories="--extract-media", read_options="-A -B -H --include-after-body "
        "--include-before-body --include-in-header --metadata-file", reads_operands=True,
        risk=Risk("oFd", "--defaults --filter --lua-filter --output --pdf-engine",
        valued="frtwVMTHBAcm"), risk_check=pandoc_risk),
    Program("pdftotext", output_operands={"": 1}, reads_operands=True),
    Program("phpunit", output_files="--coverage-clover --coverage-text --coverage-xml --log-junit"),
    Program("rspec", output_files="-o --out", checks_project=True),
    Program("rubocop", output_files="-o --out", rewrites=Rewrites(needs="-A -a --fix"),
        checks_project=True),
    Program("tmux", command_words=whole_words, exact_only=True),
)  # fmt: skip
