"""What `posespace demo` does: everything once, on the built-in hand."""
