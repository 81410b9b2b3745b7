"""The only way from a confined program to a network: a namespace of the session and our proxy."""
