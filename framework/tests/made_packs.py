"""Makes the pack of a stranger in a folder: modules, and the metadata that an installer would have written."""

from pathlib import Path


def make_pack(folder: Path, name: str, code: str, **groups: str) -> str:
    """Write a pack with one module and return what belongs into ``PYTHONPATH``.

    Args:
        folder: Where packs lie; several may share it.
        name: Of the distribution; the module has underscores instead of hyphens.
        code: The module.
        groups: Group of entry points, ``_`` for ``.``, to its lines: ``lockgate="x = module"``.
    """
    folder.mkdir(exist_ok=True)
    (folder / f"{name.replace('-', '_')}.py").write_text(code, "utf-8")
    metadata = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", "utf-8")
    points = "".join(f"[{group.replace('_', '.')}]\n{lines}\n" for group, lines in groups.items())
    (metadata / "entry_points.txt").write_text(points, "utf-8")
    return str(folder)


HANGING_TOOLS = '''
import asyncio, time
from lockgate import hookimpl, tool

@tool
def sleep() -> str:
    """Sleeps in a thread of the framework."""
    time.sleep(1000)
    return ""

@tool
async def sleep_elsewhere() -> str:
    """Sleeps in a thread that Python would wait for at its end."""
    await asyncio.to_thread(time.sleep, 1000)
    return ""

@tool
async def block() -> str:
    """Sleeps on the event loop, so that nothing can be cancelled any more."""
    time.sleep(1000)
    return ""

@hookimpl
def lockgate_tools():
    return [sleep, sleep_elsewhere, block]
'''
"""A pack whose tools never end."""
