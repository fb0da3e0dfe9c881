"""An agent for trials and benchmarks."""
