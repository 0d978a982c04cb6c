"""The functions of users: each task over data in memory or over files."""
