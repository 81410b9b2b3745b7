"""Values that the library's other parts rest on."""
