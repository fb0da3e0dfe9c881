"""WHO JUDGES: rule engines behind the Validator port."""
