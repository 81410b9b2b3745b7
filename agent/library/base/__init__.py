"""Types and functions that the library's other packages build on."""
