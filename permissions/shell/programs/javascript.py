"""What is known of the tools of JavaScript."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import names
from permissions.shell.program import (
    Code,
    CommandRunner,
    Program,
    Rewrites,
    Risk,
    Wrapper,
)
from permissions.shell.programs.common_arguments import (
    outputs,
    settings_after,
)
from permissions.shell.syntax import (
    Word,
)


def npm_settings(words: Sequence[Word]) -> str:
    texts = [word.text for word in words]
    operands = [text for text in texts if not text.startswith("-")]
    verb = operands[1:2] if operands[:1] in (["config"], ["c"]) else operands[:1]
    sets = verb[:1] == ["set"] or (verb != operands[:1] and not _NPM_VERBS.isdisjoint(verb))
    is_project = "--location=project" in texts or "project" in operands
    return "~/.npmrc" if sets and not is_project else ""


_NPM_VERBS = names("delete rm edit fix")


PROGRAMS = (
    Program("npm", accesses=outputs("", "-C --pack-destination --prefix"),
        output_directories="--cache", output_operands={"create": 1, "init": 1},
        changes_settings=npm_settings, risk=Risk(long="--browser --editor --git "
        "--globalconfig --node-options --script-shell --shell --userconfig --viewer", valued="wC",
        takes_unknown=True), shows_version=True, runner=CommandRunner("exec x"),
        command_options="-c --call", global_valued="C", builds=True,
        network="add audit ci i install login publish update view", has_subcommands=True,
        exact_subcommands="exec explore i install publish update x"),
    Program("pnpm", accesses=outputs("", "-C --cwd --dir --modules-folder --prefix"),
        output_directories="--store-dir --virtual-store-dir", output_operands={"create": 1},
        changes_settings=npm_settings, runner=CommandRunner("dlx exec"), command_options="-c "
        "--call", global_valued="CF", builds=True, network="add dlx i install publish update",
        has_subcommands=True, exact_subcommands="add dlx exec i install publish up update"),
    Program("yarn", accesses=outputs("", "-C --cwd --dir --modules-folder --prefix"),
        output_operands={"create": 1}, changes_settings=settings_after(".yarnrc.yml", "config set",
        "config unset"), runner=CommandRunner("dlx exec"), global_valued="", builds=True,
        network="add dlx install publish up", has_subcommands=True, exact_subcommands="add dlx "
        "exec publish"),
    Program("bun", accesses=outputs("", "-C --cwd --dir --modules-folder --prefix"),
        output_files="--outfile", output_directories="--outdir", output_operands={"create": 1,
        "init": 0}, read_options="--env-file", code=Code.LANGUAGE, runner=CommandRunner("x"),
        builds=True, exact_only=True),
    Program("npx", wrapper=Wrapper("pc", "--call --package"), command_options="-c --call",
        builds=True, exact_only=True),
    Program("bunx", wrapper=Wrapper(), builds=True, exact_only=True),
    Program("pnpx", wrapper=Wrapper()),
    Program("tsc", accesses=outputs("--outFile --tsBuildInfoFile", "--declarationDir --outDir",
        clusters=False), output_directories="--generateCpuProfile --generateTrace -p --project",
        builds=True, checks_project=True),
    Program("webpack", output_directories="-o --out-dir --output-path", builds=True),
    Program("vite", builds=True),
    Program("jest", output_files="--outputFile", output_directories="--cache-directory "
        "--cacheDirectory --coverage.reportsDirectory --coverageDirectory", builds=True,
        checks_project=True),
    Program("vitest", output_files="--outputFile", output_directories="--coverage.reportsDirectory "
        "--coverageDirectory", builds=True, checks_project=True),
    Program("eslint", accesses=outputs("-o --output-file", "--cache-location"), output_files="-o "
        "--output-file", rewrites=Rewrites(needs="-A -a --fix"), builds=True, checks_project=True),
    Program("prettier", rewrites=Rewrites(needs="--apply --fix -w --write"), builds=True,
        checks_project=True),
    Program("mocha", checks_project=True),
    Program("esbuild", output_files="--metafile --outfile", output_directories="--outdir"),
    Program("rollup babel swc", output_files="--file -o --out-file", output_directories="-d --dir "
        "--out-dir"),
    Program("tsup", output_directories="-o --out-dir --output-path"),
    Program("ng", output_directories="--directory"),
    Program("playwright", output_directories="--output"),
    Program("sass", output_operands={"": 1}),
    Program("create-react-app create-next-app create-vite", output_operands={"": 0}),
    Program("stylelint", output_files="-o --output-file", rewrites=Rewrites(needs="-A -a --fix")),
    Program("biome", rewrites=Rewrites(needs="--apply --fix -w --write")),
    Program("cross-env", wrapper=Wrapper(assignments=True)),
)  # fmt: skip
