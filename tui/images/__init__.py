"""Images among the text, on terminals that show them.

Start with `tui.images.inline_images`; why it is made so: decision 0051.
"""
