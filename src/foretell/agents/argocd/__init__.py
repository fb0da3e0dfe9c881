"""Plans what Argo CD would deploy, by asking it: see docs/agents/argo-cd.md."""
