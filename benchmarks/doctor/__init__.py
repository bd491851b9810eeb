"""Is this host fit to measure? `load_host` reads it once, `examine` applies pure rules."""
