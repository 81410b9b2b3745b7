"""Which addresses are internal, and connections that keep away from them."""
