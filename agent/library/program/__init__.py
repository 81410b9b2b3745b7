"""What the library takes from the program: settings, models, gate, and its agent."""
