"""What goes through pickle comes back with all that its properties say."""

import copy
import pickle

import numpy as np
import pytest
from conftest import SMALL

import fourcorners as fc

CSV = "time_us,op,offset_bytes,length_bytes,duration_us\n0,write,0,4096,50\n100,read,8192,4096,90\n900,read,65536,131072,400\n"


def again(value):
    return pickle.loads(pickle.dumps(value))


def same(one, other, depth=0):
    """Whether two values, and all that their properties say, are the same."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(same(a, b, depth) for a, b in zip(one, other))
    if not type(one).__module__.startswith("fourcorners"):
        return one == other
    names = [name for name, kind in vars(type(one)).items() if not name.startswith("_") and not callable(kind)]
    assert names and depth < 3
    # Without a repr of its own an object says where it is.
    shown = type(one).__repr__ is object.__repr__ or repr(one) == repr(other)
    return shown and all(same(getattr(one, name), getattr(other, name), depth + 1) for name in names)


@pytest.fixture(scope="module")
def drive():
    return fc.Drive("crucial-m4-256gb", set=SMALL)


@pytest.fixture(scope="module")
def run(drive):
    return drive.run(fc.Job("random", read_percent=30, queue_depth=4, seconds=3))


@pytest.fixture(scope="module")
def replay(drive):
    return drive.replay(fc.Trace("generated:light", ios=3000), pace="recorded", addresses="rescaled")


def test_a_run_and_what_it_has(run):
    for value in (run, run.histogram, run.series, run.latency_us):
        there = again(value)
        assert same(value, there) and same(value, again(there))
    there = again(run)
    assert there.to_dict() == run.to_dict() and there.job == run.job
    percents = [0, 0.01, 50, 99, 99.9, 99.99, 100]
    for histogram in (there.histogram, again(run.histogram)):
        assert (histogram.percentiles(percents) == run.histogram.percentiles(percents)).all()
        assert (histogram.bins() == run.histogram.bins()).all() and len(histogram) == run.ios
    # Arrays are views of what keeps them alive, here as there.
    alone = again(run.histogram)
    assert there.histogram.counts.base is there and alone.counts.base is alone
    counts = alone.counts
    del alone
    assert counts.sum() == run.ios and not counts.flags.writeable


def test_a_run_of_one_io_and_one_of_millions(drive):
    for job in (fc.Job(bytes=1), fc.Job(bytes=8192, queue_depth=2), fc.Job("sequential", drive_writes=8)):
        run = drive.run(job)
        assert same(run, again(run)) and same(run.histogram, again(run.histogram))
    # Control: another run is another one.
    assert not same(drive.run(fc.Job(bytes=1 << 20)), drive.run(fc.Job(bytes=1 << 21)))


def test_a_replay(replay):
    there = again(replay)
    assert same(replay, there) and there.to_dict() == replay.to_dict()
    for name in ("histogram", "read_histogram", "write_histogram"):
        one, other = getattr(replay, name), getattr(there, name)
        assert len(one) == len(other) > 0 and one.percentile(99.9) == other.percentile(99.9)
        assert same(one, again(one))
    assert not same(replay.read_histogram, replay.write_histogram)


def test_a_trace_is_its_path_and_keywords(tmp_path, monkeypatch):
    file = tmp_path / "work.csv"
    file.write_text(CSV)
    keywords = [
        {},
        {"operations": {"read"}, "from_s": 0.00005, "range_bytes": (8192, None), "time_scale": 0.5, "skip_bad": True},
        {"device": 0, "address_scale": 2, "to_s": 0.0005, "format": "csv", "operations": "read,write"},
    ]
    traces = [fc.Trace(file, **chosen) for chosen in keywords]
    traces += [fc.Trace("generated:light", ios=500, seed=9), fc.Trace("task:boot", seed=2)]
    cards = [trace.card for trace in traces]
    assert [trace.card for trace in map(again, traces)] == cards
    for trace in traces:
        there = again(trace)
        assert there.name == trace.name and same(list(trace.to_arrays().items()), list(there.to_arrays().items()))
    assert cards[0]["ios"] == 3 and cards[1]["ios"] == 2
    # A task in a file keeps the name that says so.
    monkeypatch.chdir(tmp_path)
    assert copy.copy(fc.Trace("./work.csv")).name == "./work.csv"
    pickled = pickle.dumps(traces[0])
    file.unlink()
    with pytest.raises(fc.TraceError, match="work.csv"):
        pickle.loads(pickled)


def test_what_a_record_has(drive):
    records = fc.review(drive.with_(), ["four-corners", "lba-pass"], quick=True)
    for record in records:
        for kind in (record.figures, record.series, record.curves):
            for value in kind.values():
                assert same(value, again(value))
        for value in (*record.verdicts, *record.notes, record.target):
            assert same(value, again(value))
        for figure in record.figures.values():
            assert again(figure).to_dict() == figure.to_dict() and same(figure.latency_us, again(figure.latency_us))
    assert any(record.curves for record in records) and any(record.verdicts for record in records)


def test_findings_summaries_and_fio(drive, tmp_path):
    found = fc.diagnose(drive, only="kind")
    assert all(same(finding, again(finding)) for finding in found.findings)
    results = fc.Results(tmp_path / "results.db")
    results.add(fc.review(drive.with_(), "four-corners", quick=True))
    assert [again(it) for it in results.list()] == results.list()
    fio = drive.with_().run_fio("[a]\nrw=randread\nsize=1m\n")
    assert same(fio, again(fio)) and again(fio).jobs == fio.jobs


def test_what_is_no_pickle_of_ours_is_said():
    for kind in (fc.Run, fc.Replay, fc.Histogram, fc.Series, fc.Figure):
        with pytest.raises(ValueError, match="no pickled result of this version"):
            kind._again("{}")
    text = '{"bins": [[0, 18446744073709551615], [1, 1]], "min": 0, "max": 1}'
    with pytest.raises(ValueError, match="more values than can be counted"):
        fc.Histogram._again(text)
