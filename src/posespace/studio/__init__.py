"""The studio: a page to pose, sculpt and solve in, and the local server that holds the project behind it."""
