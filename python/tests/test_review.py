import json
import pickle

import pytest
from conftest import SETS, SMALL

import fourcorners as fc

def test_a_review_is_the_commands_to_the_bit(command):
    arguments = ["review", "crucial-m4-256gb", "--methods", "four-corners,consistency", "--quick", "--json"]
    theirs = fc.from_json(command(*arguments, "--seed", "3", *SETS))
    told = []
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    ours = fc.review([drive], ["four-corners", "consistency"], quick=True, seed=3, progress=told.append)
    assert [record.id for record in ours] == [record.id for record in theirs]
    assert ours == theirs and told[-1] == 1.0


def test_records_are_read_as_they_were_written(tmp_path):
    drive = fc.Drive("crucial-m4-256gb", set=SMALL, spare=0.25)
    records = fc.review(drive, ["consistency", "lba-pass"], quick=True)
    document = fc.to_json(records)
    assert json.loads(document)["schema"] == "fourcorners.review/2"
    file = tmp_path / "review.json"
    file.write_text(document)
    again = fc.load(file)
    assert again == records and [r.to_json() for r in again] == [r.to_json() for r in records]
    assert pickle.loads(pickle.dumps(records[0])).to_json() == records[0].to_json()
    consistency, passes = records
    name = next(iter(consistency.figures))
    assert name.endswith("spare25") and consistency.steadiness[name]["seconds"] == 20
    assert consistency.clock == "virtual" and consistency.complete and consistency.failure is None
    assert consistency.target.capacity_bytes == drive.capacity_bytes
    assert consistency.target.kind == "virtual" and "gc.pacing=paced" in consistency.target.set
    curve = next(iter(passes.curves.values()))
    assert curve.points.shape[1] == 2 and not curve.points.flags.owndata and "MB/s" in curve.y
    assert passes.notes and all(note.text for note in passes.notes)
    # What was changed since it was measured is no result, as to the commands.
    figure = next(iter(json.loads(document)["records"][0]["figures"].values()))
    changed = document.replace(f'"iops":{json.dumps(figure["iops"])}', '"iops":1.5')
    assert changed != document
    file.write_text(changed)
    one = json.dumps(json.loads(changed)["records"][0])
    for read in (lambda: fc.load(file), lambda: fc.from_json(changed), lambda: fc.Record.from_json(one)):
        with pytest.raises(fc.RecordError, match="is not what was measured"):
            read()
    file.write_text(document[:100])
    with pytest.raises(fc.RecordError, match="review.json"):
        fc.load(file)
    with pytest.raises(fc.RecordError, match="none.json: cannot be read: No such file"):
        fc.load(tmp_path / "none.json")


def test_records_are_tables():
    records = fc.review(fc.Drive("crucial-m4-256gb", set=SMALL), quick=True)
    frame = fc.to_pandas(records)
    assert len(frame) == sum(len(record.figures) for record in records)
    figure = records[0].figures["random_read_4k_qd3"]
    row = frame.set_index("figure").loc["random_read_4k_qd3"]
    # Of jobs rates are over all of the time.
    assert (frame["busy_s"] == frame["duration_s"]).all()
    assert (frame["iops"] * frame["busy_s"]).tolist() == pytest.approx(frame["ios"].tolist())
    assert row["iops"] == figure.iops and row["latency_p99_us"] == figure.latency_us.p99
    assert fc.to_arrow(records).num_rows == len(frame) == records[0].to_arrow().num_rows
    series = records[0].series["random_read_4k_qd3"].to_pandas()
    assert list(series["iops"]) == list(records[0].series["random_read_4k_qd3"].iops)


def test_a_drive_too_small_is_refused():
    tiny = {"capacity.sectors": 8000, "nand.blocks_per_plane": 8, "nand.pages_per_block": 8, "nand.dies": 8}
    with pytest.raises(fc.Error, match="too small"):
        fc.review(fc.Drive("crucial-m4-256gb", set={**SMALL, **tiny}))


def test_an_author_is_named_and_changes_no_id():
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    named = fc.review(drive, "four-corners", quick=True, author="Ada Lovelace")
    unnamed = fc.review(drive, "four-corners", quick=True)
    assert (named[0].author, unnamed[0].author) == ("Ada Lovelace", None)
    assert named[0].id == unnamed[0].id and "Reviewed by Ada Lovelace." in named.to_html()
    with pytest.raises(ValueError, match="author: give a name of 1 to 200"):
        fc.review(drive, quick=True, author=" ")


def test_what_has_no_drives_or_no_use_for_ios_is_refused():
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    with pytest.raises(ValueError, match="drives is empty: name one"):
        fc.review([])
    with pytest.raises(ValueError, match="ios=500: it is the most I/Os of a trace of storage-bench"):
        fc.review(drive, "four-corners", quick=True, ios=500)
    # Control: where there is one it is of use.
    (record,) = fc.review(drive, "storage-bench", quick=True, ios=500)
    assert max(replay["card"]["ios"] for replay in record.replays.values()) <= 500
