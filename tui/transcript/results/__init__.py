"""What results hold that a card shows by itself: how much there is, tests, images."""
