"""Several drives as one go wherever one drive goes."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import SETS, SMALL

import fourcorners as fc

RAID0 = "raid0:2xcrucial-m4-256gb:64k"
RAID1 = "raid1:2xcrucial-m4-256gb"
CACHE = "cache:crucial-m4-64gb+wd-velociraptor-300gb"


def rate(name, job=fc.Job("sequential", block_bytes=131072, drive_writes=0.5)):
    return fc.Drive(name, set=SMALL).run(job).mb_per_s


def test_a_stripe_writes_in_order_twice_as_fast_as_one_and_a_mirror_does_not():
    one = rate("crucial-m4-256gb")
    assert 1.8 < rate(RAID0) / one < 2.2
    # Control: the same two drives, each with all of the data.
    assert 0.8 < rate(RAID1) / one < 1.1


def test_an_array_says_what_it_is():
    one, array = fc.Drive("crucial-m4-256gb", set=SMALL), fc.Drive(RAID0, set=SMALL)
    assert (array.name, array.kind) == (RAID0, "array") and "RAID 0 of 2 x" in array.title
    assert array.capacity_bytes == 2 * one.capacity_bytes
    assert [member.kind for member in array.members] == ["ssd", "ssd"] and one.members == []
    assert array.members[1]["nand.dies"] == SMALL["nand.dies"]
    assert array.over_provisioning is None and one.over_provisioning is not None
    cache = fc.Drive(CACHE)
    assert cache.kind == "cache" and [member.kind for member in cache.members] == ["ssd", "hdd"]


@pytest.mark.parametrize("name", [RAID0, "concat:crucial-m4-64gb+wd-velociraptor-300gb"])
def test_a_review_of_an_array_is_the_commands(command, name):
    sets = (SMALL, SETS) if name == RAID0 else ({}, [])
    arguments = ["review", name, "--methods", "four-corners", "--quick", "--json", *sets[1]]
    theirs = fc.from_json(command(*arguments))
    ours = fc.review(fc.Drive(name, set=sets[0]), "four-corners", quick=True)
    assert [record.id for record in ours] == [record.id for record in theirs] and ours == theirs
    assert ours[0].target.name == name


def test_a_file_of_several_is_a_drive_and_goes_to_other_processes(tmp_path):
    own, array = tmp_path / "own.toml", tmp_path / "nas.toml"
    text = 'name = "nas"\nkind = "raid0"\nchunk = "64 KiB"\n[[drive]]\nfile = "own.toml"\nnumber = 2\n'
    own.write_text(fc.Drive("crucial-m4-256gb").to_toml())
    array.write_text(text)
    drive = fc.Drive(array)
    assert (drive.name, drive.kind, len(drive.members)) == ("nas", "array", 2)
    assert drive.profile_hash == fc.Drive(RAID0).profile_hash
    # All that makes it is with it: the files may be gone.
    pickled = pickle.dumps(drive)
    own.unlink()
    assert pickle.loads(pickled).profile_hash == drive.profile_hash
    # Control: without them it is none, and what is wrong has its line.
    with pytest.raises(fc.CatalogueError, match="nas.toml, line 5: .*own.toml: cannot read"):
        fc.Drive(array)
    with pytest.raises(fc.CatalogueError, match="line 2: chunk = "):
        fc.Drive.from_toml('kind = "raid0"\nchunk = "12 KiB"\n')


def test_what_a_cache_holds_stays_in_it_from_run_to_run():
    cache, disk = fc.Drive(CACHE), fc.Drive("wd-velociraptor-300gb")
    job = fc.Job("random", read_percent=100, queue_depth=1, span_bytes=64 << 20, bytes=256 << 20)
    first, then = cache.run(job), cache.run(job)
    assert then.iops > 5 * first.iops
    # Control: a disk alone remembers nothing.
    assert disk.run(job).iops * 2 > disk.run(job).iops


def test_a_job_file_and_a_sweep_take_arrays():
    array = fc.Drive(RAID0, set=SMALL)
    result = array.run_fio("[r]\nrw=randread\nbs=4k\niodepth=4\nruntime=1\ntime_based\n")
    # Laid out before: it reads from flash.
    assert result.jobs[0]["read"]["lat_ns"]["min"] > 60_000
    grid = {"drive": ["crucial-m4-256gb", RAID0, RAID1], **SMALL}
    with ThreadPoolExecutor(1) as executor:
        rows = fc.sweep(grid, fc.Job(bytes=16 << 20), executor).to_pylist()
    assert len({row["key"] for row in rows}) == 3 and not any(row["error"] for row in rows)
    assert [row["drive"] for row in rows] == grid["drive"]
    again = pickle.loads(pickle.dumps(fc.Drive(RAID0, set=SMALL)))
    assert again.profile_hash == fc.Drive(RAID0, set=SMALL).profile_hash != fc.Drive(RAID1, set=SMALL).profile_hash


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: fc.Drive("raid5:2xcrucial-m4-64gb"), fc.CatalogueError, "takes 3 to 64"),
        (lambda: fc.Drive("raid0:2xcrucial-m4-64g"), fc.CatalogueError, 'did you mean "crucial-m4-64gb"'),
        (lambda: fc.Drive("raid6:4xcrucial-m4-64gb"), fc.CatalogueError, "did you mean raid"),
        (lambda: fc.Drive("raid0:2xcrucial-m4-64gb:12k"), fc.CatalogueError, "a power of two"),
        (lambda: fc.Drive("cache:wd-velociraptor-300gb+crucial-m4-64gb"), fc.CatalogueError, "is a hard disk"),
        (lambda: fc.Drive(RAID0, set={"nand.dies": 0}), fc.CatalogueError, "it must be 1 to 4096"),
        (lambda: fc.Drive(RAID0).values, fc.Error, "this is several: name one of drive.members"),
        (lambda: fc.Drive(RAID0)["nand.dies"], KeyError, "this is several"),
        (lambda: fc.Drive(RAID0).to_toml(), fc.Error, "this is several"),
        (lambda: fc.Drive(RAID0).save_state("x.state"), fc.StateError, "a state is of one drive"),
        (lambda: fc.Drive(RAID0).load_state("x.state"), fc.StateError, "a state is of one drive"),
        (lambda: fc.review(RAID0, "trim-reaches-all"), ValueError, "trim-reaches-all"),
    ],
)
def test_what_is_no_array_or_of_single_drives_is_said(make, error, told):
    with pytest.raises(error, match=told) as raised:
        make()
    assert "\n" not in str(raised.value)
