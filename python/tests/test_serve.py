"""A drive is served to a program for as long as a block lasts."""

import os
import re
import time
from pathlib import Path

import pytest
from conftest import SMALL
from nbd import Client

import fourcorners as fc


def socket_of(served):
    return Path(re.search(r"socket=(.*)", served.uri)[1])


def operation(report, name):
    return next(it for it in report["operations"] if it["name"] == name)


def test_a_program_uses_the_drive_and_the_recording_is_a_work(tmp_path):
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    record = tmp_path / "work.fct"
    with fc.serve(drive, time="virtual", record=record) as served:
        assert served.is_running and socket_of(served).exists()
        client = Client(served.uri)
        assert client.bytes == drive.capacity_bytes
        data = os.urandom(8192)
        assert [client.write(at * 65536, data) for at in range(10)] == [0] * 10
        assert client.read(3 * 65536, 8192) == data and client.flush() == 0
        # What never was written is zeros.
        assert client.read(1 << 29, 4096) == bytes(4096)
        client.close()
    assert not served.is_running and not socket_of(served).exists() and "was at" in repr(served)
    report = served.report
    assert report["event"] == "end" and operation(report, "write")["ios"] == 10 and operation(report, "read")["ios"] == 2
    assert report["drive"]["host_bytes"] == 10 * 8192 and "served for" in served.text
    assert served.recording == record
    trace = fc.Trace(record)
    assert trace.to_arrays()["operation"].tolist() == [1] * 10 + [0, 3, 0]
    # It is replayed, and drives are chosen by it.
    assert drive.replay(trace).ios == 13
    assert fc.choose(record, ["crucial-m4-64gb", "wd-velociraptor-300gb"]).drives[0] == "crucial-m4-64gb"
    served.close()


def test_clients_wait_as_long_as_the_drive_takes():
    def slowest_read(name, **how):
        with fc.serve(name, **how) as served:
            client = Client(served.uri)
            taken = []
            for at in range(12):
                began = time.monotonic()
                client.read((at * 7919 % 1000) << 20, 4096)
                taken.append(time.monotonic() - began)
            client.close()
        return sorted(taken)[len(taken) // 2], operation(served.report, "read")["latency_us"]["p50"]

    wall, drives = slowest_read("wd-velociraptor-300gb")
    assert drives > 2000 and wall * 1e6 > 0.8 * drives
    # Control: in virtual time the drive takes as long, and nobody waits for it.
    wall, drives = slowest_read("wd-velociraptor-300gb", time="virtual")
    assert drives > 2000 and wall * 1e6 < 0.8 * drives


def test_several_as_one_over_tcp_and_contents_that_stay(tmp_path):
    array = fc.Drive("raid1:2xcrucial-m4-256gb", set=SMALL)
    contents = tmp_path / "disk.img"
    for round in range(2):
        with fc.serve(array, "tcp:127.0.0.1:0", time="virtual", contents=contents) as served:
            client = Client(served.uri)
            assert client.bytes == array.capacity_bytes
            assert client.read(1 << 20, 4096) == (b"x" * 4096 if round else bytes(4096))
            assert client.write(1 << 20, b"x" * 4096) == 0
            client.close()
    with fc.serve(array, time="virtual", contents=contents, read_only=True) as served:
        client = Client(served.uri)
        assert client.write(0, bytes(4096)) != 0
        client.close()


def test_a_fault_strikes_and_an_exception_ends_the_server():
    with pytest.raises(ZeroDivisionError), fc.serve("crucial-m4-64gb", time="virtual", faults=["eio-write@n=2"]) as served:
        client = Client(served.uri)
        assert [client.write(0, bytes(4096)) == 0 for _ in range(3)] == [True, False, True]
        1 / 0
    assert not served.is_running and served.report["failed"] == 1


@pytest.mark.parametrize(
    ("ask", "error", "told"),
    [
        ({"drive": "/dev/null"}, fc.CatalogueError, "virtual ones"),
        ({"drive": fc.Drive("crucial-m4-64gb", spare=0.1)}, ValueError, "spare=0.1"),
        ({"drive": fc.Drive("crucial-m4-64gb", host="marvell-9128")}, ValueError, "the real host"),
        ({"at": "m4.sock"}, ValueError, "at: m4.sock"),
        ({"at": "tcp:0.0.0.0:0"}, fc.Error, "can be reached by other machines"),
        ({"at": "unix:/none/here.sock"}, fc.Error, "cannot listen"),
        ({"at": "vhost-user:/tmp/none.sock"}, fc.Error, "built without vhost-user"),
        ({"time": "fast"}, ValueError, "time: "),
        ({"faults": ["fire@n=1"]}, ValueError, "faults: "),
        ({"door_us": -1.0}, ValueError, "door_us=-1"),
        ({"record": "/none/trace"}, fc.Error, "/none/trace"),
        ({"contents": __file__}, fc.Error, "test_serve.py"),
    ],
)
def test_what_cannot_be_served_is_refused_and_leaves_nothing(ask, error, told):
    before = Path(__file__).read_bytes()
    with pytest.raises(error, match=told) as raised:
        fc.serve(**{"drive": "crucial-m4-64gb", "time": "virtual", **ask})
    assert "\n" not in str(raised.value) and Path(__file__).read_bytes() == before


def test_a_recording_is_never_written_over(tmp_path):
    file = tmp_path / "there"
    file.write_text("notes")
    with pytest.raises(fc.Error, match="there"):
        fc.serve("crucial-m4-64gb", record=file)
    assert file.read_text() == "notes"
