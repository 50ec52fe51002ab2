"""A choice from Python is the command's."""

import json
import pickle
import signal
import threading
from xml.etree import ElementTree

import pytest
from conftest import SMALL

import fourcorners as fc

DRIVES = ["crucial-m4-64gb", "intel-x25-e-64gb", "wd-velociraptor-300gb"]
CACHE = "cache:crucial-m4-64gb+wd-velociraptor-300gb"
TRACE = "time_us,op,offset_bytes,length_bytes\n0,write,0,4096\n5,read,8192,4096\n9,write,65536,131072\n"


@pytest.fixture
def trace(tmp_path):
    file = tmp_path / "work.csv"
    file.write_text(TRACE)
    return file


def test_a_choice_is_the_commands(command, trace):
    printed = command("choose", trace, "--also", CACHE, "--have", DRIVES[2], "--gb-per-day", "20", "--json")
    told = []
    choice = fc.choose(trace, also=CACHE, have=DRIVES[2], gb_per_day=20, progress=told.append)
    assert choice.to_dict() == json.loads(printed) and choice.to_json() == printed.strip()
    assert choice == fc.Choice.from_json(printed) and told[-1] == 1.0
    assert set(choice.drives) == {*fc.drives(), CACHE} - {it["drive"] for it in choice.left_out}
    # The command says the same.
    words = " ".join(command("choose", trace, "--also", CACHE, "--have", DRIVES[2], "--gb-per-day", "20").split())
    assert choice.text in words and "The work waits least for" in choice.text


def test_rows_are_the_drives_and_the_drive_one_has_is_held_against():
    choice = fc.choose("task:boot", DRIVES, have=DRIVES[2], gb_per_day=20, prices={DRIVES[0]: 60})
    assert choice.drives[-1] == DRIVES[2] and len(choice) == 3
    frame = choice.to_pandas().set_index("drive")
    assert list(frame.index) == choice.drives and frame["waited_s"].is_monotonic_increasing
    assert ((frame["band_low_s"] <= frame["waited_s"]) & (frame["waited_s"] <= frame["band_high_s"])).all()
    assert frame.loc[DRIVES[2], "hours_a_year_vs_have"] == 0 < frame.loc[DRIVES[0], "hours_a_year_vs_have"]
    assert frame.loc[DRIVES[0], "price_per_performance"] == 60 * frame.loc[DRIVES[0], "waited_s"]
    assert frame["price"].isna().sum() == 2
    assert choice.to_arrow().to_pylist() == choice.to_pylist()
    assert pickle.loads(pickle.dumps(choice)) == choice
    # A band is from the errors of its family only if the drive is the family's, as it is.
    changed = fc.Drive(DRIVES[0], set={"link.gbps": 3})
    other = fc.choose("task:boot", [changed]).to_pylist()[0]
    assert other["band_standing"] == "catalogue" != frame.loc[DRIVES[0], "band_standing"]
    assert other["waited_s"] > frame.loc[DRIVES[0], "waited_s"]


def test_a_capacity_leaves_what_has_it_and_what_was_named(command, trace):
    by = {"capacity": "200-300GB", "have": DRIVES[2], "also": CACHE}
    printed = command("choose", trace, "--capacity", "200-300GB", "--have", DRIVES[2], "--also", CACHE, "--json")
    choice = fc.choose(trace, **by)
    assert choice.to_json() == printed.strip() and {DRIVES[2], CACHE} <= set(choice.drives)
    assert "crucial-m4-256gb" in choice.drives and not {DRIVES[0], "crucial-m4-512gb"} & set(choice.drives)
    # Of drives that were named as those to choose from it leaves what it would of the catalogue.
    assert fc.choose(trace, [DRIVES[0], "crucial-m4-256gb"], capacity="256GB").drives == ["crucial-m4-256gb"]


def test_an_array_wins_where_it_can_and_not_where_it_cannot(tmp_path):
    lines = [f"0,write,{at * 1048576},1048576" for at in range(400)]
    wide, single = tmp_path / "wide.csv", tmp_path / "single.csv"
    wide.write_text("time_us,op,offset_bytes,length_bytes\n" + "\n".join(lines))
    lines = [f"{at * 1000},read,{at * 7919 % 4000 * 65536},4096" for at in range(400)]
    single.write_text("time_us,op,offset_bytes,length_bytes\n" + "\n".join(lines))
    array = "raid0:2xcrucial-m4-256gb"
    waits = {
        work: {row["drive"]: row["waited_s"] for row in fc.choose(work, ["crucial-m4-256gb", array]).to_pylist()}
        for work in (wide, single)
    }
    assert waits[wide][array] < 0.6 * waits[wide]["crucial-m4-256gb"]
    # Control: one read at a time is of one drive.
    assert 0.9 < waits[single][array] / waits[single]["crucial-m4-256gb"] < 1.1


def test_a_job_file_is_a_text_or_a_file(tmp_path):
    text = "[a]\nrw=randread\nbs=4k\nsize=64m\n"
    (tmp_path / "job.fio").write_text(text)
    of = [fc.choose(work, DRIVES, ios=2000) for work in (fc.Job.from_fio(text), tmp_path / "job.fio")]
    assert of[0].to_pylist() == of[1].to_pylist() and of[0].work["kind"] == "job_file" and of[0].work["ios"] == 2000


