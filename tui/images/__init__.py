"""Images in the transcript, on terminals that support them.

Start with `tui.images.inline_images`; decision 0051 gives the reasons.
"""
