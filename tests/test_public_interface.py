"""The public interface: one pinned list, and packs that stand on it alone."""

import ast
from pathlib import Path

import pytest

import lockgate

ROOT = Path(__file__).parent.parent
PUBLIC_MODULES = {"lockgate", "lockgate.documents", "lockgate.retrieval"}
PACKS = sorted(path.parent for pattern in ("plugins/*/pyproject.toml", "contrib_tools/*/pyproject.toml")
               for path in ROOT.glob(pattern))  # fmt: skip


def test_the_public_list_is_pinned_and_every_name_loads() -> None:
    """Who changes what others stand on changes ``public_names.txt`` too. A name that is listed is there."""
    assert lockgate.__all__ == (ROOT / "tests" / "public_names.txt").read_text().split()
    assert all(getattr(lockgate, name) is not None for name in lockgate.__all__)
    assert set(lockgate.__all__) <= set(dir(lockgate))
    with pytest.raises(AttributeError, match="no attribute 'nothing_like_it'"):
        lockgate.nothing_like_it  # type: ignore[attr-defined] # noqa: B018 - the name does not exist


@pytest.mark.parametrize("pack", PACKS, ids=lambda path: path.name)
def test_a_pack_of_ours_gets_no_privilege(pack: Path) -> None:
    """Its modules import only what anybody's may."""
    package = next(path.parent for path in pack.glob("*/plugin.py"))
    seen = 0
    for module in package.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_bytes())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                if name == "lockgate" or name.startswith("lockgate."):
                    seen += 1
                    assert name in PUBLIC_MODULES, f"{module}: {ast.unparse(node)}"
    assert seen, "a pack that imports nothing of lockgate"


@pytest.mark.parametrize("pack", PACKS, ids=lambda path: path.name)
def test_a_plugin_module_imports_the_marker_and_nothing_else(pack: Path) -> None:
    """Everything else is imported inside the hook functions, when their kind is first asked for."""
    module = next(pack.glob("*/plugin.py"))
    for node in ast.parse(module.read_bytes()).body:
        if isinstance(node, ast.ImportFrom):
            allowed = {"lockgate": {"hookimpl"}, "typing": {"TYPE_CHECKING", "Any"}}
            names = {alias.name for alias in node.names}
            standard = node.module == "collections.abc"
            assert standard or names <= allowed.get(node.module or "", set()), f"{module}: {ast.unparse(node)}"