def test_of_a_trace_only_what_is_taken_counts(trace):
    whole = fc.choose(fc.Trace(trace), DRIVES)
    assert whole.to_pylist() == fc.choose(trace, DRIVES).to_pylist() and whole.work["ios"] == 3
    writes = fc.choose(fc.Trace(trace, operations="write"), DRIVES)
    assert writes.work["ios"] == 2 and writes.work["read_gb"] == 0 < whole.work["read_gb"]
    with pytest.raises(ValueError, match="its own"):
        fc.choose(fc.Trace(trace), DRIVES, ios=2)


def test_a_notebook_shows_the_answer_and_a_row_for_each_drive(trace):
    choice = fc.choose(trace, DRIVES, have=DRIVES[1])
    whole = choice.to_html()
    assert whole.startswith("<!DOCTYPE html>") and all(row["title"] in whole for row in choice.to_pylist())
    page = ElementTree.fromstring(f"<div>{choice._repr_html_()}</div>")
    rows = page.findall(".//tbody/tr")
    assert len(rows) == 3 and choice.text in "".join(page.itertext())
    assert sum("(yours)" in "".join(row.itertext()) for row in rows) == 1
    # What it says to do is Python's.
    assert "gb_per_day=N says" in fc.choose("task:boot", DRIVES, have=DRIVES[2]).text


@pytest.mark.parametrize(
    ("ask", "error", "told"),
    [
        ({"work": "none.csv"}, fc.TraceError, "none.csv"),
        ({"work": "/dev/null"}, fc.TraceError, "this is not a file"),
        ({"work": "task:boots"}, fc.TraceError, "task:boot"),
        ({"work": "none.fio"}, fc.JobFileError, "none.fio"),
        ({"work": "task:boot", "ios": 10}, ValueError, "leave it out"),
        ({"work": "generated:light", "ios": 0}, ValueError, "ios=0"),
        ({"drives": []}, ValueError, "drives is empty"),
        ({"drives": "crucial-m4-65gb"}, fc.CatalogueError, "did you mean"),
        ({"also": "raid0:1xcrucial-m4-64gb"}, fc.CatalogueError, "raid0"),
        ({"have": "/dev/null"}, fc.CatalogueError, "virtual ones"),
        ({"capacity": "a lot"}, ValueError, "capacity=a lot: give a range"),
        ({"capacity": "300-200GB"}, ValueError, "ends before it begins"),
        ({"capacity": "9TB"}, ValueError, "no drive has that; they have 64"),
        ({"state": "worn"}, ValueError, '"written" or "used"'),
        ({"gb_per_day": 0}, ValueError, "a number above 0"),
        ({"gb_per_day": 1.1e9}, ValueError, "gb_per_day=1100000000: .* above 0 and up to 1,000,000,000$"),
        ({"work": fc.Trace("generated:light", ios=1000, seed=4), "seed": 9}, ValueError, "seed=9: that of a Trace is its own"),
        ({"work": fc.Job.from_fio("[a]\nrw=read\nsize=64m\n"), "seed": 9}, ValueError, "seed=9: a job file has its own"),
        ({"work": "web.csv", "seed": 9}, ValueError, "seed=9: web.csv is neither a task nor"),
        ({"gb_per_day": float("nan")}, ValueError, "a number above 0"),
        ({"prices": {"nobody": 3}}, ValueError, "none of the drives"),
        ({"prices": {DRIVES[0]: 0}}, ValueError, "give a number above 0"),
        ({"also": [fc.Drive(DRIVES[0], spare=0.2)]}, ValueError, "spare=0.2"),
        ({"also": [fc.Drive(DRIVES[0], set={"link.gbps": 3})]}, ValueError, "another drive called"),
    ],
)
def test_what_cannot_be_chosen_by_is_refused(ask, error, told):
    with pytest.raises(error, match=told) as raised:
        fc.choose(**{"work": "task:boot", "drives": DRIVES, **ask})
    assert "\n" not in str(raised.value)
    with pytest.raises(fc.RecordError, match="this is not a choice"):
        fc.Choice.from_json("{}")


def test_ctrl_c_stops_it():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fc.choose("task:boot", state="used")
    timer.join()
    # Control: the next one runs to its end.
    assert len(fc.choose("task:boot", DRIVES[2])) == 1


def test_a_drive_given_as_one_is_the_drive_of_its_name():
    one = fc.choose("task:boot", fc.Drive(DRIVES[0])).to_json()
    assert one == fc.choose("task:boot", DRIVES[0]).to_json() == fc.choose("task:boot", [DRIVES[0]] * 2).to_json()
    mine = fc.Drive.from_toml(fc.Drive("crucial-m4-256gb", set=SMALL).to_toml().replace("crucial-m4-256gb", "mine"))
    assert "mine" in fc.choose(fc.Job.from_fio("[a]\nrw=randread\nsize=64m\n"), DRIVES, also=mine).drives


def test_a_seed_is_of_a_task_or_of_a_trace_that_has_it():
    by_seed = {seed: fc.choose("task:boot", DRIVES[:1], seed=seed).to_pylist() for seed in (1, 9)}
    assert by_seed[1] == fc.choose("task:boot", DRIVES[:1]).to_pylist() != by_seed[9]
    assert fc.choose(fc.Trace("task:boot", seed=9), DRIVES[:1]).to_pylist() == by_seed[9]
