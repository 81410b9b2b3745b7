"""What keys do on the main screen."""
