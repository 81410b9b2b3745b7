"""The worktree of a session; its hooks run before the conversation begins and after its end.

The hooks of settings and plugins are used, confined as in a conversation.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from agent.assembly.environment import Environment
from agent.assembly.hook_setup import confine_hook
from agent.assembly.late import Late
from agent.assembly.sandbox_setup import build_sandbox, probe_sandbox
from agent.hook_events.config import hook_config, plugin_hooks
from agent.hook_events.fire import HookFiring
from agent.hook_events.hook_dispatch import HookDispatch
from agent.options import RunOptions
from agent.settings.load import Settings
from agent.subagents.worktree.worktrees import Worktrees
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner
from permissions.base.process.child_environment import child_environment
from permissions.base.process.program_path import path_outside
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rules.rule_set import RuleSet
from permissions.scope.added_directories import may_be_added


@contextmanager
def session_worktrees(
    options: RunOptions, environment: Environment, settings: Settings
) -> Iterator[tuple[Worktrees, HookDispatch]]:
    """Yield the manager of worktrees, and the dispatch of hooks.

    Raises:
        ConfigError: a setting requires a sandbox that is not available.
        UsageError: hooks of a plugin cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="agent-tui-") as scratch:
        hooks = _hooks(options, environment, settings, Path(scratch))
        context = PermissionContext(
            Mode.DEFAULT,
            RuleSet.build(())[0],
            environment.launch_dir,
            settings.project_root,
            environment.home,
            own_dirs=(environment.agent_home,),
        )
        worktrees = Worktrees(
            settings.project_root,
            environment.env,
            path_outside(environment.env.get("PATH"), settings.project_root),
            hooks,
            is_trusted=lambda: settings.trust.is_settled,
            may_be_scope=lambda path: may_be_added(path, context),
        )
        yield worktrees, hooks


def _hooks(
    options: RunOptions, environment: Environment, settings: Settings, scratch: Path
) -> HookDispatch:
    session = HookSession(
        session_id=options.session_id or "",
        transcript_path=Path(os.devnull),
        project_dir=settings.project_root,
        home=environment.home,
        state_dir=scratch,
        cwd=environment.launch_dir,
        scratch_dir=scratch,
        pid=os.getpid(),
    )
    sandbox = build_sandbox(
        probe_sandbox(options, environment, settings),
        Late("permission gate"),
        lambda: settings,
        environment,
        scratch,
    )
    ports = HookPorts(
        env=child_environment(environment.env, settings.own_env),
        env_of_others=child_environment(environment.env, settings.env),
        confine=partial(confine_hook, sandbox, ()),
    )
    runner = HookRunner(hook_config(settings), session=session, ports=ports)
    specs, _ = plugin_hooks(
        options.plugin_dirs,
        launch_dir=environment.launch_dir,
        data_home=environment.agent_home / "plugins" / "data",
    )
    runner.register(specs)
    return HookDispatch(HookFiring(runner, session))
