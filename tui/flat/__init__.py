"""The program as labelled lines on the normal screen: for screen readers and simple terminals.

Nothing is drawn, moved or repainted: what is said is written once, from top to bottom. Next:
`tui.flat.session` (the conversation), `tui.flat.narrate` (events as lines), `tui.flat.ask`.
"""
