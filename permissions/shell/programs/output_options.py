"""Where programs put what they make: the options that name a file or a folder.

Building, testing and installing is a rule's business; that none of it lands outside the working
directories is checked all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from permissions.shell.access import Access, AccessKind, attached_values, each, names
from permissions.shell.syntax import Word

_NONE: frozenset[str] = frozenset()


class _Outputs(Struct, frozen=True):
    files: frozenset[str] = _NONE
    folders: frozenset[str] = _NONE
    """Options that name a folder in which the program writes files of its own choice."""
    clusters: bool = True
    """May a value be glued to a short option (`-ofile`)?"""


def _table(programs: str, files: str = "", folders: str = "", *, clusters: bool = True) -> None:
    entry = _Outputs(names(files), names(folders), clusters)
    _OUTPUTS.update(dict.fromkeys(programs.split(), entry))


_OUTPUTS: dict[str, _Outputs] = {}

_table("gcc cc g++ c++ clang clang++ ld rustc as tcc ghc dot strace protoc", "-o")
_table("rustc", "-o", "--out-dir")
_table("protoc", "-o", "--cpp_out --python_out --java_out --go_out --js_out --ruby_out")
_table(
    "go",
    "-o --o -coverprofile --coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile "
    "-trace",
    "-outputdir --outputdir",
    clusters=False,
)
_table("pandoc shuf", "-o --output")
_table("openssl", "-out", clusters=False)
_table("ssh-keygen", "-f")
_table("gpg gpg2", "-o --output")
_table(
    "pytest py.test",
    "--junitxml --junit-xml --log-file --report-log --html",
    "--basetemp",
)
_table("mypy", "--junit-xml", "--html-report --xml-report --txt-report --cache-dir")
_table("ruff flake8 pylint", "--output-file", "--cache-dir")
_table("eslint", "-o --output-file", "--cache-location")
_table("tsc", "--outFile --tsBuildInfoFile", "--outDir --declarationDir", clusters=False)
_table("pip pip3", "--log --report", "-t --target --root --prefix --src -d --dest -w --wheel-dir")
_table("npm", "", "--prefix -C --pack-destination")
_table("pnpm yarn bun", "", "--dir -C --cwd --prefix --modules-folder")
_table("cargo", "", "--target-dir --root --out-dir --artifact-dir")
_table("cmake", "", "-B --install-prefix --prefix")
_table("csplit", "-f --prefix")
_table("gem", "", "-i --install-dir -n --bindir")
_table("composer", "", "-d --working-dir")
_table("virtualenv", "", "--app-data")


def output_accesses(program: str, words: Sequence[Word]) -> list[Access] | None:
    """Return the files and folders that options name; None when the program is not in the table."""
    entry = _OUTPUTS.get(program)
    if entry is None:
        return None
    return [
        *each(AccessKind.WRITE, _values(words, entry.files, clusters=entry.clusters)),
        *each(AccessKind.PLACE, _values(words, entry.folders, clusters=entry.clusters)),
    ]


def _values(words: Sequence[Word], options: frozenset[str], *, clusters: bool) -> list[Word]:
    """Return values of options that take theirs after `=`, attached, or in the next word."""
    if clusters:
        found = attached_values(words, options)
    else:
        found = []
        for position, word in enumerate(words):
            name, equals, _ = word.plain.partition("=")
            if word.plain in options:
                found.extend(words[position + 1 : position + 2])
            elif equals and name in options:
                found.append(Word(word.raw, word.text[len(name) + 1 :], word.splits))
    return [word for word in found if word.text not in ("-", "")]


BUILD_TOOLS = names(
    """
    make gmake ninja samu cmake ctest meson bazel just task npm pnpm yarn bun npx bunx deno tsc
    webpack vite jest vitest eslint prettier cargo go mvn mvnw gradle gradlew ant sbt pip pip3
    pipenv poetry pdm uv hatch tox nox pytest ruff black bundle rake rails gem composer mix dotnet
    flutter dart terraform tofu docker-compose pre-commit
    """
)
"""Programs that change files of their own choice in the folder that they run in."""
