"""Plans Helm charts by rendering them: see docs/agents/helm.md."""
