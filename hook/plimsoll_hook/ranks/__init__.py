"""Ranks of a job, its process groups, and ranks that do not run."""
