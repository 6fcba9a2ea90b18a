"""Bone transforms, compiled: learned bones, and dual quaternion blending."""
