"""GitHub: one comment per deployment and pull request, and checks."""
