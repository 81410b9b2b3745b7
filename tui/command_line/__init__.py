"""Options, subcommands, help."""
