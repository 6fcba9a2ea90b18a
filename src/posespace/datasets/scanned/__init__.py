"""Scans with known truth: the simulated hands made fine and wrinkled, then scanned."""
