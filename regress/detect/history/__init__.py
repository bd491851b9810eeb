"""Detectors of the history: steps, drift and recoveries in many series at once."""
