"""What the library uses of the program: settings, models, gate, and its agent."""
