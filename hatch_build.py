"""Names the parts that the `lockgate` distribution brings.

In a clone the parts are the folders beside this file, so that `pip install .` installs what is checked out.
In a released source archive those folders are absent, and the parts are asked for by name and exact version.
"""

import os
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELEASE_VARIABLE = "LOCKGATE_RELEASE"
"""Set to 1 by `make dist`, which builds in a clone what is meant for machines without the clone's folders."""


class PartsHook(MetadataHookInterface):
    """Fills in `dependencies` of the root distribution."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds one requirement for each part to the project table.

        Args:
            metadata: The `[project]` table as read so far; it already holds the version.

        Raises:
            ValueError: If a clone lacks the folder of a part that `pyproject.toml` lists.
        """
        parts: dict[str, str] = self.config["parts"]
        folders = {name: Path(self.root, folder) for name, folder in parts.items()}
        present = [name for name, folder in folders.items() if (folder / "pyproject.toml").is_file()]
        if os.environ.get(RELEASE_VARIABLE) == "1" or not present:
            version = metadata["version"]
            metadata["dependencies"] = [f"{name}=={version}" for name in parts]
            return
        missing = [parts[name] for name in parts if name not in present]
        if missing:
            raise ValueError(f"This clone is incomplete: no pyproject.toml in {', '.join(missing)}.")
        metadata["dependencies"] = [f"{name} @ {folder.as_uri()}" for name, folder in folders.items()]
