"""Runs a local `terraform` or `tofu` to see what it would do, and never to do it.

A plan runs code of the configuration (providers, external data, module sources): who calls this
decides whose configuration that may be.
"""
