"""What users call: each task over data in memory or over files."""
