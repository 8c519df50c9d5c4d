"""The tool `semantic_search`, and the data sources that lie on the user's machine."""
