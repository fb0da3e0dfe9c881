"""HCP Terraform, Terraform Enterprise and what speaks as they do: speculative runs."""
