"""What a shell command does, as far as that can be known without running it.

`parse` reads it, `flow` places every simple command with the directories it may run in, `wrappers`
looks through programs that run others, `programs` holds a record of each known program, and
`effects` answers questions from these records: what is read, written, risky or read-only.
"""
