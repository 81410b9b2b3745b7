"""What a command unpacks, checks out or copies may be a link: it is not written through unseen."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, Reason
from permissions.mode import Mode
from tests.permissions.engine import Engine, make_engine

RULES = ["Bash", "Edit"]


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A project in which `dir` holds a link that leaves it."""
    engine = make_engine(tmp_path_factory.mktemp("linked"))
    directory = engine.root / "dir"
    directory.mkdir()
    (directory / "l").symlink_to(engine.root.parent / "outside")
    (engine.root / "b.py").write_text("text\n")
    return engine


WRITTEN_THROUGH = [
    "cp -r dir y; echo hi > y/l",
    "cp -a dir y && echo hi > y/l/x",
    "cp -r dir/. y && echo hi > y/l",
    "cp -r d* y && echo hi > y/l/x",
    "cp -r dir sub && echo hi > sub/dir/l/x",
    "cp -r dir sub && cd sub/dir/l && touch x",
    "cp -r dir sub; cd sub/dir; cp b.py l/y",
    "cp -r dir a && cp -r a c && echo hi > c/l/x",
    "mv dir y; echo x > y/l/z",
    "rsync -a dir/ y; echo hi > y/l/x",
    "rsync -a host:dir/ y; echo hi > y/l/x",
    "docker cp c:/x y; echo hi > y/l",
    "tar xf a.tar; echo hi > l/x",
    "tar xf a.tar -C sub; tee sub/l/x",
    "tar -C sub --extract -f a.tar && touch sub/l",
    "tar xf a -C sub; echo > sub/l/../../x",
    "tar xf a -C sub; cd sub/l/../..; echo > x",
    "tar xf a -C new && cp -r new y && echo > y/l",
    "unzip a.zip; echo hi > l/x",
    "unzip -d sub a.zip; dd of=sub/x",
    "7z x a.7z && echo hi > l/x",
    "cpio -id < x; echo x > l",
    "patch -p1 < x; echo x > l",
    "git checkout other; echo hi > l/x",
    "git checkout other -- l && sed -i s/a/b/ l",
    "git -C sub checkout other; echo hi > sub/l",
    "cd sub && git switch other && echo hi > ../l",
    "git clone https://x/y; echo hi > y/l",
    "git clone https://x/y.git z && cp b.py z/",
    "git worktree add wt; echo hi > wt/l",
    "git stash pop; echo hi > l",
    "git apply p.diff && mkdir -p l/x",
    "git restore l; rm -rf l/x",
    "git pull; rm -rf l/",
    "git reset --hard x; mv b.py l",
    "git checkout -b x origin/x && touch l",
    "gh pr checkout 1 && echo x > l",
    "hg update x; echo x > l",
    "sh -c 'tar xf a; echo > l'",
    "sh -c 'tar xf a'; echo > l",
    "sudo tar xf a; echo > l",
    "for i in 1 2; do echo > l; tar xf a; done",
    "f() { echo > l; }; tar xf a; f",
    "(sleep 1; echo > l) & tar xf a",
    "trap 'echo > l' EXIT; tar xf a",
    "touch $(tar xf a) l",
    "tar xf a | tee l",
    "cp -r src y && sed -i s/a/b/ y/a.py",
    "mv b.py c.py && sed -i s/a/b/ c.py",
    "rsync -av src/ out/ && sed -i s/a/b/ out/a.py",
]


@pytest.mark.parametrize("command", WRITTEN_THROUGH)
def test_a_write_below_what_the_command_makes_needs_a_user(linked: Engine, command: str) -> None:
    found = linked.bash(command, allow=RULES)
    assert (found.behavior, found.reason) == (Behavior.ASK, Reason.SCOPE_BOUNDS_VIOLATION)
    assert linked.bash(command, allow=RULES, mode=Mode.BYPASS).behavior is Behavior.ASK


EVERYDAY = [
    "cp b.py c.py && cat c.py",
    "cp b.py c.py && echo x >> c.py",
    "mkdir -p x && cp -r src x && ls x",
    "cp -r src sub/ && rm -rf src",
    "cp -r dir y && ls y && rm -rf y",
    "mv dir y && rm -rf y",
    "git checkout main && npm test",
    "git checkout -b new && touch new.py && git add new.py",
    "git switch -c new && sed -i s/a/b/ b.py",
    "git pull && rm -rf node_modules && npm ci",
    "git fetch && git rebase origin/main && npm test",
    "git diff > p.diff && git checkout main && git apply p.diff",
    "git stash && npm test; git stash pop",
    "git stash list > x",
    "git add . && git commit -m x && echo done > log.txt",
    "git reset HEAD~1 && echo > x",
    "git apply --check p.diff && echo fine > log.txt",
    "git clone https://github.com/x/y.git && echo done > log",
    "git clone git@x.y:x/y.git && cd y && mkdir build && cd build && cmake ..",
    "tar xf a.tgz && cd a && make",
    "curl -LO https://x/a.tgz && tar xzf a.tgz && rm a.tgz",
    "curl -L https://x/a.tgz -o a.tgz && tar xzf a.tgz -C sub && rm -f a.tgz",
    "(curl -O https://x/a.tgz; tar xf a.tgz)",
    "tar tf a > list.txt",
    "tar czf a.tgz src && echo done > log.txt",
    "unzip -q a.zip && rm a.zip",
    "unzip -l a.zip > list.txt",
    "tar xf a -C sub; echo > sub/../x",
    "if tar xf a; then echo fine; fi && cat l/x",
]


@pytest.mark.parametrize("command", EVERYDAY)
def test_reads_and_writes_elsewhere_continue(linked: Engine, command: str) -> None:
    found = linked.bash(command, allow=RULES)
    assert found.behavior is Behavior.ALLOW, found.message
