"""Everyday work that must run without a question: an engine that always asks fails too."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior
from permissions.mode import Mode
from tests.permissions.engine import Engine

HEREDOC_COMMIT = """git commit -m "$(cat <<'EOF'
fix: it's `done` $(not run)

more (text); with "marks" & <angles>
EOF
)\""""

ALLOWED = [
    ("git status", ["Bash(git status)"]),
    ("git status -s", ["Bash(git status *)"]),
    ("git status", ["Bash(git status:*)"]),
    ("git diff HEAD~1 -- src", ["Bash(git diff *)"]),
    ("git log --oneline -5 | head -3", ["Bash(git log *)", "Bash(head *)"]),
    ("git push origin main", ["Bash(git push *)"]),
    ("git add -A && git commit -m 'x; rm -rf /'", ["Bash(git add *)", "Bash(git commit *)"]),
    (HEREDOC_COMMIT, ["Bash(git commit *)", "Bash(cat *)"]),
    ("git -C sub status", ["Bash(git *)"]),
    ("git status # where are we; rm -rf /", ["Bash(git status)"]),
    ("git fetch origin && git rebase origin/main", ["Bash(git *)"]),
    ("git stash list", ["Bash(git stash *)"]),
    ("git show HEAD:src/a.py", ["Bash(git show *)"]),
    ("npm test", ["Bash(npm test *)"]),
    ("npm ci && npm run build && npm test", ["Bash(npm *)"]),
    ("npm run test:unit", ["Bash(npm run test:unit)"]),
    ("npm run build -- --watch=false", ["Bash(npm run build *)"]),
    ("npm test || true", ["Bash(npm test)"]),
    ("cd sub && npm test", ["Bash(npm test)"]),
    ("(cd sub && npm test)", ["Bash(npm test)"]),
    ("NODE_ENV=test CI=1 npm test", ["Bash(npm test)"]),
    ("FOO=1 npm test", ["Bash(FOO=1 npm test)"]),
    ("LC_ALL=C sort src/a.py", ["Bash(sort *)"]),
    ("yarn install", ["Bash(yarn *)"]),
    ("pytest", ["Bash(pytest *)"]),
    ("pytest tests -k 'a and not b' -x -q 2>&1 | tail -20", ["Bash(pytest *)", "Bash(tail *)"]),
    ("PYTHONUNBUFFERED=1 python -m pytest", ["Bash(python -m pytest *)"]),
    ("timeout 60 pytest -q", ["Bash(pytest *)"]),
    ("timeout 60 pytest -q", ["Bash(timeout 60 pytest *)"]),
    ("time nice -n 5 pytest", ["Bash(pytest)"]),
    ("cargo build --release 2>/dev/null", ["Bash(cargo build *)"]),
    ("cargo test -- --nocapture", ["Bash(cargo *)"]),
    ("RUST_BACKTRACE=1 cargo test", ["Bash(cargo test *)"]),
    ("make -j4 test", ["Bash(make *)"]),
    ("make test >/dev/null 2>&1", ["Bash(make test)"]),
    ("go build -o bin/app ./cmd/app", ["Bash(go build *)"]),
    ("curl -s https://x.y/z | jq '.a[] | .b'", ["Bash(curl *)", "Bash(jq *)"]),
    ("cat src/a.py | grep -n x | wc -l", ["Bash(cat *)", "Bash(grep *)", "Bash(wc *)"]),
    ("find . -name '*.py' -not -path './x/*'", ["Bash(find *)"]),
    ("find . -name '*.py' | xargs grep -l foo", ["Bash(find *)", "Bash(grep *)"]),
    ("sed -n '1,20p' src/a.py", ["Bash(sed *)"]),
    ("sed 's/a/b/g; /x/d' src/a.py", ["Bash(sed *)"]),
    ("awk -F, '{print $1, $2}' src/a.py", ["Bash(awk *)"]),
    ("sort src/a.py | uniq -c", ["Bash(sort *)", "Bash(uniq *)"]),
    ("tar tzf x.tgz", ["Bash(tar *)"]),
    ("rm -rf build/*.o", ["Bash(rm *)"]),
    ("mkdir -p build && cp src/a.py build/", ["Bash(mkdir *)", "Bash(cp *)"]),
    ("ls *.py", ["Bash(ls *)"]),
    ("ls -la src/{a,b}.py", ["Bash(ls *)"]),
    ("ls $HOME", ["Bash(ls *)"]),
    ('echo "$(date)"', ["Bash(echo *)", "Bash(date)"]),
    ("echo $((1 + 2))", ["Bash(echo *)"]),
    ('for f in a b; do echo "$f"; done', ["Bash(echo *)"]),
    ("if [ -f a ]; then npm test; fi", ["Bash([ *)", "Bash(npm test)"]),
    ('while read -r l; do echo "$l"; done < src/a.py', ["Bash(read *)", "Bash(echo *)"]),
    ("cat <<'EOF' | python3 -\nprint(1)\nEOF", ["Bash(cat *)", "Bash(python3 *)"]),
    ("python3 - <<'PY'\nimport os\nprint(os.getcwd())\nPY", ["Bash(python3 *)"]),
    ("cat > src/b.py <<'EOF'\nx = 1\nEOF", ["Bash(cat *)", "Edit(src/**)"]),
    ("npm test > out.txt", ["Bash(npm test)", "Edit(out.txt)"]),
    ("echo hi >> log/out.txt", ["Bash(echo *)", "Edit"]),
    ("diff <(ls src) <(ls sub)", ["Bash(diff *)", "Bash(ls *)"]),
    ("git status\ngit diff\n", ["Bash(git *)"]),
    ("docker ps", ["Bash(docker ps)"]),
    ("kubectl get pods -o json | jq .items", ["Bash(kubectl get *)", "Bash(jq *)"]),
    ("find . -delete", ["Bash(find . -delete)"]),
    ("find . -name '*.pyc' -delete", ["Bash(find . -name '*.pyc' -delete)"]),
    ("rm -rf src/*", ["Bash(rm *)"]),
    ("docker run --rm image rm -rf /cache", ["Bash(docker run *)"]),
    ("ssh host rm -rf /cache", ["Bash(ssh *)"]),
    ("sed -i s/a/b/ src/a.py", ["Bash(sed -i s/a/b/ src/a.py)"]),
    ("git -c core.pager=cat log", ["Bash(*)"]),
    ("$TOOL --version", ["Bash"]),
    ("cat /etc/hostname", ["Bash(cat *)"]),
    ("cat < /etc/hostname", ["Bash(cat)", "Read(//etc/**)"]),
    ("nohup npm start &", ["Bash(npm start)"]),
    ("! grep -q x src/a.py", ["Bash(grep *)"]),
    ("true && git status", ["Bash(git status)"]),
    ("[ -d build ] || mkdir build", ["Bash(mkdir *)"]),
    ("set -euo pipefail; npm test", ["Bash(npm test)"]),
    ("npm test || exit 1", ["Bash(npm test)"]),
    ("echo 'héllo → ✓' \"日本 $(date)\"", ["Bash(echo *)", "Bash(date)"]),
    ("python3 -c 'print(1)'", ["Bash(python3 *)"]),
    ("node -e 'console.log(1)'", ["Bash(node *)"]),
    ("./gradlew build", ["Bash(./gradlew *)"]),
    ("npx tsc --noEmit", ["Bash(npx tsc *)"]),
    ("git log --format='%h %s' -n 5", ["Bash(git log *)"]),
    ("tar -czf out.tgz src", ["Bash(tar *)"]),
    ("grep -rn --include='*.py' 'def x' . | sort -t: -k1,1 -u", ["Bash(grep *)", "Bash(sort *)"]),
    ("ls -la && pwd && whoami", ["Bash(ls *)", "Bash(pwd)", "Bash(whoami)"]),
    ("test -f src/a.py && cat src/a.py", ["Bash(cat *)"]),
    ("echo a\\ b 'c d' \"e f\"", ["Bash(echo *)"]),
    ('git commit -m "fix: a b"', ['Bash(git commit -m "fix: *")']),
    ("git commit -m 'fix: a b'", ['Bash(git commit -m "fix: *")']),
]


@pytest.mark.parametrize(("command", "rules"), ALLOWED, ids=lambda value: str(value)[:50])
def test_allowed_without_asking(engine: Engine, command: str, rules: list[str]) -> None:
    decision = engine.bash(command, allow=rules)
    assert decision.behavior is Behavior.ALLOW, decision.message


EDITS = [
    "mkdir -p build/x",
    "touch src/new.py",
    "rm -rf build",
    "rmdir build",
    "mv src/a.py src/b.py",
    "cp src/a.py sub/",
    "sed -i 's/a/b/' src/a.py",
    "rm -f build/*.o && mkdir build",
    "CI=1 mkdir out",
]


@pytest.mark.parametrize("command", EDITS)
def test_accept_edits_allows_file_commands_in_scope(engine: Engine, command: str) -> None:
    decision = engine.bash(command, mode=Mode.ACCEPT_EDITS)
    assert decision.behavior is Behavior.ALLOW, decision.message


NOT_EDITS = [
    "npm test",
    "rm $X",
    "xargs rm",
    "touch .git/hooks/pre-commit",
    "sed -i 's/a/b/e' src/a.py",
    "sed -i -f script src/a.py",
    "PATH=. rm x",
    "rm -rf *",
    "rm -rf .*",
    "mkdir a && npm test",
    "cp /etc/passwd src/",
    "chmod 777 src/a.py",
]


@pytest.mark.parametrize("command", NOT_EDITS)
def test_accept_edits_asks_about_the_rest(engine: Engine, command: str) -> None:
    assert engine.bash(command, mode=Mode.ACCEPT_EDITS).behavior is Behavior.ASK


READERS = ["Bash(cat *)", "Bash(wc *)", "Bash(head *)", "Bash(echo *)", "Bash(rm *)"]
MORE = ["Bash(read *)", "Bash(printf *)", "Bash(sort *)", "Bash(sh *)", "Bash(true)", "Bash([ *)"]

LOOPS = [
    'for f in *.py; do wc -l "$f"; done',
    'for f in *.py; do wc -l "${f}"; done',
    'for f in src/*.py sub/*.py; do echo "== $f"; head -5 "$f"; done',
    'for f in a.py src/{a,b}.py; do cat "$f" | wc -l; done',
    'for f in src/*; do [ -f "$f" ] && wc -l < "$f"; done',
    'for d in src sub; do for f in *.md; do cat "$f"; done; done',
]


@pytest.mark.parametrize("command", LOOPS)
def test_a_loop_over_files_may_read_them(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=[*READERS, *MORE])
    assert found.behavior is Behavior.ALLOW, found.message


UNSURE_LOOPS = [
    'for f in $X; do cat "$f"; done',
    'for f in $(ls); do cat "$f"; done',
    'for f in ~/*; do cat "$f"; done',
    "for f in *.py; do cat $f; done",
    'for f in *.py; do cat "/$f"; done',
    'for f in *.py; do cat "$f/../../x"; done',
    'for f in *.py; do rm "$f"; done',
    'for f in *.py; do echo x > "$f"; done',
    'for f in *.py; do "$f"; done',
    'for f in *.py; do sort "$f"; done',
    'for f in -o/etc/x; do sort "$f"; done',
    'for f in *.py; do sh -c "cat $f"; done',
    'for f in *.py; do f=/etc/passwd; cat "$f"; done',
    'for f in *.py; do f+=/x; cat "$f"; done',
    'for f in *.py; do ((f=1)); cat "$f"; done',
    'for f in *.py; do [[ f=1 -gt 0 ]]; cat "$f"; done',
    "for f in *.py; do [ -v 'a[f=1]' ]; cat \"$f\"; done",
    'for f in *.py; do echo ${f:=/etc/x}; cat "$f"; done',
    'for f in *.py; do read f; cat "$f"; done',
    'for f in *.py; do re"ad" f; cat "$f"; done',
    'for f in *.py; do $X f; cat "$f"; done',
    'for f in *.py; do printf -v f /etc/passwd; cat "$f"; done',
    'for f in *.py; do for f in /etc/*; do true; done; cat "$f"; done',
    'for f in *.py; do true; done; cat "$f"',
    'g() { f=/etc/passwd; }; for f in *.py; do g; cat "$f"; done',
    'trap "f=/etc/x" DEBUG; for f in *.py; do cat "$f"; done',
    'for PATH in *.py; do cat "$PATH"; done',
    'for f; do cat "$f"; done',
    'select f in *.py; do cat "$f"; done',
]


@pytest.mark.parametrize("command", UNSURE_LOOPS)
def test_a_loop_variable_that_may_be_anything_asks(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=[*READERS, *MORE])
    assert found.behavior is Behavior.ASK, found.message


def test_a_loop_meets_the_denies_of_what_it_reads(engine: Engine) -> None:
    command = 'for f in .e*; do cat "$f"; done'
    found = engine.bash(command, allow=READERS, deny=["Read(.env)"])
    assert found.behavior is Behavior.DENY
    outside = engine.bash('for f in /etc/*; do cat "$f"; done', allow=[], mode=Mode.BYPASS)
    assert outside.behavior is Behavior.ASK


@pytest.mark.parametrize(
    "command",
    ["cat n*", "cat < n*", 'for f in n*; do cat "$f"; done', 'for f in n*; do cat < "$f"; done'],
)
def test_a_pattern_that_could_name_what_a_rule_denies_asks(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash"], deny=["Read(./not-there)"])
    assert found.behavior is Behavior.ASK, found.message
    assert engine.bash(command, allow=["Bash"]).behavior is Behavior.ALLOW


COPIED_LINKS = [
    ("cp -P outlink y; echo hi > y/z", Behavior.ASK),
    ("cp -a outlink y && echo hi > y/z", Behavior.ASK),
    ("cp --no-dereference dangling y; echo hi > y", Behavior.ASK),
    ("cp -a src y && echo hi > y/a.py", Behavior.ASK),
    ("mkdir -p y && cp -r src y/ && echo hi > y/b", Behavior.ASK),
    ("cp src/a.py y; echo hi > y", Behavior.ALLOW),
]


@pytest.mark.parametrize(("command", "expected"), COPIED_LINKS, ids=str)
def test_a_copied_link_is_not_written_through(
    engine: Engine, command: str, expected: Behavior
) -> None:
    rules = ["Bash(cp *)", "Bash(echo *)", "Bash(mkdir *)", "Edit"]
    assert engine.bash(command, allow=rules).behavior is expected
    if expected is Behavior.ASK:
        assert engine.bash(command, mode=Mode.BYPASS).behavior is not Behavior.ALLOW
