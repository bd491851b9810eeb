"""How well change points are found: generated and real series, our detectors and others."""
