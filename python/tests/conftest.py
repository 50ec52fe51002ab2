"""Small drives, on which a run takes milliseconds."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import fourcorners as fc

#: A gigabyte of flash on eight dies, collected as it is written.
SMALL = {
    "capacity.sectors": 2 * 1024 * 1024,
    "nand.channels": 4,
    "nand.dies": 8,
    "nand.pages_per_block": 64,
    "nand.blocks_per_plane": 150,
    "gc.pacing": "paced",
}


ROOT = Path(__file__).resolve().parents[2]


def binary():
    """The command, if it was built; what Python does has to be its equal."""
    for place in (os.environ.get("FOURCORNERS"), ROOT / "target/release/fourcorners", ROOT / "target/debug/fourcorners"):
        if place and Path(place).is_file():
            return str(place)
    return shutil.which("fourcorners")


@pytest.fixture
def command():
    """Runs the command; what it printed."""
    path = binary()
    if path is None:
        pytest.skip("the command `fourcorners` was not built")

    def run(*arguments):
        line = [path, *map(str, arguments)]
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout

    return run


#: The same changes on the command line.
SETS = [part for key, value in SMALL.items() for part in ("--set", f"{key}={value}")]


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(0))


@pytest.fixture(autouse=True, scope="session")
def own_database(tmp_path_factory):
    """What the command reviews here does not go into the user's database."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("FOURCORNERS_CONFIG", os.devnull)
        patch.delenv("FOURCORNERS_DATABASE", raising=False)
        yield


@pytest.fixture
def small():
    return fc.Drive("crucial-m4-256gb", set=SMALL)
