"""What a run produces: items, model responses, stream events."""
