import json
import math
import pickle
import re
import signal
import threading
import time
import types

import pytest
from conftest import ROOT, SMALL

import fourcorners as fc


def test_a_run_obeys_littles_law_and_its_histogram_and_series_hold_all_of_it(small):
    run = small.run(fc.Job("random", read_percent=50, queue_depth=4, seconds=3))
    assert run.ios == run.reads + run.writes == run.histogram.counts.sum() == len(run.histogram)
    in_flight = run.iops * run.latency_us.mean / 1e6
    assert math.isclose(run.mean_queue_depth, in_flight, rel_tol=1e-9)
    assert len(run.series) == 3 and run.series.iops.sum() <= run.ios
    lows, counts = run.histogram.lows_ns(), run.histogram.counts
    assert lows[counts > 0][0] <= run.latency_us.min * 1e3 < lows[counts > 0][0] * 1.01
    assert (run.histogram.bins()[:, 1] == counts[counts > 0]).all()
    assert run.histogram.percentile(99.9) / 1e3 == run.latency_us.p999
    row = run.to_dict()
    assert row["iops"] == run.iops and row["latency_p999_us"] == run.latency_us.p999
    assert run.to_pandas()["ios"] == run.ios


def test_arrays_are_views_that_keep_what_they_show(small):
    run = small.run(fc.Job(seconds=2))
    counts, iops = run.histogram.counts, run.series.iops
    assert counts.base is run and not counts.flags.owndata and not counts.flags.writeable
    again = run.histogram.counts
    assert counts.ctypes.data == again.ctypes.data
    with pytest.raises(ValueError):
        counts[0] = 1
    total, first = int(counts.sum()), iops.tolist()
    del run, again
    assert int(counts.sum()) == total and iops.tolist() == first
    record = fc.review(small.with_(), ["four-corners"], quick=True)[0]
    bins = record.figures["random_read_4k_qd3"].latency_bins_ns
    iops = record.series["random_read_4k_qd3"].iops
    assert bins.shape[1] == 2 and not bins.flags.owndata and not iops.flags.owndata
    told = record.to_dict()["figures"]["random_read_4k_qd3"]["latency_bins_ns"]
    del record
    assert bins.tolist() == told


def test_a_drive_keeps_what_was_done_to_it_and_the_same_is_done_alike(small):
    small.fill()
    first = small.run(fc.Job(drive_writes=1))
    then = small.run(fc.Job(drive_writes=1, seed=2))
    assert first.write_amplification > 1.0 and then.write_amplification > first.write_amplification
    again = small.with_()
    again.fill()
    assert again.run(fc.Job(drive_writes=1)).to_dict() == first.to_dict()
    small.purge()
    assert small.run(fc.Job(bytes=1 << 20)).write_amplification == 1.0
    assert small.trim() >= 0.0


def test_spare_area_is_spare_to_collection_and_is_left_alone():
    def steady(spare):
        drive = fc.Drive("crucial-m4-256gb", spare=spare, set=SMALL)
        drive.fill()
        drive.run(fc.Job(drive_writes=2))
        return drive.run(fc.Job(drive_writes=0.5, seed=2)).write_amplification

    assert steady(0.25) < steady(0.07) < steady(0.0)
    # What is left alone is in total_op, and not in effective_op, which is the profile's.
    by_spare = {spare: fc.Drive("crucial-m4-256gb", spare=spare, set=SMALL).run(fc.Job(bytes=4096)) for spare in (0, 0.25)}
    whole, spared = by_spare.values()
    assert whole.effective_op == spared.effective_op == whole.total_op
    assert spared.total_op == pytest.approx((1 + spared.effective_op) / 0.75 - 1)
    assert spared.to_dict()["total_op"] == spared.total_op
    assert fc.Drive("wd-velociraptor-300gb").run(fc.Job(bytes=4096)).total_op is None
    drive = fc.Drive("crucial-m4-256gb", spare=0.25, set=SMALL)
    assert drive.usable_bytes == 0.75 * drive.capacity_bytes
    with pytest.raises(fc.JobError, match="first 805306368 bytes"):
        drive.run(fc.Job(span_bytes=drive.capacity_bytes, seconds=1))


