"""`step-cost`: what a deployment's decode step pays for attention."""
