"""The command line. Each command is imported when it is called; help and version import nothing else."""

from lockgate.cli.entrance import cli, main

__all__ = ["cli", "main"]
