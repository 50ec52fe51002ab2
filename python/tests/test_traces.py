"""Traces: read, converted and replayed."""

import json
import os
import signal
import threading
import warnings

import numpy as np
import pytest
from conftest import SETS, SMALL

import fourcorners as fc

HEAD = "time_us,op,offset_bytes,length_bytes,duration_us\n"
LINES = ["0,write,0,4096,50", "100,read,8192,4096,90", "900,write,65536,131072,400", "2000,flush,0,0,10", "2500,trim,0,4096,20"]


@pytest.fixture
def trace(tmp_path):
    file = tmp_path / "work.csv"
    file.write_text(HEAD + "\n".join(LINES))
    return file


def test_a_trace_is_arrays_and_its_card_is_the_commands(command, trace):
    read = fc.Trace(trace)
    arrays = read.to_arrays()
    assert arrays["time_ns"].tolist() == [0, 100_000, 900_000, 2_000_000, 2_500_000]
    assert arrays["operation"].tolist() == [1, 0, 1, 3, 2]
    assert arrays["offset_bytes"].tolist() == [0, 8192, 65536, 0, 0]
    assert arrays["length_bytes"].tolist() == [4096, 4096, 131072, 0, 4096]
    assert arrays["duration_ns"].tolist() == [50_000, 90_000, 400_000, 10_000, 20_000]
    assert arrays["device"].tolist() == [0] * 5 and arrays["fua"].tolist() == arrays["failed"].tolist() == [False] * 5
    frame = read.to_pandas()
    assert frame["operation"].tolist() == ["write", "read", "write", "flush", "trim"]
    table = read.to_arrow()
    assert table.column_names == list(arrays) and table["operation"].to_pylist() == frame["operation"].tolist()
    assert table["offset_bytes"].to_pylist() == arrays["offset_bytes"].tolist()
    theirs = json.loads(command("trace", "info", trace, "--json"))
    theirs.pop("schema")
    assert read.card == theirs and read.card["ios"] == 5


def test_what_is_taken_of_a_trace_can_be_said(trace):
    def times(**taken):
        return fc.Trace(trace, **taken).to_arrays()["time_ns"].tolist()

    assert times(operations=["read", "write"]) == times(operations="read,write") == [0, 100_000, 900_000]
    # Times count from the first that is taken.
    assert times(from_s=0.0005, to_s=0.0022) == [0, 1_100_000]
    assert times(range_bytes=(8192, None), operations="read,write") == [0, 800_000]
    assert times(time_scale=0.5)[-1] == 1_250_000
    assert fc.Trace(trace, address_scale=16).card["extent_bytes"] >= fc.Trace(trace).card["extent_bytes"]
    assert len(fc.Trace("generated:light", ios=1000).to_arrays()["time_ns"]) == 1000
    of_seeds = [fc.Trace("task:boot", seed=seed).to_arrays()["offset_bytes"] for seed in (1, 1, 2)]
    assert (of_seeds[0] == of_seeds[1]).all() and not np.array_equal(of_seeds[0], of_seeds[2])


@pytest.mark.filterwarnings("ignore::fourcorners.TraceWarning")
@pytest.mark.parametrize("form", ["compact", "csv", "fio-iolog"])
def test_a_trace_is_converted_as_the_command_does(command, trace, tmp_path, form):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    taken = {"operations": "read,write"}
    assert fc.Trace(trace, **taken).convert(ours, form) == 3
    command("trace", "convert", trace, "--ops", "read,write", "--as", form, "-o", theirs)
    assert ours.read_bytes() == theirs.read_bytes()
    arrays = fc.Trace(ours).to_arrays()
    assert arrays["offset_bytes"].tolist() == [0, 8192, 65536]
    with pytest.raises(FileExistsError, match="overwrite=True"):
        fc.Trace(trace).convert(ours)
    assert fc.Trace(trace).convert(ours, overwrite=True) == 5
    with pytest.raises(fc.TraceError, match="is what is read"):
        fc.Trace(trace).convert(trace, overwrite=True)
    assert trace.read_text() == HEAD + "\n".join(LINES)


def test_a_broken_trace_leaves_no_file(tmp_path):
    broken = tmp_path / "broken.csv"
    broken.write_text(HEAD + LINES[0] + "\n3,read,x,4096,1\n" + LINES[2])
    to = tmp_path / "to"
    with pytest.raises(fc.TraceError, match="line 3"):
        fc.Trace(broken).convert(to)
    assert not to.exists()
    # Control: without its bad record it is a trace.
    read = fc.Trace(broken, skip_bad=True)
    with pytest.warns(fc.TraceWarning, match="broken.csv: 1 record that cannot be read is left out of .*to, by skip_bad"):
        assert read.convert(to) == 2
    assert read.card["skipped"] == 1


