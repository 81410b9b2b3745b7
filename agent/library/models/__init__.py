"""The models that agents run on."""
