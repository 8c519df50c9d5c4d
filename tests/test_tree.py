"""What holds for the whole tree: sizes, docstrings, exemptions, packaging, pins, what no file may name."""

import ast
import importlib.metadata
import io
import re
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
MIN_DOCUMENTED_SHARE = 0.95

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree_files() -> tuple[Path, ...]:
    """Every file of the project: what git knows or would add, or everything in an unpacked archive."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0:
        found = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    else:
        found = [path for path in ROOT.rglob("*") if not path.relative_to(ROOT).parts[0].startswith(".venv")]
    return tuple(sorted(path for path in found if path.is_file()))


@cache
def python_files() -> tuple[Path, ...]:
    """Every Python module of the project, tests included."""
    return tuple(path for path in tree_files() if path.suffix == ".py")


@cache
def source_files() -> tuple[Path, ...]:
    """The modules of the packages, without tests and benchmarks."""
    folders = [folder for folder in distributions() if folder != ROOT]
    return tuple(
        path
        for path in python_files()
        if any(path.is_relative_to(folder) for folder in folders) and not {"tests", "benchmarks"} & set(path.parts)
    )


@cache
def distributions() -> tuple[Path, ...]:
    """The folders of all distributions, the root first."""
    found = [ROOT, ROOT / "framework", *sorted(ROOT.glob("plugins/*")), *sorted(ROOT.glob("contrib_tools/*"))]
    return tuple(folder for folder in found if (folder / "pyproject.toml").is_file())


def project(folder: Path) -> dict[str, Any]:
    """The `[project]` table of a distribution."""
    table: dict[str, Any] = toml(folder)["project"]
    return table


def toml(folder: Path) -> dict[str, Any]:
    """All of a distribution's `pyproject.toml`."""
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))


def relative(path: Path) -> str:
    """A path as it is shown: from the top of the tree."""
    return path.relative_to(ROOT).as_posix()


@cache
def lines_of(path: Path) -> tuple[str, ...]:
    """The lines of a text file."""
    return tuple(path.read_text("utf-8").splitlines())


def functions_of(path: Path) -> Iterator[Function]:
    """Every function of a module, nested ones and methods included."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, Function):
            yield node


def explains_its_length(path: Path, function: Function) -> bool:
    """Whether `# long:` and a reason stand on the line of `def` or the line above it."""
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    lines = lines_of(path)
    candidates = [lines[function.lineno - 1], *([lines[first - 2]] if first > 1 else [])]
    return any(re.search(r"#\s*long:\s*\w+", line) for line in candidates)


# --- sizes and words ----------------------------------------------------------------------------------------


def test_no_module_is_over_the_limit_of_lines() -> None:
    """A module has at most 500 lines."""
    sizes = {relative(path): len(lines_of(path)) for path in python_files()}
    assert sizes, "no modules found"
    assert {name: size for name, size in sizes.items() if size > MAX_MODULE_LINES} == {}


def test_no_function_is_over_the_limit_without_a_reason() -> None:
    """A function has at most 60 lines, or a `# long:` comment that says why."""
    too_long = [
        f"{relative(path)}:{function.lineno} {function.name}: {length} lines"
        for path in python_files()
        for function in functions_of(path)
        if (length := (function.end_lineno or function.lineno) - function.lineno + 1) > MAX_FUNCTION_LINES
        and not explains_its_length(path, function)
    ]
    assert too_long == []


def test_every_package_says_what_it_is_for() -> None:
    """The `__init__.py` of every package exists and opens with a docstring."""
    folders = {path.parent for path in source_files()}
    assert folders, "no packages found"
    silent = [
        relative(folder)
        for folder in sorted(folders)
        if not (folder / "__init__.py").is_file()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_bytes()))
    ]
    assert silent == []


def test_public_functions_are_documented() -> None:
    """At least 95 % of the public functions and methods of the packages have a docstring."""
    bare = []
    total = 0
    for path in source_files():
        for function in public_functions(ast.parse(path.read_bytes())):
            total += 1
            if not ast.get_docstring(function):
                bare.append(f"{relative(path)}:{function.lineno} {function.name}")
    assert total, "no public functions found"
    assert len(bare) <= (1 - MIN_DOCUMENTED_SHARE) * total, bare


def public_functions(module: ast.Module | ast.ClassDef) -> Iterator[Function]:
    """Functions and methods without a leading underscore, less overloads and setters, which repeat others."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node)
        elif isinstance(node, Function) and not node.name.startswith("_"):
            marks = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
            if not marks & {"overload", "override", "setter"}:
                yield node


