"""`calibrate`: the suite measures its own error rates."""
