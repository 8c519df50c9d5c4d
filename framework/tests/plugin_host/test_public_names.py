import pytest

from lockgate import plugin_host


@pytest.mark.parametrize("name", plugin_host.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """A name that is loaded when it is asked for leads somewhere."""
    assert getattr(plugin_host, name) is not None


def test_no_other_name_is_there() -> None:
    """A misspelt name is an AttributeError, as in any module."""
    with pytest.raises(AttributeError, match="PluginHosts"):
        _ = plugin_host.PluginHosts
