"""Terraform and OpenTofu plans as `show -json` prints them: read, count, judge, name, show.

Source: Terraform "JSON Output Format", plan representation, formats 0.1 to 1.x; OpenTofu the same
with its own additions. Everything read from such JSON is plain text and secret until `redacted`.
"""
