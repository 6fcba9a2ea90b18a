"""Retargeting: one character's change of deformation done to another."""