def test_parameters_can_be_read_and_set():
    drive = fc.Drive("crucial-m4-256gb", set={"link.gbps": 3, "gc.policy": "fifo"})
    assert (drive["link.gbps"], drive["gc.policy"], drive["nand.page_bytes"]) == (3.0, "fifo", 8192)
    assert drive.profile_hash != fc.Drive("crucial-m4-256gb").profile_hash
    assert "crucial-m4-256gb" in fc.drives() and "marvell-9128" in fc.hosts()
    behind = fc.Drive("crucial-m4-256gb", host="marvell-9128")
    assert behind.profile_hash != fc.Drive("crucial-m4-256gb").profile_hash
    values = {value["key"]: value for value in drive.values}
    assert values["link.gbps"]["standing"] == "set" and values["nand.dies"]["source"]
    # A value that is changed again has the last one.
    again = drive.with_(set={"link.gbps": 6})
    assert again["link.gbps"] == 6.0 and again["gc.policy"] == "fifo" and drive["link.gbps"] == 3.0
    with pytest.raises(fc.CatalogueError, match='^set={"spare": 7}: this drive has no parameter "spare"(?!.*--)'):
        fc.Drive("crucial-m4-256gb", set={"spare": 7})
    with pytest.raises(KeyError, match="nand.dice"):
        drive["nand.dice"]


def test_a_profile_of_ones_own_is_the_drive_it_was_written_from(tmp_path, small):
    file = tmp_path / "mine.toml"
    file.write_text(small.to_toml())
    mine = fc.Drive(file)
    assert mine.profile_hash == small.profile_hash == fc.Drive.from_toml(small.to_toml()).profile_hash
    away = pickle.dumps(mine)
    file.unlink()
    there = pickle.loads(away)
    assert there.run(fc.Job(seconds=1)).to_dict() == small.run(fc.Job(seconds=1)).to_dict()


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: fc.Drive("crucial-m4-256"), fc.CatalogueError, 'did you mean "crucial-m4-256gb"'),
        (lambda: fc.Drive("/dev/null"), fc.CatalogueError, "virtual ones"),
        (lambda: fc.Drive("none.toml"), fc.CatalogueError, "none.toml: cannot read"),
        (lambda: fc.Drive("crucial-m4-256gb", set={"nand.dies": 0}), fc.CatalogueError, "it must be 1 to 4096"),
        (lambda: fc.Drive("crucial-m4-256gb", set={"link.gbsp": 3}), fc.CatalogueError, "did you mean link.gbps"),
        (lambda: fc.Drive("crucial-m4-256gb", host="marvel"), fc.CatalogueError, "host controller"),
        (lambda: fc.Drive("crucial-m4-256gb", spare=25), ValueError, "from 0 to 0.9"),
        (lambda: fc.Drive("crucial-m4-256gb", spare=math.nan), ValueError, "from 0 to 0.9"),
        (lambda: fc.Drive.from_toml("name = 3"), fc.CatalogueError, "the profile"),
        (lambda: fc.Job("sideways", seconds=1), ValueError, "sideways"),
        (lambda: fc.Job(), ValueError, "needs an end"),
        (lambda: fc.Job(bytes=1, drive_writes=1), ValueError, "one length"),
        (lambda: fc.Job(drive_writes=math.inf), ValueError, "drive_writes"),
        (lambda: fc.Job(seconds=-1), ValueError, "seconds=-1: it is 1 to"),
        (lambda: fc.Job(seconds=0), ValueError, "seconds=0: it is 1 to"),
        (lambda: fc.Job(bytes=0), ValueError, "bytes=0: it is 1 to"),
        (lambda: fc.Drive("crucial-m4-64gb").run(fc.Job(drive_writes=1e-15)), fc.JobError, "drive_writes=0.000000000000001: of a span"),
        (lambda: fc.Drive("crucial-m4-64gb", set={"foo": 1}), fc.CatalogueError, '^set={"foo": 1}: this drive has no'),
        (lambda: fc.Drive("crucial-m4-64gb", set={"nand.dies": 0}), fc.CatalogueError, 'with set={"nand.dies": 0}: '),
        (lambda: fc.Drive("raid0:2xcrucial-m4-64gb", set={"gc.policy": "x"}), fc.CatalogueError, 'set={"gc.policy": "x"}: '),
        (lambda: fc.Job(bytes=1, queue_depth=-1), ValueError, "queue_depth=-1: it is 1 to"),
        (lambda: fc.Job(bytes=1, block_bytes=1 << 32), ValueError, "block_bytes=4294967296: .* below 4 GiB"),
        (lambda: fc.Job(bytes=1, read_percent=1000), ValueError, "read_percent=1000: it is 0 to 100"),
        (lambda: fc.Job(bytes=1, seed=-1), ValueError, "seed=-1: it is 0 to"),
        (lambda: fc.Job(seconds=1, data=101), ValueError, "0 to 100"),
        (lambda: fc.Job.from_fio("rw=read"), fc.JobFileError, "before the first section"),
        (lambda: fc.Job.from_fio("[a]\nrw=reed"), fc.JobFileError, "job.fio, line 2"),
        (lambda: fc.Job.from_fio("[a]\nrw=reed", name="mine/bad.fio"), fc.JobFileError, "^mine/bad.fio, line 2"),
        (lambda: fc.review("crucial-m4-256gb", "five-corners"), ValueError, "four-corners"),
        (lambda: fc.review("crucial-m4-256gb", []), ValueError, "methods is empty"),
        (lambda: fc.from_json("{}"), fc.RecordError, "schema"),
        (lambda: fc.Drive("crucial-m4-64gb").run(fc.Job(bytes=4096)).histogram.percentile(101), ValueError, "percent=101: it is 0 to 100"),
        (lambda: fc.Drive("crucial-m4-64gb").run(fc.Job(bytes=4096)).histogram.percentiles([math.nan]), ValueError, "percent=NaN"),
        (lambda: fc.Record.from_json("[]"), fc.RecordError, "no.* a record|not a record"),
    ],
)
def test_what_is_refused_is_said_as_the_library_says_it(make, error, told):
    with pytest.raises(error, match=told) as raised:
        make()
    assert "\n" not in str(raised.value)
    assert issubclass(fc.CatalogueError, fc.Error) and issubclass(fc.JobFileError, fc.JobError)


