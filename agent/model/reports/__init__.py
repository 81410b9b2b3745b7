"""What servers of other makes report about their models, each in its own form."""
