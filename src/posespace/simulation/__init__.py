"""Offline: a rig in, Examples out, by nonlinear finite elements. Nothing here is needed to play a skin."""
