"""Earlier sessions: lists, finds, shows and exports them."""
