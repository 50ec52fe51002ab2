"""Twins of virtual drives whose parameters the fit is not told."""

import functools
import json
import math
import random
import types
from dataclasses import dataclass

import pytest

import fourcorners as fc
from fourcorners.__main__ import main
from fourcorners._findings import told
from fourcorners._parameters import DEFAULT_KEYS, from_catalogue

#: What the maker of the drive would say, and the one who fits knows.
KNOWN = {
    "capacity.sectors": 2 * 1024 * 1024,
    "nand.channels": 4,
    "nand.pages_per_block": 16,
    "gc.pacing": "paced",
}
BASE = {**KNOWN, "nand.blocks_per_plane": 4000}
#: What records of the four corners and consistency determine, within this.
WITHIN = {
    "nand.page_bytes": 0.0,
    "nand.dies": 0.10,
    "nand.program_us": 0.10,
    "controller.write_command_us": 0.10,
}
METHODS = ["four-corners", "consistency"]


def hidden(seed):
    """A drive drawn at random."""
    draw = random.Random(seed)

    def log(low, high):
        return math.exp(draw.uniform(math.log(low), math.log(high)))

    page, dies, spare = draw.choice([4096, 8192, 16384]), draw.choice([4, 8, 16, 32]), log(0.10, 0.35)
    return fc.Drive(
        "crucial-m4-256gb",
        set={
            **KNOWN,
            "nand.page_bytes": page,
            "nand.dies": dies,
            "nand.program_us": round(log(400, 2500), 1),
            "nand.read_us": round(log(40, 110), 1),
            "nand.erase_us": round(log(1500, 5000)),
            "controller.write_command_us": round(log(5, 30), 2),
            "controller.read_command_us": round(log(5, 30), 2),
            "buffer.write_kib": draw.choice([512, 1024, 2048, 4096]),
            "nand.blocks_per_plane": max(8, round((1 << 30) * (1 + spare) / (dies * 2 * 16 * page))),
        },
    )


def drawn(count):
    """The first so many seeds of which the drive is possible."""
    seeds, seed = [], 0
    while len(seeds) < count:
        seed += 1
        try:
            hidden(seed)
            seeds.append(seed)
        except fc.CatalogueError:
            pass
    return seeds


@dataclass(frozen=True)
class Recovered:
    """A parameter of a hidden drive, and what its twin says of it."""

    true: float
    found: float
    #: The range that is stated, of the parameter as it was looked for: its value is in it, or not.
    in_range: bool
    determined: bool

    @property
    def error(self):
        return self.found / self.true - 1


#: What is asked of a hidden drive before it is fitted.
DETECTORS = ["row", "dies", "write-buffer", "spare"]


@functools.lru_cache(maxsize=None)
def recovered(seed, diagnosed=False):
    """What was found of a hidden drive, by key."""
    drive = hidden(seed)
    records = fc.review(drive, METHODS, quick=True)
    # `gc.choices` is used by a policy that the drive does not have: nothing can depend on it.
    keys = [*DEFAULT_KEYS, fc.Parameter("gc.choices", 1, 100, 8, 1.0, whole=True)]
    findings = fc.diagnose(drive, only=DETECTORS) if diagnosed else None
    twin = fc.twin(records, fc.Drive("crucial-m4-256gb", set=BASE), parameters=keys, findings=findings)
    found = {}
    for key, fitted in twin.parameters.items():
        if key == "over_provisioning":
            # It is looked for as the nameplate's, and what is asked is the effective one.
            (nameplate, true), value = drive.over_provisioning, twin.drive.over_provisioning[1]
            in_range = fitted.low <= nameplate <= fitted.high
        else:
            true, value = drive[key], fitted.value
            in_range = fitted.low <= true <= fitted.high
        found[key] = Recovered(true, value, in_range, fitted.determined)
    return twin, found


def check(seed, diagnosed=False):
    twin, found = recovered(seed, diagnosed)
    print(f"seed {seed}: {found}, misfit {twin.misfit}, {twin.evaluations} reviews")
    for key, within in {**WITHIN, "over_provisioning": 0.10}.items():
        it = found[key]
        assert it.determined, f"seed {seed}: {key} is not said to be determined"
        assert abs(it.error) <= within, f"seed {seed}: {key} is {it.true}, found {it.found}"
    assert twin.converged, f"seed {seed}: misfit {twin.misfit}"
    assert "gc.choices" in twin.undetermined, f"seed {seed}: {twin.undetermined}"
    return twin


