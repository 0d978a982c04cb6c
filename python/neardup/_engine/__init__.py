"""What the public tasks share, and no user imports."""
