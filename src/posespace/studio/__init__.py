"""The server of the interactive page: what it does for the page's tools."""
