"""Levels, placeholders, and what happens where a confinement cannot be enforced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.sandbox.availability import Availability, Backend
from agent.sandbox.placeholders import Placeholders, sweep
from agent.sandbox.policy import Network, SandboxPolicy
from agent.sandbox.probe import probe
from agent.sandbox.sandbox import RunRequest, Sandbox
from agent.sandbox.seatbelt import seatbelt_arguments
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import CannotConfine, CannotStart, Launch
from permissions.confinement import Confinement, SandboxLevel
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rules.rule_set import RuleSet
from tests.agent.sandbox.conftest import FILES, MakeConfined

NOTHING = Availability(SandboxLevel.NONE, Backend.NONE, reason="for a test")


def _context(directory: Path) -> PermissionContext:
    for name in ("home", "home/project", "tmp"):
        (directory / name).mkdir()
    return PermissionContext(
        mode=Mode.DEFAULT,
        rules=RuleSet(),
        launch_dir=directory / "home" / "project",
        project_root=directory / "home" / "project",
        home=directory / "home",
        scratch_dir=directory / "tmp",
    )


@pytest.mark.parametrize("available", [NOTHING, FILES])
@pytest.mark.parametrize("confinement", [Confinement.READ_ONLY, Confinement.PROJECT])
def test_nothing_runs_with_less_than_its_confinement(
    available: Availability, confinement: Confinement, tmp_path: Path
) -> None:
    context = _context(tmp_path)
    sandbox = Sandbox(
        available, lambda: context, state_dir=tmp_path / "state", user_env=lambda: os.environ
    )
    with pytest.raises(CannotConfine, match=f"cannot enforce {confinement}"):
        sandbox.launch(Launch(("/bin/true",), {}), RunRequest(confinement))


def test_without_bubblewrap_the_probe_reports_it_and_how_to_install_it() -> None:
    found = probe("/nonexistent/bwrap")
    assert found.level is not SandboxLevel.FULL
    assert "bubblewrap is not installed" in found.reason
    assert "install" in found.fix


def test_a_bubblewrap_that_fails_is_not_used(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    found = probe(str(broken))
    assert found.level is not SandboxLevel.FULL
    assert "user namespaces are refused" in found.reason


def test_a_bubblewrap_that_confines_nothing_is_not_used(tmp_path: Path) -> None:
    liar = tmp_path / "bwrap"
    liar.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    liar.chmod(0o755)
    assert probe(str(liar)).level is not SandboxLevel.FULL


def test_the_root_of_the_file_system_is_never_opened(make_confined: MakeConfined) -> None:
    confined = make_confined()
    program = Launch(("/bin/true",), {}, confined.project)
    with pytest.raises(CannotConfine, match="working directory is /"):
        confined.sandbox.launch(program, RunRequest(Confinement.PROJECT, ("/",)))


def test_a_directory_opened_for_one_call_is_writable_in_that_call(
    make_confined: MakeConfined,
) -> None:
    confined = make_confined()
    command = f"echo x >> {confined.outside}/x"
    assert confined.run(command, Confinement.PROJECT).exit_code != 0
    opened = confined.run(command, Confinement.PROJECT, write_dirs=(confined.outside,))
    assert opened.exit_code == 0
    assert (confined.outside / "x").read_text() == "x\n"


def test_a_work_tree_commits_into_its_repository(make_confined: MakeConfined) -> None:
    confined = make_confined()
    main = confined.outside / "main"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example"]
    for command in (
        ["git", "init", "-q", str(main)],
        [*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "first"],
        ["git", "-C", str(main), "worktree", "add", "-q", str(confined.project), "-b", "w"],
    ):
        if command[3:4] == ["worktree"]:
            confined.project.rmdir()
        subprocess.run(command, check=True)
    done = confined.run(
        "echo a > a; git add a; git -c user.name=a -c user.email=a@b.example commit -qm second; "
        f"echo x > {main}/.git/hooks/pre-commit",
        Confinement.PROJECT,
    )
    log = subprocess.run(
        ["git", "-C", str(main), "log", "--oneline", "w"], check=True, capture_output=True
    )
    assert b"second" in log.stdout, done.output
    assert not (main / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize("place", ["main/sub", "tree", "tree/sub"])
@pytest.mark.parametrize("confinement", [Confinement.READ_ONLY, Confinement.PROJECT])
def test_git_reads_a_repository_around_the_directory_where_the_agent_works(
    available: Availability, tmp_path: Path, place: str, confinement: Confinement
) -> None:
    if available.level is not SandboxLevel.FULL:
        pytest.skip(f"level {available.level}: {available.reason}")
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    author = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for command in (
        ("init", "-q"),
        (*author, "commit", "-q", "--allow-empty", "-m", "first"),
        ("worktree", "add", "-q", str(tree), "-b", "w"),
    ):
        subprocess.run(("git", *command), cwd=main, check=True)
    (tmp_path / "beside").touch()
    where = tmp_path / place
    where.mkdir(exist_ok=True)
    context = replace(
        _context(tmp_path),
        launch_dir=where,
        project_root=tmp_path / place.partition("/")[0],
    )
    sandbox = Sandbox(
        available, lambda: context, state_dir=tmp_path / "state", user_env=lambda: os.environ
    )
    shown = f"git log --format=%s; git status --short; ls {tmp_path}/beside"
    program = Launch(("/bin/bash", "-c", shown), {"PATH": os.environ["PATH"]}, where)
    ended = run_blocking(sandbox.launch(program, RunRequest(confinement)), timeout_s=60.0)
    assert ended.stdout == b"first\n", ended.stderr
    write = Launch(("/bin/touch", str(context.project_root / "made")), program.env, where)
    run_blocking(sandbox.launch(write, RunRequest(Confinement.READ_ONLY)), timeout_s=60.0)
    assert not (context.project_root / "made").exists()


def test_commands_write_in_a_subdirectory_to_which_they_went(
    available: Availability, tmp_path: Path
) -> None:
    """Below /tmp, which is replaced, the directory of a command was visible and read-only."""
    if available.level is not SandboxLevel.FULL:
        pytest.skip(f"level {available.level}: {available.reason}")
    where = tmp_path / "project" / "src"
    where.mkdir(parents=True)
    context = replace(_context(tmp_path), launch_dir=where.parent, project_root=where.parent)
    sandbox = Sandbox(
        available, lambda: context, state_dir=tmp_path / "state", user_env=lambda: os.environ
    )
    program = Launch(("/bin/touch", "made"), {"PATH": os.environ["PATH"]}, where)
    ended = run_blocking(
        sandbox.launch(program, RunRequest(Confinement.PROJECT_FILES)), timeout_s=60.0
    )
    assert (where / "made").exists(), ended.stderr


def test_a_git_file_that_names_a_strange_repository_opens_nothing(
    make_confined: MakeConfined,
) -> None:
    confined = make_confined()
    other = confined.outside / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    (confined.project / ".git").write_text(f"gitdir: {other}/.git\n")
    confined.run(f"echo x > {other}/.git/description", Confinement.PROJECT)
    assert (other / ".git" / "description").read_text() != "x\n"


def test_placeholders_are_shared_and_go_with_the_last_user(tmp_path: Path) -> None:
    placeholders = Placeholders(tmp_path / "state")
    directory = str(tmp_path / ".claude")
    first = placeholders.acquire([directory])
    second = placeholders.acquire([directory])
    placeholders.release(first)
    assert os.path.isdir(directory)
    placeholders.release(second)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]
    assert list((tmp_path / "state").glob("*.txt")) == []


def test_placeholders_stay_while_another_conversation_needs_them(tmp_path: Path) -> None:
    one, other = Placeholders(tmp_path / "state"), Placeholders(tmp_path / "state")
    directory = str(tmp_path / ".claude")
    first, second = one.acquire([directory]), other.acquire([directory])
    one.release(first)
    assert os.path.isdir(directory)
    other.release(second)
    assert not os.path.exists(directory)


_OTHER = """
import sys
from pathlib import Path
from agent.sandbox.placeholders import Placeholders

