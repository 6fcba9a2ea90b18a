"""Pose space deformation: sculpts interpolated over the poses they were made for."""
