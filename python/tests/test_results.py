"""The database of results: the same one that the commands read and write."""

import datetime
import os
import pickle
import stat
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import SETS, SMALL, binary

import fourcorners as fc

INTEL = "intel-x25-m-g2-160gb"


@pytest.fixture(scope="module")
def records():
    """Two methods on two drives."""
    drives = [fc.Drive("crucial-m4-256gb", set=SMALL), fc.Drive(INTEL, set={**SMALL, "nand.blocks_per_plane": 300})]
    return fc.review(drives, ["four-corners", "consistency"], quick=True)


@pytest.fixture
def results(records, tmp_path):
    results = fc.Results(tmp_path / "results.db")
    assert results.add(records) == 4
    return results


def command(*arguments):
    there = binary()
    if there is None:
        pytest.skip("the command `fourcorners` was not built")
    return subprocess.run([there, *map(str, arguments)], check=True, capture_output=True, text=True)


def test_what_is_kept_is_what_was_measured(results, records):
    assert len(results) == results.count() == 4 and results.drives() == ["crucial-m4-256gb", INTEL]
    first = records[0]
    again = results.get(first.id[:9])
    assert again == first and again.to_json() == first.to_json()
    assert first in results and first.id[:9] in results and "00000000" not in results
    assert {record.id for record in results.records()} == {record.id for record in records}
    # The same again is the same.
    assert results.add(first) == 0 and len(results) == 4
    assert results.check() == (4, [])
    assert pickle.loads(pickle.dumps(results)).get(first.id) == first
    latest = results.latest("crucial-m4-256gb")
    assert {repeats[0].method for repeats in latest} == {"four-corners", "consistency"}
    assert results.remove(first.id[:9]) == 1 and first not in results


def test_filters_are_those_of_the_command(results, records):
    m4, intel = "crucial-m4-256gb", INTEL
    names = lambda **filters: sorted((it.drive, it.method) for it in results.list(**filters))  # noqa: E731
    both = ["consistency", "four-corners"]
    assert names(drive="CRUCIAL") == names(name=m4) == [(m4, method) for method in both]
    assert names(method="consistency") == [(m4, "consistency"), (intel, "consistency")]
    assert names(drive="crucial", method="consistency", clock="virtual") == [(m4, "consistency")]
    assert names(clock="wall") == names(firmware="0009") == names(name="crucial") == []
    assert len(results.list(limit=3)) == results.count(limit=3) == 3
    today = datetime.datetime.now(datetime.timezone.utc)
    began = min(record.started_at for record in records)
    hour = datetime.timedelta(hours=1)
    for since in ("12h", today - hour, today.date() - datetime.timedelta(days=1), began):
        assert results.count(since=since) == 4, since
    for until in ("12h", today - hour, "2026-01-01" if began > "2026-01-02" else "1999-01-01"):
        assert results.count(until=until) == 0, until
    (listed,) = results.list(drive="crucial", method="four-corners")
    record = results.get(listed.id)
    assert listed.to_dict()["started_at"] == listed.started_at == record.started_at
    assert (listed.title, listed.capacity_bytes) == (record.target.title, record.target.capacity_bytes)
    assert (listed.figures, listed.seed, listed.quick, listed.ended) == (len(record.figures), 1, True, "complete")
    assert "gc.pacing=paced" in listed.set_up and listed.profile_hash == record.target.profile_hash
    assert listed == results.list(drive="crucial", method="four-corners")[0] and listed.id in repr(listed)


def test_it_is_a_table_and_a_parquet_file(results, records, tmp_path):
    import pandas

    frame = results.to_pandas()
    assert len(frame) == sum(len(record.figures) for record in records)
    plain = fc.to_pandas(results.records())
    pandas.testing.assert_frame_equal(frame[plain.columns.tolist()], plain, check_dtype=False, check_exact=True)
    assert set(frame["kind"]) == {"virtual"} and frame["started_at"].str.endswith("Z").all()
    file = tmp_path / "figures.parquet"
    # What is there and no Parquet file stays, the database itself not least; an earlier one makes room.
    file.write_bytes(b"what was here before")
    for place in (file, results.path):
        before = Path(place).read_bytes()
        with pytest.raises(fc.ResultsError, match="is no Parquet file"):
            results.to_parquet(place)
        assert Path(place).read_bytes() == before
    file.unlink()
    results.to_parquet(file)
    rows = results.to_parquet(file, method="consistency")
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    assert table.equals(results.to_arrow(method="consistency")) and table.num_rows == rows == 4
    assert os.listdir(tmp_path).count(file.name) == 1 and not [it for it in os.listdir(tmp_path) if it.startswith(".")]
    # None at all has the same columns.
    assert results.to_arrow(drive="none").schema == results.to_arrow().schema


