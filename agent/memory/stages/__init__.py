"""Steps that make a history smaller, each a pure function from messages to messages.

Every change drops all thinking after it, which is bound to every byte before it.
"""
