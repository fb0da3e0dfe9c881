"""A fake HCP Terraform: organizations, workspaces, uploads, runs and what they come to.

An ASGI application without a framework: `kit.http.in_process(fake)` is a transport for clients,
and any ASGI server puts it on a socket. Held against the published schema in
tests/contract/test_terraform_cloud_fake.py.
"""
