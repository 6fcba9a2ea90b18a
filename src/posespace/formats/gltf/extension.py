"""The name and version of the library's own extension of glTF, which docs/drivers.md describes."""

EXTENSION = "POSESPACE_drivers"
VERSION = 1
