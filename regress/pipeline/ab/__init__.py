"""`ab`: what is measured next, and what a run says."""