def test_a_replay_is_the_commands(command):
    arguments = ["trace", "replay", "generated:light", "crucial-m4-256gb", "--ios", "3000", "--rescale-address", "--no-db"]
    theirs = fc.from_json(command(*arguments, "--json", *SETS))
    told = []
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    trace = fc.Trace("generated:light", ios=3000)
    ours = fc.replay(trace, drive, addresses="rescaled", progress=told.append)
    assert ours[0].id == theirs[0].id and ours == theirs and told[-1] == 1.0
    assert list(ours[0].replay["figures"]) == ["storage_bench_empty", "storage_bench_full"]
    frame = fc.to_pandas(ours)
    assert len(frame) == 2
    # Rates are over the time the drive was busy, which is less than it took.
    assert (frame["iops"] * frame["busy_s"]).tolist() == pytest.approx(frame["ios"].tolist())
    assert (frame["mb_per_s"] * frame["busy_s"] * 1e6).tolist() == pytest.approx(frame["bytes"].tolist())
    assert (frame["busy_s"] < frame["duration_s"]).all()


def test_a_replay_on_a_drive_as_it_is_has_its_latencies_as_arrays(small):
    trace = fc.Trace("generated:light", ios=3000)
    first = small.replay(trace, pace="recorded", addresses="rescaled")
    assert first.ios == trace.card["ios"] == len(first.histogram) == first.histogram.counts.sum()
    assert len(first.read_histogram) == trace.card["reads"] and len(first.write_histogram) == trace.card["writes"]
    percents = [50, 90, 99, 99.9]
    found = first.histogram.percentiles(percents)
    assert (np.diff(found.astype(float)) >= 0).all()
    assert [found[0] / 1e3, found[2] / 1e3] == [first.latency_us.p50, first.latency_us.p99]
    assert first.histogram.counts.base is first and not first.histogram.counts.flags.writeable
    assert first.busy_s < first.elapsed_s and first.to_dict()["busy_s"] == first.busy_s == first.to_pandas()["busy_s"]
    assert len(first.series) == int(first.elapsed_s)
    # It is the record's of a new drive, and a drive that was used before does it otherwise.
    record = fc.replay(trace, small.with_(), pace="recorded", addresses="rescaled", drive_state="empty")[0]
    assert record.replay["figures"]["storage_bench_empty"]["busy_s"] == first.busy_s
    small.fill()
    assert small.replay(trace, pace="recorded", addresses="rescaled").busy_s != first.busy_s


def test_a_faster_pace_takes_less_time_and_waits_as_long_for_the_drive(small):
    trace = fc.Trace("task:boot")
    by_pace = {pace: small.with_().replay(trace, pace=pace, addresses="rescaled") for pace in ("recorded", "fast")}
    assert by_pace["fast"].elapsed_s < 0.5 * by_pace["recorded"].elapsed_s
    assert by_pace["fast"].ios == by_pace["recorded"].ios


def test_a_cache_says_what_it_did(trace):
    cache = fc.Drive("cache:crucial-m4-64gb+wd-velociraptor-300gb")
    assert cache.replay(fc.Trace(trace, operations="read,write")).cache["reads"] == 1
    assert fc.Drive("wd-velociraptor-300gb").replay(fc.Trace(trace, operations="read,write")).cache is None


def test_spare_area_is_left_alone(tmp_path, small):
    file = tmp_path / "end.csv"
    file.write_text(f"time_us,op,offset_bytes,length_bytes\n0,write,{small.capacity_bytes - 4096},4096\n")
    spared = small.with_(spare=0.25)
    with pytest.raises(fc.TraceError, match='addresses="rescaled"'):
        spared.replay(file)
    assert spared.replay(file, addresses="rescaled").ios == 1
    with pytest.raises(ValueError, match="spare area"):
        spared.replay(file, addresses="wrapped")
    with pytest.raises(ValueError, match="spare=0.25"):
        fc.replay(file, spared)
    # Control: the same drive without.
    assert small.replay(file).ios == 1


