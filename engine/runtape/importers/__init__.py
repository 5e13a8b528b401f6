"""Traces that something else recorded, read into this project's own: one file per format, one intermediate."""
