"""The grammar of rules and the indexed set of them."""
