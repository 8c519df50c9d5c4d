"""A pack of tests: what a stranger may publish."""