@pytest.mark.parametrize(
    ("ask", "error", "told"),
    [
        (lambda: fc.Trace("none.csv"), fc.TraceError, "none.csv"),
        (lambda: fc.Trace("generated:none"), fc.TraceError, "generated:"),
        (lambda: fc.Trace("task:boot", ios=5), ValueError, "ios=5 is for generated traces, and task:boot is a task: leave it out"),
        (lambda: fc.Trace("none.csv", ios=5), fc.TraceError, "none.csv"),
        (lambda: fc.Trace("task:boot", format="csv"), ValueError, 'format="csv" is for recordings, and task:boot is a task'),
        (lambda: fc.Trace("generated:light", skip_bad=True), ValueError, "skip_bad=True is for recordings, and generated:light is a gen"),
        (lambda: fc.Trace("task:boot", event="queue"), ValueError, 'event="queue" is for traces of the kernel'),
        (lambda: fc.Trace("task:boot", operations=5), TypeError, "operations=5: give names"),
        (lambda: fc.Trace("task:boot", operations=[5]), TypeError, "operations=.5.: give names"),
        (lambda: fc.Trace("task:boot", format="none"), ValueError, "format: "),
        (lambda: fc.Trace("task:boot", event="end"), ValueError, "event='?\"?end"),
        (lambda: fc.Trace("task:boot", from_s=-1), ValueError, "from_s=-1"),
        (lambda: fc.Trace("task:boot", from_s=2, to_s=1), ValueError, "this range is empty"),
        (lambda: fc.Trace("task:boot", range_bytes=(5, 5)), ValueError, "this range is empty"),
        (lambda: fc.Trace("task:boot", operations="erase"), ValueError, "read, write, trim and flush"),
        (lambda: fc.Trace("task:boot", operations=[]), ValueError, "operations is empty"),
        (lambda: fc.Trace("task:boot", time_scale=float("nan")), ValueError, "time_scale"),
        (lambda: fc.Trace("generated:light", ios=0), ValueError, "ios=0"),
        (lambda: fc.Trace("generated:light", ios=10**12).convert("/none/x", "zip"), ValueError, "format: "),
        (lambda: fc.replay("task:boot", []), ValueError, "drives is empty"),
        (lambda: fc.replay("task:boot", "crucial-m4-64gb", pace="slow"), ValueError, "think, recorded and fast"),
        (lambda: fc.replay("task:boot", "crucial-m4-64gb", depth=0), ValueError, "depth=0"),
        (lambda: fc.replay("task:boot", "crucial-m4-64gb", pace="fast", idle_cap_ms=5), ValueError, 'idle_cap_ms=5: with pace="fast"'),
        (lambda: fc.Drive("crucial-m4-64gb").replay("task:boot", pace="recorded", idle_cap_ms=5), ValueError, 'pace="recorded"'),
        (lambda: fc.replay("task:boot", "crucial-m4-64gb", idle_cap_ms=-1), ValueError, "idle_cap_ms=-1"),
        (lambda: fc.replay("task:boot", "crucial-m4-64gb", drive_state="worn"), ValueError, "empty, full, both and twice"),
        (lambda: fc.replay("task:boot", "crucial-m4-64gb", addresses="any"), ValueError, "as_recorded, rescaled"),
        (lambda: fc.replay("generated:light", fc.Drive("crucial-m4-256gb", set=SMALL)), fc.TraceError, 'addresses="rescaled"'),
        (lambda: fc.replay("task:boot", "/dev/null"), fc.CatalogueError, "virtual ones"),
    ],
)
def test_what_cannot_be_read_or_replayed_is_said(ask, error, told):
    with pytest.raises(error, match=told) as raised:
        ask()
    assert "\n" not in str(raised.value)


def test_a_trim_that_a_drive_does_not_take_is_said_with_what_to_do(trace):
    disk = fc.Drive("wd-velociraptor-300gb")
    with pytest.raises(fc.DriveFault, match='operations="read,write,flush"'):
        disk.replay(trace)
    assert disk.replay(fc.Trace(trace, operations="read,write,flush")).ios == 4
    # Control: a drive that takes them is sent all.
    assert fc.Drive("crucial-m4-64gb").replay(trace).ios == 5


def test_what_a_form_has_no_place_for_is_told(trace, tmp_path):
    with pytest.warns(fc.TraceWarning, match='log: fio-iolog has no place for durations: left out; format="compact" keeps them'):
        assert fc.Trace(trace).convert(tmp_path / "log", "fio-iolog") == 5
    task = fc.Trace("task:unpack")
    with pytest.warns(fc.TraceWarning, match="compact has no place for compressibility: left out$"):
        task.convert(tmp_path / "unpack")
    # Control: what has a place for all of it tells nothing.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fc.Trace(trace).convert(tmp_path / "same", "compact") == 5
    with pytest.raises(ValueError, match="drive=.*only a fio-iolog names the drive"):
        fc.Trace(trace).convert(tmp_path / "named", "csv", drive="/dev/sda")
    with pytest.warns(fc.TraceWarning):
        fc.Trace(trace).convert(tmp_path / "log", "fio-iolog", drive="/dev/sda", overwrite=True)
    assert "/dev/sda open" in (tmp_path / "log").read_text()


