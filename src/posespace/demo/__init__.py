"""The whole story on the built-in hand, as `posespace demo` tells it."""
