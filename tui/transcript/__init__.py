"""The transcript: view model, layout, widget, search."""