placeholders = Placeholders(Path(sys.argv[1]))
held = placeholders.acquire([sys.argv[2]])
print("held", flush=True)
sys.stdin.readline()
placeholders.release(held)
"""


@pytest.mark.parametrize("is_first", [True, False])
def test_placeholders_stay_while_another_process_needs_them(tmp_path: Path, is_first: bool) -> None:
    state, directory = tmp_path / "state", str(tmp_path / ".claude")
    own = Placeholders(state)
    held = own.acquire([directory]) if is_first else ()
    with subprocess.Popen(
        [sys.executable, "-c", _OTHER, str(state), directory],
        cwd=Path(__file__).parents[3], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        other.stdout.readline()
        held = held or own.acquire([directory])
        other.communicate(b"\n")
    assert os.path.isdir(directory)
    own.release(held)
    assert not os.path.exists(directory)


def test_a_placeholder_that_looked_like_a_directory_of_the_user_stays_as_well(
    tmp_path: Path,
) -> None:
    """Another command's policy was made while it was there, or just before it went."""
    own, gone = tmp_path / ".idea", tmp_path / ".vscode"
    mine = tmp_path / ".husky"
    mine.mkdir()
    one, other = Placeholders(tmp_path / "state"), Placeholders(tmp_path / "state")
    first = one.acquire([str(own)])
    second = other.acquire([], [str(own), str(gone), str(mine)])
    assert set(second) == {str(own), str(gone)}
    one.release(first)
    assert own.is_dir()
    assert gone.is_dir()
    other.release(second)
    assert not own.exists()
    assert not gone.exists()
    assert mine.is_dir()