@pytest.mark.parametrize(
    ("job", "told"),
    [
        ({"block_bytes": 1000}, "multiple of the drive's logical block, 512"),
        ({"queue_depth": 33}, "takes 32 commands at once"),
        ({"span_start_bytes": 1}, "multiple of 512"),
        ({"span_start_bytes": 1 << 40}, "first 1073741824 bytes"),
        ({"span_bytes": 0}, "it must be 4096 to"),
    ],
)
def test_a_job_that_does_not_fit_is_refused_and_the_drive_is_as_before(small, job, told):
    with pytest.raises(fc.JobError, match=told):
        small.run(fc.Job(seconds=1, **job))
    pickle.dumps(small)


def test_jobs_and_errors_go_through_pickle():
    job = fc.Job("sequential", block_bytes=131072, drive_writes=1.5, data=40, seed=7)
    again = pickle.loads(pickle.dumps(job))
    for key, value in (("block_bytes", 0), ("queue_depth", 0), ("read_percent", 101), ("bytes", None)):
        text = json.dumps(json.loads(fc.Job(bytes=4096).to_json()) | {key: value})
        with pytest.raises(ValueError, match=key if value is not None else "needs an end"):
            fc.Job.from_json(text)
    assert again == job and hash(again) == hash(job) and again.data == 40
    assert job.replace(seed=8) != job and job.replace(seed=8).drive_writes == 1.5
    assert repr(job).startswith("Job(pattern='sequential'")
    assert eval(repr(job), {"Job": fc.Job}) == job
    error = pickle.loads(pickle.dumps(fc.JobError("no")))
    assert isinstance(error, fc.JobError) and str(error) == "no"


def test_a_drive_that_was_run_is_not_pickled(small):
    small.run(fc.Job(bytes=4096))
    with pytest.raises(ValueError, match="has a past"):
        pickle.dumps(small)


