"""`explain` and `model`: plans, reasons, and predicted times."""
