"""The screen reader mode: labeled lines on the normal screen, also for simple terminals.

Nothing is drawn, moved or repainted: output is written once, from top to bottom. Next:
`tui.screen_reader.session` (the conversation), `tui.screen_reader.event_lines` (events as lines),
`tui.screen_reader.dialogs`.
"""
