"""Functions of the terminal apart from the screen: title, bell, clipboard, background."""
