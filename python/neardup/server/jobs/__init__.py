"""Checks of papers, which take longer than a request."""