def test_a_hidden_drive_is_found_and_what_cannot_be_is_listed():
    twin = check(drawn(2)[1])
    again = fc.Drive.from_toml(twin.to_toml())
    assert again.profile_hash == twin.drive.profile_hash
    values = {value["key"]: value for value in again.values}
    assert values["nand.program_us"]["standing"] == "fitted"
    assert "twin" in values["nand.program_us"]["source"]
    assert values["gc.choices"]["standing"] == "inferred"
    assert "do not determine" in values["gc.choices"]["note"]
    assert all(abs(error) < 0.05 for error in twin.errors.values())
    assert list(twin.to_pandas().index) == list(twin.parameters)


#: Without a diagnosis two are not: nearly every write to the many dies of one takes as long as a command costs, and of
#: the other the search ends at twice the dies, not met.
NOT_FOUND = pytest.mark.xfail(strict=True, reason="a command's cost limits nearly every write, or the search ends too early")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [pytest.param(it, marks=NOT_FOUND) if it in (9, 16) else it for it in drawn(20)])
def test_twenty_drives_drawn_at_random_are_found(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", drawn(20))
def test_the_same_drives_are_found_with_a_diagnosis(seed):
    twin = check(seed, diagnosed=True)
    assert twin.differing == []


@pytest.mark.slow
def test_a_diagnosis_saves_half_of_the_reviews():
    blind, diagnosed = (sum(recovered(seed, way)[0].evaluations for seed in drawn(20)) for way in (False, True))
    print(blind, diagnosed)
    assert diagnosed <= 0.5 * blind


@pytest.mark.slow
@pytest.mark.parametrize("diagnosed", [False, True])
def test_the_stated_ranges_hold_as_often_as_they_say(diagnosed):
    """Two in three, by the docstring of `Fitted`; a search that ends a little beside the best value
    must not state a range without it either."""
    held, all_of_them = {}, 0
    for seed in drawn(20):
        twin, found = recovered(seed, diagnosed)
        for key, it in found.items() if twin.converged else ():
            if key != "gc.choices":
                held[key] = held.get(key, 0) + it.in_range
        all_of_them += twin.converged
    assert all_of_them >= 19
    print(held)
    assert all(count >= 2 / 3 * all_of_them for count in held.values()), held


def test_a_diagnosis_fixes_what_it_determines_and_saves_half_of_the_reviews():
    seed = drawn(2)[1]
    twin = check(seed, diagnosed=True)
    (blind, _), drive = recovered(seed), hidden(seed)
    assert twin.evaluations <= 0.5 * blind.evaluations
    assert twin.drive["nand.page_bytes"] == drive["nand.page_bytes"] and twin.drive["nand.dies"] == drive["nand.dies"]
    buffer = twin.parameters["buffer.write_kib"]
    assert buffer.determined and buffer.low <= 512 < buffer.high <= 512 + 16
    # What the detectors say of the twin is what they say of the drive.
    assert [it.key for it in twin.diagnosis.findings] == [it.key for it in fc.diagnose(drive, only=DETECTORS).findings]
    assert twin.differing == [] and blind.diagnosis is None


def test_a_drive_of_which_next_to_nothing_is_spare_is_one_to_start_from():
    drive = hidden(5)
    diagnosis = fc.diagnose(drive, only=["row", "dies", "spare"]).to_dict()
    (spare,) = (it for it in diagnosis["findings"] if it["key"] == "spare_percent")
    for interval in ([0.0, 0.1], [0.0, 60.0], [0.0, 0.0]):
        spare.update(value=interval[1] / 2, interval=interval)
        findings = fc.Diagnosis.from_json(json.dumps(diagnosis))
        found = {one.key: one for one in told([from_catalogue(key, drive) for key in DEFAULT_KEYS], drive, findings)}
        assert found["nand.dies"].choices == (16,)
        assert 0 < found["over_provisioning"].low <= found["over_provisioning"].high


def test_a_diagnosis_of_another_drive_is_not_met_and_its_findings_differ():
    drive, other = hidden(2), hidden(5)
    records = fc.review(drive, METHODS, quick=True)
    findings = fc.diagnose(other, only=["row", "dies"])
    twin = fc.twin(records, fc.Drive("crucial-m4-256gb", set=BASE), findings=findings, most_reviews=60)
    assert not twin.converged and twin.drive["nand.page_bytes"] == 16384
    # It has what it was told to have. A twin that is not varied in it has not.
    assert twin.differing == []
    as_it_is = fc.twin(records, drive, parameters=["nand.program_us"], findings=findings)
    assert as_it_is.converged
    assert {one.key: (one.value, two.value) for one, two in as_it_is.differing}["page_bytes"] == (16384, 4096)


def test_an_undetermined_finding_says_nothing_and_a_disks_are_refused():
    drive = hidden(2)
    records = fc.review(drive, METHODS, quick=True)
    # It has no borders of pages, and is as quick as memory.
    of_another = fc.diagnose("intel-optane-900p-280gb", only=["kind", "row"])
    with pytest.raises(fc.TwinError, match="are of crucial-m4-256gb, and the diagnosis is of intel-optane-900p-280gb"):
        fc.twin(records, drive, findings=of_another)
    nothing = fc.Diagnosis.from_json(json.dumps({**of_another.to_dict(), "target": "crucial-m4-256gb"}))
    assert {it.standing for it in nothing.findings} == {"undetermined"}
    blind, told = (
        fc.twin(records, drive, parameters=["nand.dies", "nand.page_bytes", "nand.read_us"], findings=findings)
        for findings in (None, nothing)
    )
    assert blind.parameters == told.parameters and blind.evaluations == told.evaluations
    stored = nothing.to_dict()
    for finding in stored["findings"]:
        finding["evidence"] = "a-later-versions"
    for findings in (stored, {**stored, "findings": []}):
        with pytest.raises(fc.TwinError, match="has no finding of a detector: kind, row"):
            fc.twin(records, drive, findings=fc.Diagnosis.from_json(json.dumps(findings)))
    with pytest.raises(TypeError, match="findings is a str: give a Diagnosis"):
        fc.twin(records, drive, findings="found.json")
    with pytest.raises(fc.TwinError, match="a hard disk"):
        fc.twin(records, drive, findings=fc.diagnose("wd-velociraptor-300gb", only=["kind"]))


def test_what_is_not_met_is_not_said_to_be_and_the_search_keeps_to_its_reviews():
    drive = hidden(drawn(2)[1])
    records = fc.review(drive, METHODS, quick=True)
    assert fc.twin(records, drive, parameters=["nand.dies"]).converged
    # No program or read time makes up for twice the dies and eight times the buffer.
    other = drive.with_(set={"buffer.write_kib": 4096, "nand.dies": 8})
    tried = []
    twin = fc.twin(records, other, parameters=["nand.program_us", "nand.read_us"], most_reviews=1, progress=tried.append)
    assert not twin.converged and twin.misfit > 1
    # One climb of a round, and the ranges; one that goes on takes hundreds.
    assert twin.evaluations == tried[-1] <= 40


def test_records_that_make_no_twin_are_refused():
    drive = hidden(drawn(1)[0])
    records = fc.review(drive, METHODS, quick=True)
    other = fc.review(drive, ["four-corners"], quick=True, seed=2)
    disk = "seagate-momentus-5400.6"
    for given, base, told in [
        ([], None, "no records"),
        (records + other, None, "differ in seed"),
        (records + fc.review(disk, quick=True), None, "several drives"),
        (records, disk, "hard disk"),
    ]:
        with pytest.raises(fc.TwinError, match=told):
            fc.twin(given, base)
    with pytest.raises(fc.TwinError, match="most_reviews is 0"):
        fc.twin(records, drive, most_reviews=0)
    with pytest.raises(fc.TwinError, match="parameters is empty"):
        fc.twin(records, drive, parameters=[])
    with pytest.raises(ValueError, match="has no parameter"):
        fc.twin(records, parameters=["map.page_bytes"])
    with pytest.raises(ValueError, match="in this order"):
        fc.Parameter("nand.read_us", 10, 5, 7, 1.0)


def test_records_of_what_a_candidate_cannot_do_are_refused():
    drive = hidden(drawn(1)[0])
    records, reviews = fc.review(drive, METHODS, quick=True), []
    # As a plan file's.
    of_plan = types.SimpleNamespace(method="mine", **{name: getattr(records[0], name) for name in ("target", "figures", "quick", "seed")})
    with pytest.raises(fc.TwinError, match="the records are of mine, which Python cannot run on a candidate"):
        fc.twin([of_plan], drive)
    # No drive can be made of pages of 5,000 bytes.
    page = fc.Parameter("nand.page_bytes", 4999, 5001, 5000, 0.01, whole=True)
    with pytest.raises(fc.TwinError, match="no candidate can be put through the methods of the records: .*page_bytes"):
        fc.twin(records, drive, parameters=["nand.read_us", page], progress=reviews.append)
    # What was refused is no review.
    assert set(reviews) <= {0}


def test_a_search_with_a_folder_runs_each_review_once(tmp_path, monkeypatch):
    from fourcorners import _reviewed

    drive, other = hidden(drawn(2)[1]), []
    records = fc.review(drive, "four-corners", quick=True)
    folder = tmp_path / "twin"
    asked = {"parameters": ["nand.dies", "nand.read_us"], "most_reviews": 1}

    def progress(_reviews):
        if not other:
            with pytest.raises(fc.SweepError, match="another sweep writes here") as refused:
                fc.sweep({"drive": drive}, fc.Job(bytes=4096), into=folder)
            other.append(refused)

    found = fc.twin(records, drive, into=folder, progress=progress, **asked)
    assert other and found.parameters == fc.twin(records, drive, **asked).parameters

    def run(*_arguments, **_keywords):
        raise AssertionError("a review is run")

    monkeypatch.setattr(_reviewed, "sweep", run)
    again = fc.twin(records, drive, into=folder, **asked)
    assert again.parameters == found.parameters and again.evaluations == found.evaluations
    # Control: elsewhere there is none.
    with pytest.raises(AssertionError, match="a review is run"):
        fc.twin(records, drive, into=tmp_path / "empty", **asked)


def test_choices_that_the_data_do_not_tell_apart_have_a_range():
    from fourcorners._ranges import _likely

    alike = {float(1 << step): 1 / 7 for step in range(7)}
    assert len(_likely(alike)) == 5
    # Control: where the data tell, the range is of what has more than a tail.
    assert _likely({4.0: 0.7, 8.0: 0.2, 16.0: 0.1}) == [4.0, 8.0] and _likely({4.0: 0.01, 8.0: 0.99}) == [8.0]


def test_where_the_profile_goes_is_looked_at_before_the_search(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    review = tmp_path / "review.json"
    review.write_text(fc.to_json(fc.review(hidden(drawn(1)[0]), ["four-corners"], quick=True)))
    before = review.read_text()
    searched = []

    def twin(*_arguments, **_keywords):
        searched.append(True)
        raise fc.TwinError("searched")

    monkeypatch.setattr("fourcorners._twin.twin", twin)
    (tmp_path / "link.toml").symlink_to("review.json")
    (tmp_path / "folder").mkdir()
    for output, told in [
        ("review.json", "review.json: this would replace review.json, which is read for it"),
        ("link.toml", "link.toml: this would replace review.json"),
        ("none/twin.toml", "none: there is no such folder; make it first"),
        ("folder", "folder: it is a folder; name a file in it"),
    ]:
        assert main(["twin", "review.json", "-o", output]) == 2 and told in capsys.readouterr().err
    assert not searched and review.read_text() == before
    # Control: what can be written is searched for.
    assert main(["twin", "review.json", "-o", "twin.toml"]) == 2 and searched and "searched" in capsys.readouterr().err


def asked_for(folder, monkeypatch):
    """The arguments for a twin of a hidden drive but for its base, and that drive."""
    monkeypatch.chdir(folder)
    drive = hidden(drawn(2)[1])
    (folder / "review.json").write_text(fc.to_json(fc.review(drive, METHODS, quick=True)))
    (folder / "found.json").write_text(fc.diagnose(drive, only=DETECTORS).to_json())
    return ["twin", "review.json", "--findings", "found.json", "--output", "twin.toml"], drive


def test_the_command_writes_a_profile_and_says_how_well_the_records_are_met(tmp_path, capsys, monkeypatch):
    asked, drive = asked_for(tmp_path, monkeypatch)
    (tmp_path / "base.toml").write_text(fc.Drive("crucial-m4-256gb", set=BASE).to_toml())
    assert main([*asked, "--like", "base.toml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "fourcorners.twin/1" and told["converged"] and told["differing"] == []
    by_key = {it["key"]: it for it in told["parameters"]}
    twin = fc.Drive(told["profile"])
    for key, within in WITHIN.items():
        assert abs(by_key[key]["value"] / drive[key] - 1) <= within, key
        # A profile has six digits.
        assert twin[key] == pytest.approx(by_key[key]["value"], rel=5e-6)
    # It is another drive than its base, by whatever it is asked for.
    of = fc.load("review.json")[0].id[:7]
    assert (twin.name, twin.title) == (f"twin-of-crucial-m4-256gb-{of}", "Twin of Crucial m4 256 GB")
    # What it would be refused for is known before anything is measured.
    check = ["twin", "review.json", "--check", "--like", "base.toml"]
    assert main([*check, "--diagnosed", "crucial-m4-256gb"]) == 0
    assert main([*check, "--diagnosed", "ocz-vertex-30gb"]) == 2
    assert "the diagnosis is of ocz-vertex-30gb" in capsys.readouterr().err
    before = (tmp_path / "twin.toml").read_text()
    for wrong, why in (["none.json"], "none.json"), (["review.json", "--like", "none"], "there is no drive"), (["base.toml"], "base.toml"):
        assert main(["twin", *wrong, "--output", "twin.toml"]) == 2
        said = capsys.readouterr().err.strip()
        assert why in said and "\n" not in said
    assert (tmp_path / "twin.toml").read_text() == before and len(list(tmp_path.iterdir())) == 4


@pytest.mark.slow
def test_the_command_says_that_no_twin_of_this_kind_meets_the_records(tmp_path, capsys, monkeypatch):
    asked, _ = asked_for(tmp_path, monkeypatch)
    assert main([*asked, "--like", "crucial-m4-64gb"]) == 1
    words = capsys.readouterr().out
    assert "the records are NOT met" in words and "nand.page_bytes" in words
