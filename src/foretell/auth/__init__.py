"""WHO MAY: tokens, roles, and the question at the door; shared by the API and the pages."""
