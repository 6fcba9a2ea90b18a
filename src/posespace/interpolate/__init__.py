"""Interpolators over a pose space: distances, radial functions, the fits, and what a fit leaves to be played."""
