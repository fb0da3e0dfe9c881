"""Plans Terraform configurations with a local program: see docs/agents/terraform.md."""
