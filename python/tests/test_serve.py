"""A drive is served to a program for as long as a block lasts."""

import os
import re
import shutil
import ssl
import subprocess
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


def test_a_recording_has_the_flags_of_its_ios(tmp_path):
    record = tmp_path / "work.fct"
    with fc.serve(fc.Drive("crucial-m4-256gb", set=SMALL), time="virtual", record=record) as served:
        client = Client(served.uri)
        assert client.write(0, bytes(range(256)) * 16) == client.write(8192, b"x" * 4096, fua=True) == 0
        assert client.write_zeroes(16384, 4096) == 0
        client.close()
    trace = fc.Trace(record)
    arrays = trace.to_arrays()
    assert arrays["fua"].tolist() == [False, True, False] and arrays["zeroes"].tolist() == [False, False, True]
    assert not arrays["failed"].any() and trace.to_arrow()["fua"].to_pylist() == trace.to_pandas()["fua"].tolist()
    with pytest.warns(fc.TraceWarning, match=r"csv has no place for flags \(FUA, zeros, failures\).*: left out; format"):
        trace.convert(tmp_path / "work.csv", "csv")
    # What a form has no place for is not in it.
    assert not fc.Trace(tmp_path / "work.csv").to_arrays()["fua"].any()


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
        ({"door_us": 5.0}, ValueError, "leave it out"),
        ({"record": "new", "contents": "new"}, ValueError, "a file of its own"),
        ({"record": "/none/trace"}, fc.Error, "/none/trace"),
        ({"contents": __file__}, fc.Error, "test_serve.py"),
        ({"state": __file__}, fc.StateError, "is not the state of a drive"),
        ({"drive": "raid1:2xcrucial-m4-64gb", "state": __file__}, fc.StateError, "this is several"),
        ({"drive": "wd-velociraptor-300gb", "state": __file__}, fc.StateError, "hard disk"),
        ({"tls": "/none"}, fc.Error, "/none/"),
    ],
)
def test_what_cannot_be_served_is_refused_and_leaves_nothing(ask, error, told):
    before = Path(__file__).read_bytes()
    with pytest.raises(error, match=told) as raised:
        fc.serve(**{"drive": "crucial-m4-64gb", "time": "virtual", **ask})
    assert "\n" not in str(raised.value) and Path(__file__).read_bytes() == before


def test_a_drive_is_served_in_the_state_it_was_saved_in(tmp_path):
    used = fc.Drive("crucial-m4-256gb", set=SMALL)
    used.fill()
    used.run(fc.Job(drive_writes=1))
    used.save_state(tmp_path / "used.4cs")

    def copied(**how):
        """Bytes programmed for each that a client writes."""
        with fc.serve(used, time="virtual", **how) as served:
            client = Client(served.uri)
            for at in range(2000):
                assert client.write(at * 7919 % 200_000 * 4096, bytes(4096)) == 0
            client.close()
        drive = served.report["drive"]
        return drive["nand_bytes"] / drive["host_bytes"]

    assert copied(state=tmp_path / "used.4cs") > 1.5
    # Control: of a drive only its profile counts, and that is a new one.
    assert copied() < 1.1
    other = fc.Drive("crucial-m4-256gb", set={**SMALL, "nand.dies": 16})
    with pytest.raises(fc.StateError, match="with other values"):
        fc.serve(other, state=tmp_path / "used.4cs")


