"""Claims of two articles, each a named check on recorded rounds."""