def test_a_link_is_followed_and_what_is_no_file_stays_what_it_is(results, tmp_path):
    file, link = tmp_path / "figures.parquet", tmp_path / "link"
    link.symlink_to(file)
    # At first it points nowhere.
    for mode in (None, 0o640):
        results.to_parquet(link)
        assert link.is_symlink() and file.read_bytes()[-4:] == b"PAR1"
        assert mode is None or stat.S_IMODE(file.stat().st_mode) == mode
        file.chmod(0o640)
    # A pipe has it, is not looked into before, and is one afterwards.
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    rows = results.to_parquet(pipe)
    reader.join()
    assert rows > 4 and read[0] == file.read_bytes() and stat.S_ISFIFO(pipe.lstat().st_mode)
    for wrong, told in [(tmp_path, "it is a folder; name a file"), (tmp_path / "none" / "f", "none: there is no such folder")]:
        with pytest.raises(fc.Error, match=told):
            results.to_parquet(wrong)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_a_device_node_is_not_replaced(results, tmp_path):
    null, disk = tmp_path / "null", tmp_path / "disk"
    os.mknod(null, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    # One that no driver has.
    os.mknod(disk, stat.S_IFBLK | 0o600, os.makedev(240, 77))
    assert results.to_parquet(null) > 4 and stat.S_ISCHR(null.lstat().st_mode)
    with pytest.raises(fc.Error, match="disk: it is a device; name a file"):
        results.to_parquet(disk)
    assert stat.S_ISBLK(disk.lstat().st_mode) and sorted(os.listdir(tmp_path)) == ["disk", "null", "results.db"]


def test_an_export_that_fails_leaves_what_was_there(results, tmp_path):
    file = tmp_path / "figures.parquet"
    file.write_bytes(b"PAR1: what was here before")
    with pytest.raises(TypeError, match="no filter mehtod: there are drive"):
        results.to_parquet(file, mehtod="consistency")
    assert file.read_bytes() == b"PAR1: what was here before" and sorted(os.listdir(tmp_path))[0] == file.name


def test_replayed_traces_are_in_it(tmp_path):
    trace = tmp_path / "trace.csv"
    database = tmp_path / "results.db"
    lines = [f"{at * 1e-3},{'write' if at % 3 else 'read'},{at * 8192 % (1 << 20)},4096" for at in range(200)]
    trace.write_text("time_s,op,offset_bytes,length_bytes\n" + "\n".join(lines) + "\n")
    command("trace", "replay", trace, "crucial-m4-256gb", *SETS, "--db", database)
    (record,) = fc.Results(database).records()
    frame = fc.to_pandas(record)
    replays = record.replays or {"": record.replay}
    assert len(frame) == sum(len(replay["figures"]) for replay in replays.values()) > 0
    assert (frame["ios"] == 200).all() and (frame["latency_mean_us"] > 0).all()


def test_the_command_reads_what_python_keeps_and_the_other_way_round(results, records, tmp_path):
    listed = command("results", "list", "--csv", "--db", results.path).stdout
    assert all(record.id in listed for record in records)
    other = tmp_path / "other.db"
    arguments = ["review", "crucial-m4-256gb", *SETS, "--methods", "four-corners", "--quick", "--seed", "9"]
    printed = command(*arguments, "--json", "--db", other).stdout
    assert fc.Results(other).records() == fc.from_json(printed)
    document = tmp_path / "review.json"
    document.write_text(printed)
    assert results.import_from(document) == (1, 0, 0)
    assert results.import_from(other) == (0, 1, 0) and len(results) == 5


def test_it_is_read_and_written_beside_a_running_review(records, tmp_path):
    database = tmp_path / "results.db"
    there = binary()
    if there is None:
        pytest.skip("the command `fourcorners` was not built")
    arguments = ["review", "crucial-m4-256gb", *SETS, "--methods", "four-corners,consistency", "--quick", "--quiet"]
    line = [there, *arguments, "--repeat", "6", "--db", str(database)]
    running = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    results = fc.Results(database)
    added, seen = results.add(records), [0]
    threads = [threading.Thread(target=lambda: seen.append(len(results.records()))) for _ in range(4)]
    while running.poll() is None:
        # Never fewer, and every one of them whole.
        seen.append(len(results.records()))
        assert seen[-1] >= max(seen) and len(results.list()) >= seen[-1]
        for record in records[:2]:
            added += results.add(record)
            results.remove(record.id)
            seen[:] = [0]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert running.returncode == 0, running.stderr.read()
    assert set(seen[-4:]) == {len(results)} and results.check()[1] == []
    assert len(results.list(since="1h", method="four-corners")) >= 6


def test_what_is_no_database_is_refused_and_left_alone(records, tmp_path):
    missing = fc.Results(tmp_path / "none.db")
    for read in (missing.list, missing.records, missing.drives, missing.check, lambda: len(missing), lambda: missing.get("00")):
        with pytest.raises(fc.ResultsError, match="none.db: it does not exist"):
            read()
    with pytest.raises(fc.ResultsError, match="does not exist"):
        missing.remove("00")
    assert not os.listdir(tmp_path)
    foreign = tmp_path / "notes.txt"
    foreign.write_text("something else entirely " * 20)
    with pytest.raises(fc.ResultsError, match="not a database of results"):
        fc.Results(foreign).add(records)
    assert foreign.read_text() == "something else entirely " * 20
    results = fc.Results(tmp_path / "results.db")
    results.add(records)
    for id, told in [("0123", "no record"), ("", "may be|no record"), ("nonsense", "no record")]:
        with pytest.raises(fc.ResultsError, match=told):
            results.get(id)
    for filters, told in [
        ({"since": "yesterday"}, 'since="yesterday": give a day'),
        ({"until": datetime.datetime(2026, 3, 1)}, "no time zone"),
        ({"clock": "atomic"}, "clock='atomic': it is"),
    ]:
        with pytest.raises(ValueError, match=told):
            results.list(**filters)
    with pytest.raises(fc.ResultsError, match="cannot read"):
        results.import_from(tmp_path / "none.json")
    with pytest.raises(TypeError):
        results.add(["text"])


def test_by_default_it_is_the_commands(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert fc.Results().path == tmp_path / "fourcorners/results.db"
