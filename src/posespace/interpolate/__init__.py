"""Interpolators over a pose space: distances, kernels, the fits, and the fitted interpolants that are played."""
