"""GitHub's pull requests, events and spellings of repositories, as values."""
