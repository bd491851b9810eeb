"""What a night shows, as alerts and as proofs that something is well; no I/O on GitHub here."""
