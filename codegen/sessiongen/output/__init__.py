"""The output folder: writing, comparing, caching, and the tools that shape it."""