def test_what_a_user_put_into_a_placeholder_stays(tmp_path: Path) -> None:
    placeholders = Placeholders(tmp_path / "state")
    held = placeholders.acquire([str(tmp_path / ".vscode")])
    (tmp_path / ".vscode" / "settings.json").write_text("{}")
    placeholders.release(held)
    assert (tmp_path / ".vscode" / "settings.json").read_text() == "{}"


def test_placeholders_of_a_killed_program_are_removed(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (tmp_path / ".claude").mkdir()
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    record = state / f"placeholders-{gone.pid}.txt"
    record.write_text(f"{tmp_path}/.claude\n")
    sweep(state)
    assert not (tmp_path / ".claude").exists()
    assert not record.exists()


def test_a_program_that_is_missing_leaves_no_placeholder(make_confined: MakeConfined) -> None:
    confined = make_confined()
    launch = confined.sandbox.launch(
        Launch(("/bin/true",), {}, confined.project), RunRequest(Confinement.PROJECT)
    )
    with pytest.raises(CannotStart):
        run_blocking(replace(launch, argv=("/nonexistent",)), timeout_s=5.0)
    assert list(confined.project.iterdir()) == []


def test_the_seatbelt_profile_takes_paths_as_parameters_only() -> None:
    policy = SandboxPolicy(
        confinement=Confinement.PROJECT,
        cwd="/p",
        temp_dir="/t",
        write_roots=('/p")(allow file-write*)("',),
        read_only=("/p/.git/hooks",),
        denied_paths=("/p/.env",),
        network=Network.OFF,
    )
    argv = seatbelt_arguments(policy)
    profile = argv[2]
    assert "(deny default)" in profile
    assert "allow network" not in profile
    assert ".git" not in profile
    writable = profile.index('(allow file-write* (subpath (param "PATH_0")))')
    assert writable < profile.index('(deny file-write* (subpath (param "PATH_1")))')
    assert any(part.startswith("-DPATH_0=/p") for part in argv)


@pytest.mark.parametrize("confinement", [Confinement.PROJECT, Confinement.PROJECT_FILES])
@pytest.mark.parametrize(
    "command",
    [
        "echo evil > scripts/lint.sh",
        "rm -f scripts/lint.sh; echo evil > scripts/lint.sh",
        "mv scripts old; mkdir scripts; echo evil > scripts/lint.sh",
        "echo evil > x; mv -f x scripts/lint.sh",
    ],
)
def test_f21_what_a_hook_runs_is_read_only(
    make_confined: MakeConfined, confinement: Confinement, command: str
) -> None:
    confined = make_confined(protected=["scripts/lint.sh", "missing.sh"])
    script = confined.project / "scripts" / "lint.sh"
    script.parent.mkdir()
    script.write_text("harmless")
    confined.run(command, confinement)
    assert script.read_text() == "harmless"
    assert confined.run("echo > scripts/other.sh", confinement).exit_code == 0


def test_f21_what_a_hook_or_git_would_run_is_not_left_there(make_confined: MakeConfined) -> None:
    """A hooks directory that the configuration names, and that is not there yet."""
    confined = make_confined(protected=["missing.sh", "deep/hooks"])
    ended = confined.run(
        "mkdir -p deep/hooks; echo evil > deep/hooks/pre-commit; echo evil > missing.sh; touch a",
        Confinement.PROJECT_FILES,
    )
    assert sorted(path.name for path in confined.project.iterdir()) == ["a", "deep"]
    assert list((confined.project / "deep").iterdir()) == []
    moved = [one for one in ended.refusals if one.moved_to]
    assert [Path(one.target).name for one in moved] == ["hooks", "missing.sh"]


@pytest.mark.parametrize("masks_denied", [True, False])
def test_programs_of_our_own_search_denied_files_that_rules_then_filter(
    make_confined: MakeConfined, masks_denied: bool
) -> None:
    confined = make_confined(deny=["Read(*.secret)"])
    (confined.project / "a.secret").write_text("key")
    request = RunRequest(Confinement.READ_ONLY, masks_denied=masks_denied)
    program = Launch(("/bin/cat", "a.secret"), {"PATH": os.defpath}, confined.project)
    ended = run_blocking(confined.sandbox.launch(program, request), timeout_s=60.0)
    assert ended.stdout == (b"" if masks_denied else b"key")


def test_reading_is_confined_also_where_the_working_directory_is_the_root(
    available: Availability, tmp_path: Path
) -> None:
    if available.level is not SandboxLevel.FULL:
        pytest.skip(f"level {available.level}: {available.reason}")
    context = replace(_context(tmp_path), launch_dir=Path("/"))
    sandbox = Sandbox(
        available, lambda: context, state_dir=tmp_path / "state", user_env=lambda: os.environ
    )
    program = Launch(("/bin/ls", "/"), {"PATH": os.defpath}, Path("/"))
    launch = sandbox.launch(program, RunRequest(Confinement.READ_ONLY))
    assert b"etc" in run_blocking(launch, timeout_s=60.0).stdout
    with pytest.raises(CannotConfine, match="is /"):
        sandbox.launch(program, RunRequest(Confinement.PROJECT))


def test_a_variable_opens_a_directory_only_where_the_user_set_it(
    make_confined: MakeConfined, tmp_path: Path
) -> None:
    files = Confinement.PROJECT_FILES
    for user_env, name in (({}, "project"), ({"GOCACHE": f"{tmp_path}/user/home/own"}, "user")):
        confined = make_confined(name=name, user_env={**os.environ, **user_env})
        own = confined.home / "own"
        own.mkdir()
        # Settings of a project set it so, and so does the entry of a server.
        confined.run(f"echo x > {own}/x", files, program_env={"GOCACHE": str(own)})
        assert (own / "x").exists() is bool(user_env)


def test_no_variable_of_a_project_shows_a_daemon_that_the_user_runs(
    make_confined: MakeConfined, tmp_path: Path
) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    (runtime / "bus").write_text("BUS")
    confined = make_confined(user_env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)})
    run = confined.run(
        f"cat {runtime}/bus", Confinement.PROJECT_FILES, program_env={"XDG_RUNTIME_DIR": "/x"}
    )
    assert "BUS" not in run.output