def test_commands_are_carried_out_while_a_program_is_at_work():
    with fc.serve("crucial-m4-64gb", time="virtual", control=True) as served:
        client = Client(served.uri)
        assert client.write(0, b"a" * 4096) == 0
        served.control("snapshot before")
        served.control("fault eio-write@n=1")
        assert client.write(0, b"b" * 4096) != 0 and client.write(0, b"b" * 4096) == 0
        assert client.read(0, 4096) == b"b" * 4096
        served.control("rollback before")
        assert client.read(0, 4096) == b"a" * 4096
        assert operation(served.control("status")["status"], "write")["ios"] == 3
        # What was not flushed is lost with the power, and what was is not.
        assert client.flush() == 0 and client.write(0, b"c" * 4096) == 0
        served.control("cut --off 0")
        client = Client(served.uri)
        assert client.read(0, 4096) == b"a" * 4096
        assert client.write(0, b"d" * 4096) == 0 and client.flush() == 0
        served.control("cut --off 0")
        client = Client(served.uri)
        assert client.read(0, 4096) == b"d" * 4096
        for wrong, told in [("stop", "give status"), ("drop none", "no snapshot none"), ("cut nicely", "no way to lose data")]:
            with pytest.raises(fc.Error, match=told):
                served.control(wrong)
        with pytest.raises(ValueError, match="line break"):
            served.control("status\nstatus")
    with pytest.raises(fc.Error, match="not served any more"):
        served.control("status")


def test_a_server_takes_commands_only_if_that_was_asked_for():
    with fc.serve("crucial-m4-64gb", time="virtual") as served, pytest.raises(ValueError, match="control=True"):
        served.control("status")


def authority(folder):
    """Certificates of a server, and of a client, that an authority of this folder has signed."""
    folder.mkdir()
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    (folder / "client.ext").write_text("basicConstraints=CA:FALSE\n")

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=authority", "-keyout", "ca-key.pem", "-out", "ca-cert.pem")
    for who in "server", "client":
        openssl("req", *key, "-subj", f"/CN={who}", "-keyout", f"{who}-key.pem", "-out", f"{who}.csr")
        openssl(
            "x509", "-req", "-in", f"{who}.csr", "-CA", "ca-cert.pem", "-CAkey", "ca-key.pem", "-CAcreateserial",
            "-days", "2", "-extfile", f"{who}.ext", "-out", f"{who}-cert.pem",
        )
    return folder


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make certificates with")
def test_who_has_a_certificate_of_the_authority_is_let_in_and_nobody_else(tmp_path):
    ours, others = authority(tmp_path / "ours"), authority(tmp_path / "others")

    def context(certificate):
        context = ssl.create_default_context(cafile=ours / "ca-cert.pem")
        context.load_cert_chain(certificate / "client-cert.pem", certificate / "client-key.pem")
        return context

    with fc.serve("crucial-m4-64gb", "tcp:0.0.0.0:0", time="virtual", tls=ours) as served:
        uri = served.uri.replace("0.0.0.0", "127.0.0.1")
        client = Client(uri, context(ours))
        assert client.write(0, b"x" * 4096) == 0 and client.read(0, 4096) == b"x" * 4096
        client.close()
        with pytest.raises((ssl.SSLError, ConnectionError, AssertionError)):
            Client(uri, context(others))
        with pytest.raises((ConnectionError, AssertionError)):
            Client(uri)


def test_a_recording_is_never_written_over(tmp_path):
    file = tmp_path / "there"
    file.write_text("notes")
    with pytest.raises(fc.Error, match="there"):
        fc.serve("crucial-m4-64gb", record=file, contents=tmp_path / "made in vain")
    assert file.read_text() == "notes" and list(tmp_path.iterdir()) == [file]


def test_contents_that_were_made_in_vain_are_removed_and_others_stay(tmp_path):
    made, taken = tmp_path / "disk.img", tmp_path / "taken"
    taken.write_text("notes")
    for refused in ({"at": f"unix:{taken}"}, {"record": tmp_path / "none" / "trace"}):
        with pytest.raises(fc.Error):
            fc.serve("crucial-m4-64gb", time="virtual", contents=made, **refused)
        assert list(tmp_path.iterdir()) == [taken]
    # Control: those that a server had before stay, and so do a server's own.
    fc.serve("crucial-m4-64gb", time="virtual", contents=made).close()
    with pytest.raises(fc.Error, match="taken exists"):
        fc.serve("crucial-m4-64gb", time="virtual", contents=made, at=f"unix:{taken}")
    assert made.exists() and taken.read_text() == "notes"