def test_a_conversion_of_nothing_writes_no_file(trace, tmp_path):
    to = tmp_path / "to"
    with pytest.raises(fc.TraceError, match="work.csv: from_s, to_s, operations, range_bytes and device leave none"):
        fc.Trace(trace, from_s=1e5).convert(to)
    assert not to.exists()
    # What was there stays.
    to.write_text("before")
    with pytest.raises(fc.TraceError, match="none of its I/Os to convert"):
        fc.Trace(trace, device=7).convert(to, overwrite=True)
    assert to.read_text() == "before" and sorted(os.listdir(tmp_path)) == ["to", "work.csv"]
    empty = tmp_path / "empty.csv"
    empty.write_text(HEAD)
    for lines, keywords, told in [("", {}, "there is no I/O in it"), ("x\n", {"skip_bad": True}, "besides what skip_bad leaves out: .*line 2")]:
        empty.write_text(HEAD + lines)
        with pytest.raises(fc.TraceError, match=f"empty.csv: .*{told}"):
            fc.Trace(empty, **keywords).convert(to, overwrite=True)
    # Control: one I/O is a trace.
    assert fc.Trace(trace, from_s=0.0024).convert(to, overwrite=True) == 1


def test_devices_and_flags_are_columns(tmp_path):
    file = tmp_path / "two.csv"
    file.write_text("time_us,op,offset_bytes,length_bytes,device\n0,read,0,4096,0\n5,write,8192,4096,3\n")
    two = fc.Trace(file)
    assert two.to_arrays()["device"].tolist() == two.to_pandas()["device"].tolist() == [0, 3]
    assert fc.Trace(file, device=3).to_arrow()["device"].to_pylist() == [3]
    task = fc.Trace("task:unpack").to_arrays()
    assert task["compressible_percent"].dtype == np.uint8 and task["compressible_percent"].max() > 0
    assert task["fua"].dtype == task["zeroes"].dtype == bool
    assert two.to_arrays()["compressible_percent"].max() == 0


def test_what_says_nothing_of_a_recording_is_refused(trace):
    for keywords, told in [({"ios": 5}, "ios=5 is for gen"), ({"seed": 1}, "seed=1 is for gen"), ({"event": "queue"}, "of the kernel")]:
        with pytest.raises(ValueError, match=f"{told}.*work.csv is a recording .csv.: leave it out"):
            fc.Trace(trace, **keywords)
    # Control: what is for recordings is taken.
    assert fc.Trace(trace, format="csv", skip_bad=True, event="issue").card["ios"] == 5


@pytest.mark.parametrize("names", [{"write"}, ("write",), (name for name in ["write"]), "write"])
def test_operations_are_any_iterable(trace, names):
    assert fc.Trace(trace, operations=names).card["ios"] == 2


def test_a_trim_on_a_disk_is_an_incomplete_record_in_pythons_words(trace):
    (record,) = fc.replay(trace, "wd-velociraptor-300gb")
    assert not record.complete and repr(record).endswith(", incomplete>")
    assert 'operations="read,write,flush" of the Trace leaves TRIMs out' in record.failure and "--" not in record.failure
    # Control: without it it is complete, and says nothing of it.
    (record,) = fc.replay(fc.Trace(trace, operations="read,write,flush"), "wd-velociraptor-300gb")
    assert record.complete and "incomplete" not in repr(record) and record.failure is None


def test_a_part_without_ios_has_no_latencies(trace, small):
    reads = small.replay(fc.Trace(trace, operations="read"))
    row = reads.to_dict()
    assert (row["writes"], row["write_p99_us"], row["write_service_us"]) == (0, None, None)
    with pytest.raises(ValueError, match="percent=99: the histogram is empty"):
        reads.write_histogram.percentile(99)
    # Control: the reads have some.
    assert row["read_p99_us"] == reads.read_histogram.percentile(99) / 1e3 > 0


@pytest.mark.parametrize("what", ["card", "replay", "drive"])
def test_ctrl_c_stops_it(small, what, tmp_path):
    def work():
        trace = fc.Trace("generated:heavy", ios=10**9)
        if what == "card":
            trace.card
        elif what == "replay":
            fc.replay(fc.Trace("generated:heavy"), "crucial-m4-256gb")
        else:
            small.replay(fc.Trace("generated:heavy"), addresses="rescaled")

    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    timer.join()