def test_what_users_put_into_the_agents_own_directory_is_run_where_a_rule_allows_it(
    make_confined: MakeConfined,
) -> None:
    confined = make_confined()
    skill = confined.home / ".agent" / "skills" / "run.sh"
    skill.parent.mkdir()
    skill.write_text("echo SKILL")
    assert "SKILL" in confined.run(f"bash {skill}", Confinement.PROJECT_FILES).output
    assert "SKILL" not in confined.run(f"bash {skill}", Confinement.READ_ONLY).output


@pytest.mark.parametrize("confinement", [Confinement.PROJECT, Confinement.PROJECT_FILES])
def test_the_configuration_in_a_home_directory_that_is_written_stays(
    make_confined: MakeConfined, confinement: Confinement
) -> None:
    confined = make_confined()
    home = confined.home
    for name in (".vimrc", ".config/nvim/init.lua", ".local/bin/git", "files/zshrc"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("own")
    (home / ".zshrc").symlink_to("files/zshrc")
    command = """
        for f in .vimrc .config/nvim/init.lua .local/bin/git .config/autostart/x .zshrc .tmux.conf
        do echo evil > ~/$f; done; rm -f ~/.vimrc ~/.zshrc; mv ~/.config ~/c; echo evil > ~/.zshrc
        mkdir ~/.ssh && echo evil > ~/.ssh/authorized_keys; echo fine > ~/notes
        mkdir -p ~/node_modules/.bin && echo evil > ~/node_modules/.bin/node
    """
    run = confined.run(command, confinement, write_dirs=[home])
    for name in (".vimrc", ".config/nvim/init.lua", ".local/bin/git", ".zshrc"):
        assert (home / name).read_text() == "own", run.output
    for name in (".config/autostart", ".tmux.conf", ".ssh", "c", "node_modules"):
        assert not (home / name).exists(), name
    assert (home / "notes").read_text() == "fine\n", run.output


def test_caches_in_a_home_directory_that_is_written_stay_open(make_confined: MakeConfined) -> None:
    confined = make_confined()
    for name in (".npm", ".cache/pip"):
        (confined.home / name).mkdir(parents=True)
    command = "echo x > ~/.npm/x && echo x > ~/.cache/pip/x; echo x > ~/.cache/y"
    confined.run(command, Confinement.PROJECT_FILES, write_dirs=[confined.home])
    assert (confined.home / ".npm/x").exists()
    assert (confined.home / ".cache/pip/x").exists()
    assert not (confined.home / ".cache/y").exists()


def test_programs_that_were_installed_in_a_cache_are_not_changed(
    make_confined: MakeConfined,
) -> None:
    """The user's own `npx`, `uvx` and git hooks of `pre-commit` run them unconfined; what a command
    installs there is installed for the session."""
    confined = make_confined()
    places = (".npm/_npx", ".cache/pnpm/dlx", ".cache/pre-commit")
    others = (".cache/uv/archive-v0", ".local/share/uv/tools", ".local/share/pnpm/store")
    for name in (*places, *others):
        (confined.home / name / "old").mkdir(parents=True)
        (confined.home / name / "old" / "program").write_text("mine\n")
        (confined.home / name / "db").write_text("mine\n")
    command = "; ".join(
        f"cd ~/{one}; mkdir new; echo evil | tee x new/x db old/program"
        for one in (*places, *others)
    )
    command += "; mv ~/.npm/_npx ~/.npm/a; echo x > ~/.npm/x"
    run = confined.run(command, Confinement.PROJECT_FILES)
    for name in (*places, *others):
        files = {path.name: path for path in (confined.home / name).rglob("*") if path.is_file()}
        assert set(files) == {"program", "db"}, name
        assert {path.read_text() for path in files.values()} == {"mine\n"}, name
    assert not (confined.home / ".npm" / "a").exists()
    assert (confined.home / ".npm" / "x").exists(), run.output
    names = " ".join(f"~/{one}/old/program ~/{one}/new/x ~/{one}/db" for one in places)
    later = confined.run(f"cat {names}; echo home=$PRE_COMMIT_HOME.", Confinement.PROJECT_FILES)
    assert later.output.split() == [*["mine", "evil", "evil"] * 3, "home=."]
    makes = "mkdir $pnpm_config_store_dir/y && mkdir -p $UV_CACHE_DIR/x $UV_TOOL_DIR/x && echo made"
    assert confined.run(makes, Confinement.PROJECT_FILES).output.strip() == "made"


async def test_caches_of_the_session_end_with_it(make_confined: MakeConfined) -> None:
    confined = make_confined()
    confined.run("mkdir -p $UV_CACHE_DIR/x; echo x > $TMPDIR/x", Confinement.PROJECT_FILES)
    assert (confined.temp_dir / "cache").exists()
    await confined.sandbox.aclose()
    assert not (confined.temp_dir / "cache").exists()
    assert (confined.temp_dir / "x").exists()


def test_a_link_in_the_place_of_a_cache_of_the_session_is_not_followed(
    make_confined: MakeConfined,
) -> None:
    confined = make_confined()
    outside = confined.home / "outside"
    for path in (outside, confined.home / ".npm" / "_npx"):
        path.mkdir(parents=True)
    plant = f"rm -rf $TMPDIR/cache; ln -s {outside} $TMPDIR/cache"
    confined.run(plant, Confinement.PROJECT_FILES)
    run = confined.run("echo x > ~/.npm/_npx/x; echo x > ~/.npm/x", Confinement.PROJECT_FILES)
    assert list(outside.iterdir()) == []
    assert not (confined.home / ".npm" / "_npx" / "x").exists()
    assert (confined.home / ".npm" / "x").exists(), run.output
