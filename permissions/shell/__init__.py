"""What a shell command does, as far as that can be known without running it.

`parse` reads it, `flow` places every simple command with the folders it may run in, `unwrap` looks
through wrappers, `accesses` lists the files it touches, `risky_options` and `read_only` are tables.
"""
