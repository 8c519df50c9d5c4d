"""The two marks: of a hook implementation, and of a hook specification."""

import pluggy

PROJECT = "lockgate"

hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function as the implementation of the hook it is named after. All that a plugin's module imports."""

hookspec = pluggy.HookspecMarker(PROJECT)
"""Marks a function as the specification of a hook; for packs that let others contribute to them."""