def test_every_test_states_its_behaviour() -> None:
    """The docstring of every test says in a sentence what holds."""
    silent = [
        f"{relative(path)}:{function.lineno} {function.name}"
        for path in python_files()
        if path.name.startswith("test_")
        for function in functions_of(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


def test_every_exemption_names_its_rule_and_its_reason() -> None:
    """`noqa` and `type: ignore` name a rule, and words after it say why."""
    rule = r"(?:noqa:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*|type:\s*ignore\[[\w\-, ]+\])"
    explained = re.compile(rf"#\s*{rule}\W+\w+\W+\w+")
    silent = [
        f"{relative(path)}:{token.start[0]} {token.string}"
        for path in python_files()
        for token in tokenize.tokenize(io.BytesIO(path.read_bytes()).readline)
        if token.type == tokenize.COMMENT
        and re.search(r"#\s*(?:noqa\b|type:\s*ignore\b)", token.string)
        and not explained.search(token.string)
    ]
    assert silent == []


def test_modules_of_tests_have_names_of_their_own() -> None:
    """No two modules in test folders share a name: they are imported without packages."""
    seen: dict[str, str] = {}
    twice = []
    for path in python_files():
        if path.parent.name == "tests" and path.name != "conftest.py":
            if path.name in seen:
                twice.append((seen[path.name], relative(path)))
            seen[path.name] = relative(path)
    assert seen
    assert twice == []


# --- packaging ----------------------------------------------------------------------------------------------


def test_the_root_brings_every_part() -> None:
    """The list of parts in the root names each distribution of the tree with its folder."""
    listed = toml(ROOT)["tool"]["hatch"]["metadata"]["hooks"]["custom"]["parts"]
    found = {project(folder)["name"]: relative(folder) for folder in distributions() if folder != ROOT}
    assert found
    assert listed == found


def test_tools_look_at_every_part() -> None:
    """Tests, types and import contracts cover each distribution of the tree."""
    tool = toml(ROOT)["tool"]
    for folder in distributions():
        if folder == ROOT:
            continue
        assert f"{relative(folder)}/tests" in tool["pytest"]["ini_options"]["testpaths"]
        assert f"$MYPY_CONFIG_FILE_DIR/{relative(folder)}" in tool["mypy"]["mypy_path"]
        package = toml(folder)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"][0]
        assert package in tool["importlinter"]["root_packages"]
        assert package in tool["coverage"]["run"]["source_pkgs"]
        assert package in tool["ruff"]["lint"]["isort"]["known-first-party"]


@pytest.mark.parametrize("folder", distributions(), ids=relative)
def test_a_distribution_is_complete(folder: Path) -> None:
    """Each distribution has the version of the tree, a README, a licence, and hatchling as its builder."""
    table = project(folder)
    assert table["version"] == project(ROOT)["version"]
    assert table["license"] == "Apache-2.0"
    assert (folder / table["readme"]).is_file()
    assert toml(folder)["build-system"]["build-backend"] == "hatchling.build"
    assert table["requires-python"] == ">=3.11"


@pytest.mark.parametrize(
    "folder", [f for f in distributions() if f not in (ROOT, ROOT / "framework")], ids=relative
)
def test_a_plugin_is_found_and_names_the_framework_by_version(folder: Path) -> None:
    """A plugin has an entry point to its own module, ships types, asks for the framework by version."""
    table = project(folder)
    package = toml(folder)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"][0]
    entry_points = table["entry-points"]["lockgate"]
    assert len(entry_points) == 1
    (module,) = entry_points.values()
    assert module == f"{package}.plugin"
    assert (folder / package / "plugin.py").is_file()
    assert (folder / package / "py.typed").is_file()
    requirements = {need.name: need for need in map(Requirement, table["dependencies"])}
    framework = requirements["lockgate-framework"]
    assert framework.url is None
    assert framework.specifier.contains(project(ROOT)["version"])


# --- pins ---------------------------------------------------------------------------------------------------


@cache
def pins() -> dict[str, str]:
    """The pinned versions by normalized name; anything that is not `name==version` fails."""
    found: dict[str, str] = {}
    for line in lines_of(ROOT / "constraints.txt"):
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)", line)
            assert match, f"not name==version: {line!r}"
            found[canonicalize_name(match[1])] = match[2]
    return found


def test_everything_that_is_installed_for_the_tree_is_pinned() -> None:
    """Each package that parts and tools bring, also through others, has its version in constraints.txt."""
    own = {canonicalize_name(project(folder)["name"]) for folder in distributions()}
    names = [name for folder in distributions() for name in project(folder).get("dependencies", ())]
    waiting = [Requirement(name) for name in [*names, *toml(ROOT)["dependency-groups"]["dev"]]]
    assert waiting
    wrong = {}
    seen = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        wanted = {"", *requirement.extras}
        if name in own or (name, *sorted(wanted)) in seen:
            continue
        seen.add((name, *sorted(wanted)))
        installed = importlib.metadata.distribution(name)
        if pins().get(name) != installed.version:
            wrong[name] = (pins().get(name), installed.version)
        needs = [Requirement(text) for text in installed.requires or ()]
        waiting += [
            need
            for need in needs
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in wanted)
        ]
    assert wrong == {}


