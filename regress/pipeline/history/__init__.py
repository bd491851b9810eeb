"""The whole of `history`: rounds of many releases in, a report of every change out."""
