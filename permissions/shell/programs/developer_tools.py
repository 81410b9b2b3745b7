"""Where developers' tools write: formatters, compilers, downloaders, scaffolding.

Such tools run under a rule of their own, so an unknown target is not asked about; one that is
written out and leads out of scope is refused all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from permissions.shell.access import Access, AccessKind, attached_values, each, names
from permissions.shell.syntax import Word

_NONE: frozenset[str] = frozenset()


class _Formatter(Struct, frozen=True):
    """A program that rewrites the files it is given."""

    needs: frozenset[str] = _NONE
    """Options without one of which it only prints."""
    stops: frozenset[str] = _NONE
    """Options with which it only looks."""
    skip: int = 0
    """Operands in front, such as a subcommand."""


def _options(table: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in table.strip().splitlines():
        programs, _, options = line.partition(":")
        for program in programs.split():
            found[program] = found.get(program, _NONE) | names(options)
    return found


_FILES = _options(
    """
    openssl: -out -keyout -writerand
    gcc g++ cc c++ clang clang++: -MF --output --serialize-diagnostics
    strip objcopy: --output-file
    ld: -Map
    ltrace perf tcpdump flex bison yacc strip nasm yasm swiftc zig nvcc gfortran: -o -w
    time: -o --output
    ssh: -E
    zstd lz4 iconv age xmllint minisign: -o --output
    terraform tofu: -out -state-out
    psql: -o --output -L --log-file
    pg_dump pg_dumpall: -f --file
    mysqldump: -r --result-file
    redis-cli: --rdb
    logrotate: -s --state -l --log
    youtube-dl yt-dlp: -o --output
    aria2c: -o --out -l --log
    http https xh: -o --output
    esbuild: --outfile --metafile
    rollup babel swc: -o --file --out-file
    jest vitest: --outputFile
    coverage: -o --data-file
    ruff eslint stylelint golangci-lint: -o --output-file
    hyperfine: --export-json --export-csv --export-markdown
    gh: -O --output
    rsync: --log-file --write-batch --only-write-batch
    patch: -r --reject-file
    pip pip3: --report
    poetry: -o --output
    sips screencapture wkhtmltopdf inkscape: -o --out --export-filename
    rspec rubocop: -o --out
    phpunit: --log-junit --coverage-clover --coverage-xml --coverage-text
    cmake: --graphviz --trace-redirect
    mvn: -l --log-file
    ant: -l -logfile
    gpg gpg2: --log-file --status-file --logger-file --attribute-file
    objcopy: --dump-section
    pylint: --output
    nmap: -oN -oX -oG -oA
    mysql: --tee
    gem: -o --output
    gunicorn: --log-file --access-logfile --error-logfile --pid --pidfile
    valgrind: --log-file --xml-file
    parallel: --joblog
    node: --redirect-warnings --test-reporter-destination --tls-keylog
    cProfile profile: -o --outfile
    history: -w -a
    exiftool: -o
    uv: --output-file --out-dir
    bun: --outfile
    trace: --file
    screen: -Logfile
    pandoc: --log
    """
)
_FOLDERS = _options(
    """
    javac kotlinc scalac: -d -s -h
    dotnet: -o --output --artifacts-path
    mvn: -f --file
    gradle: -p --project-dir
    ninja samu: -C
    terraform tofu: -chdir
    helm: --output-dir --untardir -d --destination
    bazel: --output_base --output_user_root
    meson: -C
    uv: --directory --project --target --prefix
    poetry pdm hatch: -C --directory --project -p
    just: -d --working-directory
    go: -C
    cargo: -C
    rake bundle: -C --path
    esbuild: --outdir
    webpack tsup: -o --output-path --out-dir
    rollup babel swc: -d --dir --out-dir
    jest vitest: --coverageDirectory --coverage.reportsDirectory
    coverage: -d --directory
    mkdocs hugo jekyll: -d --site-dir --destination
    pdflatex xelatex lualatex latexmk: -output-directory --output-directory -outdir --outdir
    mongodump: -o --out
    yt-dlp: -P --paths
    aria2c: -d --dir
    gh: -D --dir
    ng: --directory
    rsync: --backup-dir --temp-dir --partial-dir -T
    cookiecutter: -o --output-dir
    mysqldump: --tab -T
    pandoc: --extract-media
    kubectl: --output-directory --cache-dir
    jest: --cacheDirectory --cache-directory
    conda mamba: -p --prefix
    jupyter: --output-dir
    tox: --workdir --work-dir
    gradle: --project-cache-dir
    meson: --destdir
    node: --cpu-prof-dir --diagnostic-dir --report-dir --report-directory
    ar: --output
    parallel: --results
    tsc: --generateTrace --generateCpuProfile
    trace: --coverdir
    nano: --backupdir -C
    bun: --outdir
    deno: --root
    playwright: --output
    dotnet: --results-directory --project
    gcc g++ cc c++ clang clang++: -dumpdir
    npm: --cache
    pnpm: --store-dir --virtual-store-dir
    pip pip3: --cache-dir
    gradle: -g --gradle-user-home
    cmake: --build
    cargo: --manifest-path
    tsc: -p --project
    """
)
_EITHER = _FILES.keys() | _FOLDERS.keys()

# Programs with subcommands (or without, ""): which operand behind them is written.
_OPERANDS: dict[str, dict[str, int]] = {
    "svn": {"checkout": 1, "co": 1, "export": 1},
    "mount": {"": 1},
    "hg": {"clone": 1},
    "gh": {"repo clone": 1, "gist clone": 1},
    "rails": {"new": 0},
    "django-admin": {"startproject": 1, "startapp": 1},
    "mix": {"new": 0, "phx.new": 0},
    "flutter": {"create": 0},
    "dart": {"create": 0},
    "poetry": {"new": 0},
    "uv": {"venv": 0, "init": 0},
    "meson": {"setup": 0},
    "composer": {"create-project": 1},
    "npm": {"create": 1, "init": 1},
    "pnpm": {"create": 1},
    "yarn": {"create": 1},
    "bun": {"create": 1, "init": 0},
    "aws": {"s3 cp": -1, "s3 sync": -1, "s3 mv": -1, "lambda invoke": -1},
    "gsutil": {"cp": -1, "rsync": -1, "mv": -1},
    "gcloud": {"storage cp": -1, "storage rsync": -1},
    "rclone": {"copy": -1, "copyto": -1, "sync": -1, "move": -1, "moveto": -1},
    "create-react-app": {"": 0},
    "create-next-app": {"": 0},
    "create-vite": {"": 0},
    "virtualenv": {"": 0},
    "venv": {"": 0},
    "sftp": {"": 1},
    "sass": {"": 1},
    "sphinx-build": {"": 1},
    "ar": {"": 1},
    "objcopy": {"": -1},
    "json.tool": {"": 1},
    "pdftotext": {"": 1},
}

_CHECKING = names("--check --diff -l --list -c")
_FORMATTERS: dict[str, _Formatter] = {
    **dict.fromkeys(("black", "isort"), _Formatter(stops=_CHECKING)),
    **dict.fromkeys(("rustfmt", "dos2unix", "unix2dos", "mogrify"), _Formatter(stops=_CHECKING)),
    **dict.fromkeys(("autopep8", "yapf", "clang-format"), _Formatter(names("-i --in-place"))),
    **dict.fromkeys(("gofmt", "goimports", "gofumpt", "shfmt"), _Formatter(names("-w"))),
    **dict.fromkeys(("prettier", "biome"), _Formatter(names("--write -w --apply --fix"))),
    **dict.fromkeys(("eslint", "stylelint", "rubocop"), _Formatter(names("--fix -a -A"))),
    "compileall": _Formatter(),
}
_CMAKE = names("touch make_directory rm remove remove_directory rename copy copy_directory cat")


def tool_accesses(program: str, words: Sequence[Word]) -> list[Access]:
    """Return what is written, of words that are written out only; [] for programs not known."""
    found: list[Access] = []
    if program in _EITHER:
        files = attached_values(words, _FILES.get(program, _NONE))
        folders = attached_values(words, _FOLDERS.get(program, _NONE))
        found.extend(each(AccessKind.WRITE, files))
        found.extend(each(AccessKind.PLACE, folders))
    table = _OPERANDS.get(program)
    if table is not None:
        found.extend(each(AccessKind.WRITE, _operand(table, words)))
    if program in ("pytest", "py.test"):
        found.extend(each(AccessKind.WRITE, _reports(words)))
    if program in ("zipfile", "tarfile") and words[:1] and words[0].plain in _UNPACKS:
        found.extend(each(AccessKind.WRITE, words[2:3]))
    if program == "strip" and not attached_values(words, _STRIPPED):
        operands = [word for word in words if not word.plain.startswith("-")]
        found.extend(each(AccessKind.WRITE, operands))
    formatter = _FORMATTERS.get(program)
    if program == "ruff" and words:
        fixes = words[0].text == "format" or any(word.text == "--fix" for word in words)
        formatter = _Formatter(stops=_CHECKING, skip=1) if fixes else None
    if formatter is not None:
        found.extend(each(AccessKind.WRITE, _formatted(formatter, words)))
    if program == "cmake" and [word.text for word in words[:1]] == ["-E"]:
        given = words[2:] if words[1:2] and words[1].text in _CMAKE else ()
        found.extend(each(AccessKind.WRITE, given))
    return [
        access for access in found if access.path.is_literal and not _is_elsewhere(access.path.text)
    ]


_UNPACKS = names("-e --extract")
_STRIPPED = names("-o --output-file")


def _reports(words: Sequence[Word]) -> list[Word]:
    """Return where pytest puts reports and its cache: `--cov-report=html:dir`, `-o cache_dir=x`."""
    given = [
        *((word, ":") for word in attached_values(words, names("--cov-report"))),
        *((word, "=") for word in attached_values(words, names("-o --override-ini"))),
    ]
    return [
        Word(word.raw, word.text.partition(mark)[2])
        for word, mark in given
        if mark == ":" or word.text.startswith("cache_dir=")
    ]


def _is_elsewhere(text: str) -> bool:
    """Is it no file here: an address, `host:file`, or standard output?"""
    return text in ("", "-") or ":" in text.partition("/")[0]


def _operand(table: dict[str, int], words: Sequence[Word]) -> list[Word]:
    operands = [word for word in words if not word.plain.startswith("-")]
    for subcommand, index in table.items():
        length = len(subcommand.split())
        if [word.text for word in operands[:length]] == subcommand.split():
            given = operands[length:]
            # With one operand, the last one is no target yet.
            least = 2 if index < 0 else index + 1
            return [given[index]] if len(given) >= least else []
    return []


def _formatted(formatter: _Formatter, words: Sequence[Word]) -> list[Word]:
    options = {word.plain.partition("=")[0] for word in words if word.plain.startswith("-")}
    if (formatter.needs and not options & formatter.needs) or options & formatter.stops:
        return []
    operands = [word for word in words if not word.plain.startswith("-")]
    return operands[formatter.skip :]
