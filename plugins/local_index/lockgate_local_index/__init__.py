"""The passage store for one machine: a single SQLite file that finds passages by their words."""
