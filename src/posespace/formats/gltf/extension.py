"""The name and versions of the library's own extension of glTF, which docs/drivers.md describes."""

EXTENSION = "POSESPACE_drivers"
JOINTS_ONLY, BONES_AND_DETAIL = 1, 2
"""Version 1: joints are the bones. Version 2: also learned bones, with their corrections, and detail."""
VERSIONS = (JOINTS_ONLY, BONES_AND_DETAIL)
