"""Steps that make a history smaller, each a pure function from messages to messages.

Every change of the past drops all thinking after it: thinking is bound to every byte before it.
"""
