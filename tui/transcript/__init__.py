"""The transcript: view data, layout, widget, search."""
