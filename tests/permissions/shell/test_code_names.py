"""Files that code names which a program is given to run, held against rules about them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissions.decision import Behavior
from permissions.shell.access import AccessKind
from permissions.shell.effects.code_names import code_accesses, input_accesses
from permissions.shell.programs.sed import sed_script_reads
from permissions.shell.syntax import Word
from tests.permissions.engine import Engine

NAMED = [
    """python -c "open('.env')" """, """python3 -c 'print(open("src/../.env").read())'""",
    """node -e "require('fs').readFileSync('./.env', 'utf8')" """,
    """node -p "fs.readFileSync('.env')" """, """ruby -e 'puts File.read(".env")'""",
    """perl -e 'open F, "<.env"; print <F>'""", """php -r 'echo file_get_contents(".env");'""",
    """deno eval "Deno.readTextFileSync('.env')" """,
    """python - <<'E'\nprint(open(".env").read())\nE""", """python3 <<E\nopen(".env")\nE""",
    """echo 'print(open(".env").read())' | python3""",
    """cd src && python3 -u - <<'E'\nopen("../.env")\nE""",
    """awk '{ getline line < ".env"; print line }' x""",
    """awk 'BEGIN { ARGV[1] = ".env"; ARGC = 2 } 1'""", """sqlite3 :memory: ".read .env" """,
    """sqlite3 x.db "select readfile('.env')" """, "echo '.read .env' | sqlite3 x.db",
    "psql -c '\\i .env'", "vim -c 'r .env' -c q x", "vim -es '+r .env' '+%p' '+q!'",
    "ed -s x <<'E'\nr .env\n,p\nE", "sed 'r .env' x", "sed -e '$r .env' x", "sed '1R .env' x",
    "git add -f .env", "git stash push .env", "git stash show -p -- .env",
    """time python3 -c "open('.env')" """,
]  # fmt: skip


@pytest.mark.parametrize("command", NAMED)
def test_a_read_deny_sees_a_file_that_code_names(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash", "Edit", "Read"], deny=["Read(.env)"])
    assert found.behavior is Behavior.DENY, found.message
    assert engine.bash(command, allow=["Bash", "Edit", "Read"]).behavior is Behavior.ALLOW


OTHER_NAMES = [
    """python -c "print('a/b')" """, "python3 -c 'import sys; print(sys.version)'",
    """node -e "require('fs').readFileSync('package.json', 'utf8')" """, "git add .", "git add -A",
    "git add -u src", "git stash", "git stash push -m wip", """perl -pe 's/"a"/"b"/' src/a.py""",
    """python3 -c "import os; print(os.listdir('.'))" """, """awk '{ print "a" }' src/a.py""",
    """python3 -c "import glob; print(glob.glob('src/**/*.py'))" """, "sqlite3 x.db .tables",
    """psql -c "select 'a.b' || '.'" """, """echo '{"f": ".env"}' | python3 -m json.tool""",
    """echo '{"f": ".env"}' | python3 src/a.py""", """echo '".env"' | awk '{ print }'""",
    """python3 -m pytest -k "env" """, """git commit -F - <<'E'\nleave ".env" out\nE""",
    """cat <<'E'\nopen(".env")\nE""", """python3 - <<'E'\nprint("x")\nE""",
]  # fmt: skip


@pytest.mark.parametrize("command", OTHER_NAMES)
def test_what_else_stands_in_quotes_is_no_matter(engine: Engine, command: str) -> None:
    rules = ["Read(.env)", "Read(~/.ssh/**)", "Edit(./secrets/**)"]
    found = engine.bash(command, allow=["Bash"], deny=rules)
    assert found.behavior is Behavior.ALLOW, found.message


def test_a_name_in_code_is_no_matter_of_scope(engine: Engine) -> None:
    command = """python3 -c "open('/etc/hosts'); open('~/.netrc')" """
    assert engine.bash(command, allow=["Bash(python3 *)"]).behavior is Behavior.ALLOW
    assert engine.bash(command, allow=["Bash"], deny=["Read(~/.netrc)"]).behavior is Behavior.DENY


@given(st.text())
def test_code_only_ever_mentions(text: str) -> None:
    found = [*code_accesses([Word(text, text)]), *input_accesses(text)]
    assert {one.kind for one in found} <= {AccessKind.MENTIONED}


@pytest.mark.parametrize(
    ("script", "files"),
    [("r a", ["a"]), ("$r a b", ["a b"]), ("/x/R a\np", ["a"]), ("p", []), ("s/r a/b/", [])],
)
def test_what_a_sed_script_reads(script: str, files: list[str]) -> None:
    assert sed_script_reads(script) == files
