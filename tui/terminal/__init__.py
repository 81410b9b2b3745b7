"""The terminal around the screen: title, bell, clipboard, background."""
