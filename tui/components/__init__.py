"""Components of the screen: pure row makers, and the widgets that show their rows.

Start with `ink` (rows of styled text), then `transcript` and `composer`.
"""