def test_progress_is_told_and_what_it_raises_stops_the_run(small):
    told = []
    small.run(fc.Job(seconds=600), progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0

    class Enough(Exception):
        pass

    def enough(part):
        raise Enough

    with pytest.raises(Enough):
        small.run(fc.Job(seconds=1_000_000), progress=enough)
    # It goes on from where it was stopped.
    assert small.run(fc.Job(seconds=1)).ios > 0


def test_the_jobs_of_a_job_file_leave_the_spare_area_alone():
    write = "[w]\nrw=write\nbs=128k\n"
    for spare in (0, 0.5):
        drive = fc.Drive("crucial-m4-256gb", spare=spare, set=SMALL)
        (job,) = drive.run_fio(write).jobs
        assert job["write"]["io_bytes"] == drive.usable_bytes == (1 - spare) * drive.capacity_bytes
    past = "[w]\nrw=write\nbs=128k\noffset=600m\nsize=1m\n"
    with pytest.raises(fc.JobFileError, match="offset=629145600 leaves no room .*: the target has 536870912"):
        drive.run_fio(past)
    # Control: without a spare area it is as good a place as any.
    assert fc.Drive("crucial-m4-256gb", set=SMALL).run_fio(past).jobs[0]["write"]["io_bytes"] == 1 << 20


def test_progress_of_a_job_file_ends_with_all_of_it(small):
    told = []
    small.run_fio("[w]\nrw=write\nsize=1m\n", progress=told.append)
    assert told[-1] == 1.0


def test_settings_are_any_mapping():
    given = types.MappingProxyType(SMALL)
    drive = fc.Drive("crucial-m4-256gb", set=given)
    assert drive.profile_hash == fc.Drive("crucial-m4-256gb", set=SMALL).profile_hash
    assert drive.with_(set=types.MappingProxyType({"gc.policy": "fifo"}))["gc.policy"] == "fifo"
    with pytest.raises(TypeError):
        fc.Drive("crucial-m4-256gb", set=[("gc.policy", "fifo")])


def test_a_job_files_environment_is_part_of_it(small, monkeypatch):
    text = "[w]\nrw=write\nbs=4k\nsize=${HOW_MUCH}\n"
    monkeypatch.setenv("HOW_MUCH", "1m")
    jobs = fc.Job.from_fio(text)
    assert jobs.environment == {"HOW_MUCH": "1m"} and fc.Job.from_fio("[w]\nsize=1m\n").environment == {}
    monkeypatch.setenv("HOW_MUCH", "2m")
    # A worker's environment is another one.
    for same in (jobs, pickle.loads(pickle.dumps(jobs))):
        assert small.with_().run(same).jobs[0]["write"]["total_ios"] == 256
    assert small.with_().run(fc.Job.from_fio(text)).jobs[0]["write"]["total_ios"] == 512
    monkeypatch.delenv("HOW_MUCH")
    assert pickle.loads(pickle.dumps(jobs)).environment == {"HOW_MUCH": "1m"}


@pytest.mark.parametrize("what", ["run", "review", "fio"])
def test_ctrl_c_stops_it(small, what):
    def work():
        if what == "run":
            small.run(fc.Job(seconds=1_000_000))
        elif what == "fio":
            small.run_fio("[job]\nrw=randwrite\nruntime=1000000\ntime_based\niodepth=32\nioengine=libaio")
        else:
            fc.review(fc.Drive("crucial-m4-256gb"), ["snia"])

    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    timer.join()


def test_other_threads_go_on_while_a_drive_is_at_work(small):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    raised = []

    def meanwhile():
        try:
            small.run(fc.Job(seconds=1))
        except RuntimeError as error:
            raised.append(str(error))

    def progress(part):
        if not raised:
            other = threading.Thread(target=meanwhile)
            other.start()
            other.join()

    small.run(fc.Job(seconds=600), progress=progress)
    done.set()
    thread.join()
    assert len(ticks) > 3
    assert "at work in another thread" in raised[0]


def test_a_job_file_is_run_as_fio_runs_it(small):
    text = "[global]\nioengine=libaio\niodepth=4\nbs=4k\n[r]\nrw=randread\nruntime=2\ntime_based\n"
    result = small.run_fio(text)
    assert result.jobs[0]["jobname"] == "r" and result.jobs[0]["read"]["total_ios"] > 1000
    assert "IOPS" in result.text and result.to_dict()["jobs"] == result.jobs
    # Laid out before: it reads from flash, which takes longer than a link and a command.
    assert result.jobs[0]["read"]["lat_ns"]["min"] > 60_000
    jobs = fc.Job.from_fio(text)
    same = small.with_().run(pickle.loads(pickle.dumps(jobs)))
    assert same.jobs[0]["read"] == result.jobs[0]["read"]
    assert small.with_().run(text).jobs[0]["read"] == result.jobs[0]["read"]
    with pytest.raises(fc.JobFileError, match="before the first section"):
        small.run("rw=read")
    with pytest.raises(ValueError, match="a drive runs a Job, or the text of a job file, no dict"):
        small.run({})


def test_a_drive_goes_on_from_the_state_that_was_saved(small, tmp_path):
    file = tmp_path / "used.state"
    job = fc.Job("random", bytes=256 << 20)
    small.fill()
    small.run(job)
    small.save_state(file)
    later = fc.Job("random", bytes=64 << 20, seed=7)
    expected = small.run(later).to_dict()
    again = small.with_()
    again.load_state(file)
    assert again.run(later).to_dict() == expected
    # Controls: a new drive is faster, and one that was used otherwise is put into the state all the same.
    assert small.with_().run(later).iops > 1.1 * expected["iops"]
    other = small.with_()
    other.run(fc.Job("sequential", bytes=64 << 20))
    other.load_state(file)
    assert other.run(later).to_dict() == expected
    # A state that is there is replaced.
    other.save_state(file)


def test_what_is_no_state_of_a_drive_is_refused(small, tmp_path):
    letter = tmp_path / "letter"
    letter.write_text("dear reader")
    file = tmp_path / "used.state"
    small.save_state(file)
    for drive, call, path, told in [
        (fc.Drive("seagate-momentus-5400.6"), "save_state", file, "hard disk"),
        (small, "save_state", letter, "is not replaced"),
        (small, "save_state", tmp_path, "directory"),
        (small, "load_state", letter, "letter"),
        (small, "load_state", tmp_path / "none", "none"),
        (fc.Drive("crucial-m4-256gb"), "load_state", file, "used.state"),
    ]:
        with pytest.raises(fc.StateError, match=told):
            getattr(drive, call)(path)
    assert letter.read_text() == "dear reader"


HUGE = [-1, 2**64, 2**70, 2**200, 10**5000]


@pytest.mark.parametrize("number", HUGE, ids=["-1", "2^64", "2^70", "2^200", "10^5000"])
def test_a_number_that_is_too_large_or_negative_is_a_value_error(small, tmp_path, number):
    csv = tmp_path / "s.csv"
    csv.write_text("time_us,op,offset_bytes,length_bytes\n0,read,0,4096\n")
    results = fc.Results(tmp_path / "results.db")
    asked = {
        "ios": [lambda it: fc.Trace("generated:light", ios=it), lambda it: fc.choose("generated:light", ios=it)],
        "seed": [
            lambda it: fc.Trace("task:boot", seed=it),
            lambda it: fc.choose("task:boot", seed=it),
            lambda it: fc.review(small, quick=True, seed=it),
            lambda it: fc.diagnose(small, seed=it),
            lambda it: fc.Job(bytes=1, seed=it),
            lambda it: fc.serve(small, seed=it),
        ],
        "device": [lambda it: fc.Trace(csv, device=it)],
        "range_bytes": [lambda it: fc.Trace(csv, range_bytes=(it, None)), lambda it: fc.Trace(csv, range_bytes=(0, it))],
        "depth": [lambda it: fc.replay(csv, small, depth=it), lambda it: small.replay(csv, depth=it)],
        "limit": [lambda it: results.list(limit=it)],
        "start_bytes": [lambda it: small.trim(it)],
        "bytes": [lambda it: small.trim(0, it), lambda it: fc.Job(bytes=it)],
    }
    for name, calls in asked.items():
        for call in calls:
            with pytest.raises(ValueError, match=f"^{name}=") as raised:
                call(number)
            assert len(str(raised.value)) < 200


def test_numbers_that_fit_are_taken_and_what_is_none_is_a_type_error(small):
    import numpy as np

    assert small.trim(np.int64(0), np.uint32(4096)) >= 0.0
    assert fc.Job(bytes=np.int32(4096), seed=2**64 - 1).seed == 2**64 - 1
    for wrong in ("1", 1.5):
        with pytest.raises(TypeError, match="bytes"):
            fc.Job(bytes=wrong)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: fc.Job(drive_writes=10**400), "drive_writes=inf"),
        (lambda: fc.Drive("crucial-m4-64gb", spare=-(10**400)), "spare=-inf"),
        (lambda: fc.Trace("task:boot", from_s=10**400), "from_s=inf: give seconds from 0 to"),
        (lambda: fc.choose("task:boot", gb_per_day=10**400), "gb_per_day=inf"),
        (lambda: fc.choose("task:boot", ["crucial-m4-64gb"], prices={"crucial-m4-64gb": 10**400}), "costs inf: give a number"),
    ],
)
def test_a_number_that_no_float_holds_is_a_value_error(ask, told):
    with pytest.raises(ValueError, match=told):
        ask()


def test_the_job_file_of_the_readme_has_the_depth_it_says(small):
    readme = (ROOT / "python/README.md").read_text()
    (text,) = re.findall(r'run_fio\("(.*?)"\)', readme)
    text = text.replace("\\n", "\n").replace("runtime=10", "runtime=1")
    deep = small.run_fio(text).jobs[0]
    # Control: without its engine one I/O is in flight, as in fio.
    plain = small.run_fio(text.replace("ioengine=libaio\n", "")).jobs[0]
    assert "iodepth=32" in text and deep["iodepth_level"]["32"] > 90 and plain["iodepth_level"]["1"] > 90
    assert deep["read"]["iops"] > 4 * plain["read"]["iops"]
