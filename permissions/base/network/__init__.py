"""Which addresses are internal, and connections that avoid them."""
