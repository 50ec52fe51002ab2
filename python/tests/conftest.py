"""Small drives, on which a run takes milliseconds."""

import os

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
