"""How times are taken: inputs, reference, timer, passes, clocks and the host's fingerprint."""
