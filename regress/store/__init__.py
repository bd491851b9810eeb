"""Round files: where they lie, whether they can be trusted, which may be compared."""
