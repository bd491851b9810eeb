"""The pages, one kind a file: each takes the subject and yields pages."""
