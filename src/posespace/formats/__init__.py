"""One file a format: each reads a file into Contents."""
