"""What the screen needs of a conversation, and commands of the screen."""
