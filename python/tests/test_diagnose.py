"""A diagnosis from Python is the command's."""

import json
import pickle
import signal
import threading
from xml.etree import ElementTree

import pytest
from conftest import SETS, SMALL

import fourcorners as fc


def test_a_diagnosis_is_the_commands(command):
    printed = command("diagnose", "crucial-m4-256gb", "--only", "kind,row,write-buffer", "--seed", "3", "--json", *SETS)
    told = []
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    found = fc.diagnose(drive, only=["kind", "row", "write-buffer"], seed=3, progress=told.append)
    assert found.to_json() == printed.strip() and found == fc.Diagnosis.from_json(printed)
    assert told == sorted(told) and told[-1] == 1.0
    assert pickle.loads(pickle.dumps(found)).to_dict() == json.loads(printed)


def test_findings_say_what_the_profile_has_and_a_disk_has_no_flash():
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    found = fc.diagnose(drive)
    assert found["kind"].value == "ssd" and found["kind"].standing == "determined" and found["kind"].unit is None
    page = found["page_bytes"]
    assert (page.value, page.unit, page.standing) == (drive["nand.page_bytes"], "bytes", "determined")
    assert page.interval[0] <= page.value <= page.interval[1] and page.level == 0.95 and page.detector == "row"
    frame = found.to_pandas().set_index("key")
    assert list(frame.index) == [finding.key for finding in found.findings] and len(found) == len(frame)
    assert frame.loc["page_bytes", "low"] == page.interval[0]
    assert page.to_dict()["reason"] == page.reason == frame.loc["page_bytes", "reason"]
    # Control: of a disk the same detectors say so and nothing of flash.
    disk = fc.diagnose("wd-velociraptor-300gb", only=["kind", "row"])
    assert disk["kind"].value == "disk"
    assert disk["page_bytes"].value is None and disk["page_bytes"].standing == "undetermined"
    assert "no flash" in disk["page_bytes"].reason
    with pytest.raises(KeyError, match="was not looked for"):
        disk["trim"]


def test_samples_are_arrays():
    found = fc.diagnose(fc.Drive("crucial-m4-256gb", set=SMALL), only="row")
    (name, samples), *_ = found.samples["row"]
    assert samples.shape[1] == 2 and name
    told = found.to_dict()["evidence"][0]["series"][0]
    assert samples.tolist() == told["samples"] and name == told["what"]


def test_a_notebook_shows_a_row_for_each_finding():
    found = fc.diagnose(fc.Drive("crucial-m4-256gb", set=SMALL), only="kind,row")
    assert "<figure" in found.to_html() and "What is inside" in found.to_html()
    page = ElementTree.fromstring(f"<div>{found._repr_html_()}</div>")
    rows = ["".join(row.itertext()) for row in page.findall(".//tbody/tr")]
    assert len(rows) == len(found) and any("8192 bytes" in row for row in rows)


def test_a_budget_says_how_many_are_run(command):
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    cheap = fc.diagnose(drive, budget="100M")
    printed = command("diagnose", "crucial-m4-256gb", *SETS, "--budget", "100M", "--json")
    assert cheap.to_dict()["findings"] == json.loads(printed)["findings"]
    more = fc.diagnose(drive, budget="1G")
    assert set(cheap.samples) < set(more.samples) < set(fc.detectors())
    assert list(fc.diagnose(drive, only="row", budget="1h").samples) == ["row"]


@pytest.mark.parametrize(
    ("ask", "error", "told"),
    [
        ({"drive": "/dev/null"}, fc.CatalogueError, "virtual ones.*fourcorners diagnose /dev/null"),
        ({"drive": "crucial-m4-65gb"}, fc.CatalogueError, "did you mean"),
        ({"only": "trims"}, ValueError, "choose from: kind, row"),
        ({"only": []}, ValueError, "only is empty"),
        ({"budget": "some"}, ValueError, "budget=some: give a size such as 20G"),
        ({"budget": "1K"}, ValueError, "no detector costs so little"),
        ({"only": "trim", "budget": "1G"}, ValueError, "which is more than 1.0 GB"),
        ({"noise": "loud"}, ValueError, "none, lab, host"),
        ({"drive": fc.Drive("crucial-m4-64gb", spare=0.1)}, ValueError, "spare=0.1"),
    ],
)
def test_what_cannot_be_diagnosed_is_refused(ask, error, told):
    with pytest.raises(error, match=told) as raised:
        fc.diagnose(**{"drive": "crucial-m4-64gb", **ask})
    assert "\n" not in str(raised.value)
    with pytest.raises(fc.RecordError, match="this is not a diagnosis"):
        fc.Diagnosis.from_json("[]")


def test_an_array_is_diagnosed_as_one_target_and_ctrl_c_stops_it():
    found = fc.diagnose("raid0:2xcrucial-m4-64gb", only="kind")
    assert found.target == "raid0:2xcrucial-m4-64gb" and found["kind"].value == "ssd"
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fc.diagnose("crucial-m4-256gb", only="all")
    timer.join()
