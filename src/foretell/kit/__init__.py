"""WHAT THE ADAPTERS SHARE: one door each to HTTP, child processes, git."""
