"""The player on the processor."""
