"""One prompt's run: model, tools, model again."""
