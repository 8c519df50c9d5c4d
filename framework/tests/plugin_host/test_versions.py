import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version as Packaged

from lockgate.plugin_host.versions import fits, parse_version, split_requirement

_numbers = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
_versions = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "", "", "1!"]),
    _numbers,
    st.sampled_from(["", "", "a1", "b0", "rc2", "-alpha.1"]),
    st.sampled_from(["", "", ".post0", "-1", ".r2"]),
    st.sampled_from(["", "", ".dev0", ".dev3"]),
)
_installed = st.builds("{}{}".format, _versions, st.sampled_from(["", "", "+local.1", "+ubuntu.2"]))


@given(_installed, _installed)
def test_versions_are_ordered_as_packaging_orders_them(one: str, other: str) -> None:
    """Two versions compare as they do in `packaging`."""
    assert (parse_version(one) < parse_version(other)) == (Packaged(one) < Packaged(other))
    assert (parse_version(one) == parse_version(other)) == (Packaged(one) == Packaged(other))


@given(_installed, st.sampled_from(["==", "!=", "<=", ">=", "<", ">", "~="]), _versions)
def test_specifiers_mean_what_they_mean_to_packaging(version: str, operator: str, wanted: str) -> None:
    """A version fits a specifier exactly when `packaging` says so, pre-releases counted."""
    specifier = f"{operator}{wanted}"
    try:
        expected = SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidSpecifier:
        with pytest.raises(ValueError, match="at least two numbers"):
            fits(version, specifier)
    else:
        assert fits(version, specifier) == expected


@given(_installed, st.sampled_from(["==", "!="]), _numbers)
def test_prefixes_mean_what_they_mean_to_packaging(version: str, operator: str, prefix: str) -> None:
    """``==1.2.*`` and ``!=1.2.*`` fit exactly when `packaging` says so."""
    specifier = f"{operator}{prefix}.*"
    assert fits(version, specifier) == SpecifierSet(specifier).contains(version, prereleases=True)


def test_all_specifiers_have_to_fit() -> None:
    """A list of specifiers is a conjunction, and an empty one asks for nothing."""
    assert fits("0.1.5", ">=0.1, <0.2")
    assert not fits("0.2", ">=0.1, <0.2")
    assert fits("0.1", "")
    assert fits("0.1.0+x", "===0.1.0+X")
    assert not fits("0.1.0", "===0.1")


@pytest.mark.parametrize("specifiers", [">=banana", "0.1", "=> 1", "~=1", "~=x", "==x.*", "<0.1,>=x"])
def test_what_cannot_be_read_is_said(specifiers: str) -> None:
    """An unreadable specifier raises, even behind one that already does not fit."""
    with pytest.raises(ValueError, match=r"not a version|at least two"):
        fits("0.1.0", specifiers)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("lockgate-framework>=0.1,<0.2", ("lockgate-framework", ">=0.1,<0.2", "")),
        ("Lockgate_Framework (>=0.1)", ("Lockgate_Framework", ">=0.1", "")),
        ("lockgate-framework[web, mail] ~= 0.1", ("lockgate-framework", "~= 0.1", "")),
        ("lockgate-framework", ("lockgate-framework", "", "")),
        ('lockgate-framework>=9; extra == "new"', ("lockgate-framework", ">=9", 'extra == "new"')),
        ("lockgate-framework @ file:///src/framework", ("lockgate-framework", "@ file:///src/framework", "")),
    ],
)
def test_a_requirement_is_taken_apart(line: str, parts: tuple[str, str, str]) -> None:
    """Name, specifiers and marker are told apart in every form that metadata has."""
    assert split_requirement(line) == parts


def test_a_requirement_begins_with_a_name() -> None:
    """A line that begins with no name is refused."""
    with pytest.raises(ValueError, match="not a requirement"):
        split_requirement(">=1")