# --- what no file may name ----------------------------------------------------------------------------------

# Written in pieces, so that this file does not name what it looks for.
REGISTRIES = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "deb.deb" + "ian.org",
    "crates" + ".io",
    "proxy.go" + "lang.org",
    "ana" + "conda.org",
]
FORBIDDEN = re.compile(
    "|".join(
        [
            *(re.escape(host) for host in REGISTRIES),
            r"(?<![\w.\-/>}])/(?:" + "|".join(["ro" + "ot", "wo" + "rk"]) + r")(?:/|\b(?![\w\-]))",
            r"(?<![\w.\-/>}])/(?:" + "|".join(["ho" + "me", "Us" + "ers"]) + r")/\w",
        ]
    )
)


def test_no_file_names_a_registry_or_a_folder_of_one_machine() -> None:
    """Files speak of no package registry's host and of no path that exists on somebody's machine only."""
    named = []
    for path in tree_files():
        try:
            lines = lines_of(path)
        except UnicodeDecodeError:
            continue  # pictures and the like
        hits = [(number, FORBIDDEN.search(line)) for number, line in enumerate(lines, 1)]
        named += [f"{relative(path)}:{number} {hit[0]}" for number, hit in hits if hit]
    assert named == []


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("see https://" + REGISTRIES[0] + "/project/x", True),
        ("cd /wo" + "rk/main", True),
        ("in /ro" + "ot.", True),
        ("at /ho" + "me/jane/x", True),
        ("https://example.org/wo" + "rk/plan", False),
        ("/wo" + "rkshop", False),
        ("the /ho" + "me page", False),
    ],
)
def test_forbidden_names_are_told_from_harmless_ones(text: str, is_found: bool) -> None:
    """Absolute paths and registry hosts are found; addresses with such a path are left alone."""
    assert bool(FORBIDDEN.search(text)) is is_found
