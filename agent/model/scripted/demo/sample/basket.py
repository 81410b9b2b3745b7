"""A shopping basket that knows its total, in cents."""


class Basket:
    """Items with a price and a number of pieces."""

    def __init__(self):
        self.lines = []

    def add(self, name, price_cents, pieces=1):
        """Put pieces of an item into the basket."""
        if pieces < 1:
            raise ValueError("pieces must be at least 1")
        self.lines.append((name, price_cents, pieces))

    def total(self):
        """Return the price of everything in the basket, in cents."""
        return sum(price_cents for _, price_cents, _ in self.lines)
