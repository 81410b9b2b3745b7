"""Program records of JavaScript tools."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import names
from permissions.shell.program import Code, CommandRunner, Program, Risk, Wrapper
from permissions.shell.programs.common_arguments import settings_after
from permissions.shell.syntax import Word


def npm_settings(words: Sequence[Word]) -> str:
    texts = [word.text for word in words]
    operands = [text for text in texts if not text.startswith("-")]
    verb = operands[1:2] if operands[:1] in (["config"], ["c"]) else operands[:1]
    sets = verb[:1] == ["set"] or (verb != operands[:1] and not _NPM_VERBS.isdisjoint(verb))
    is_project = "--location=project" in texts or "project" in operands
    return "~/.npmrc" if sets and not is_project else ""


_NPM_VERBS = names("delete rm edit fix")


PROGRAMS = (
    Program("npm", changes_settings=npm_settings, risk=Risk(long="--browser --editor --git  "
        "--globalconfig --node-options --script-shell --shell --userconfig --viewer",
        value_letters="wC",
        takes_unknown=True), shows_version=True, runner=CommandRunner("exec x"),
        command_options="-c --call", global_valued="C", builds=True, network="add audit ci i "
        "install login publish update view", has_subcommands=True, exact_subcommands="exec explore "
        "i install publish update x"),
    Program("pnpm", changes_settings=npm_settings, runner=CommandRunner("dlx exec"),
        command_options="-c --call", global_valued="CF", builds=True, network="add dlx i install "
        "publish update", has_subcommands=True, exact_subcommands="add dlx exec i install publish "
        "up update"),
    Program("yarn", changes_settings=settings_after(".yarnrc.yml", "config set", "config unset"),
        runner=CommandRunner("dlx exec"), global_valued="", builds=True, network="add dlx install "
        "publish up", has_subcommands=True, exact_subcommands="add dlx exec publish"),
    Program("bun", code=Code.LANGUAGE, runner=CommandRunner("x"), builds=True, exact_only=True),
    Program("npx", wrapper=Wrapper("pc", "--call --package"), command_options="-c --call",
        builds=True, exact_only=True),
    Program("bunx", wrapper=Wrapper(), builds=True, exact_only=True),
    Program("pnpx", wrapper=Wrapper()),
    Program("webpack vite", builds=True),
    Program("tsc jest vitest eslint prettier", builds=True, checks_project=True),
    Program("mocha", checks_project=True),
    Program("cross-env", wrapper=Wrapper(assignments=True)),
)  # fmt: skip
