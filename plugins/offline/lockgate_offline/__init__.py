"""Lockgate's embedded provider: a reader that answers with quoted sentences. It is no language model."""
