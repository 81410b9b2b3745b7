"""Who answers a remaining ask: hooks, classifiers, bridge, channel, dialog."""
