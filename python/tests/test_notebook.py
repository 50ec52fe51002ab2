"""What a notebook and a first script meet: tables, bars, folders, and packages that are not there."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html import unescape

import pytest
from conftest import SMALL

import fourcorners as fc

GRID = {"drive": "crucial-m4-256gb", **SMALL, "seed": [1, 2]}
JOB = fc.Job(bytes=1 << 20)


def script(text, folder, **environment):
    path = folder / "script.py"
    path.write_text(text)
    line = [sys.executable, str(path)]
    return subprocess.run(line, capture_output=True, text=True, cwd=folder, env={**os.environ, **environment}, timeout=120)


SWEEP = "import fourcorners as fc\n{guard}    print(len(fc.sweep({grid!r}, fc.Job(bytes=1 << 20), workers=2{into}).to_pylist()))\n"


@pytest.mark.parametrize("into", ["", ', into="results"'])
def test_a_script_without_a_guard_says_so_and_one_with_it_runs(tmp_path, into):
    bare = script(SWEEP.format(guard="if True:\n", grid=GRID, into=into), tmp_path)
    assert bare.returncode == 1
    assert 'below `if __name__ == "__main__":`' in bare.stderr.strip().splitlines()[-1], bare.stderr
    assert "memory" not in bare.stderr and bare.stderr.count("Traceback") == 1, bare.stderr
    # What it left is no hindrance.
    guarded = script(SWEEP.format(guard='if __name__ == "__main__":\n', grid=GRID, into=into), tmp_path)
    assert (guarded.returncode, guarded.stdout) == (0, "2\n"), guarded.stderr


def test_a_worker_that_takes_its_time_to_end_is_waited_for(tmp_path):
    # On a busy machine a worker closes its files, by which the pool notices its end, well before it has an exit code.
    slow = (
        "import atexit, os, signal, time\n"
        "if __name__ != '__main__':\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    atexit.register(lambda: (os.closerange(3, 256), time.sleep(0.3)))\n"
    )
    bare = script(slow + SWEEP.format(guard="if True:\n", grid=GRID, into=""), tmp_path)
    assert 'below `if __name__ == "__main__":`' in bare.stderr.strip().splitlines()[-1], bare.stderr


def test_a_folder_is_loaded_as_its_document_is(tmp_path):
    records = fc.review(fc.Drive("crucial-m4-256gb", set=SMALL), "lba-pass", quick=True)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "review.json").write_text(fc.to_json(records))
    assert fc.load(folder) == fc.load(folder / "review.json") == records
    with pytest.raises(fc.RecordError, match="it has no review.json or replay.json; name one of .*mine"):
        fc.load(tmp_path)
    (folder / "review.json").rename(folder / "other.json")
    with pytest.raises(fc.RecordError, match="it has no review.json or replay.json$"):
        fc.load(folder)


@pytest.mark.parametrize(
    ("package", "call", "extra"),
    [
        ("pandas", "fc.to_pandas([])", "frames"),
        ("pyarrow", "fc.to_arrow([])", "frames"),
        ("pyarrow", "fc.Results('r.db').to_arrow()", "frames"),
        ("pandas", "fc.sweep({'drive': []}, []).to_pandas()", None),
        ("tqdm", "fc.Bar()", "notebook"),
    ],
)
def test_a_package_that_is_missing_is_named_with_the_extra_that_brings_it(tmp_path, package, call, extra):
    # A module that says it is not there takes the place of the package.
    (tmp_path / "absent").mkdir()
    raises = f"raise ModuleNotFoundError('No module named {package}', name={package!r})\n"
    (tmp_path / "absent" / f"{package}.py").write_text(raises)
    text = f"import fourcorners as fc\ntry:\n    {call}\nexcept fc.Error as error:\n    print(type(error).__name__, error)\n"
    ran = script(text, tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path / "absent"), os.environ.get("PYTHONPATH", "")]))
    if extra is None:
        # Control: what goes wrong before that is said as it was.
        assert "SweepError" in ran.stdout and "pip install" not in ran.stdout, ran
        return
    assert f"needs {package}, which is not installed: pip install 'fourcorners[{extra}]'" in ran.stdout, ran
    assert ran.stdout.startswith("MissingPackageError")


def test_a_missing_package_is_an_import_error_too():
    assert issubclass(fc.MissingPackageError, ImportError) and issubclass(fc.MissingPackageError, fc.Error)


def test_a_sweep_is_iterated_and_takes_the_text_of_a_job_file():
    text = "[a]\nrw=randwrite\nsize=1m\n"
    # Its jobs have seeds of their own.
    grid = {**{axis: values for axis, values in GRID.items() if axis != "seed"}, "spare": [0, 0.25]}
    with fc_threads() as executor:
        swept = fc.sweep(grid, text, executor)
        named = fc.sweep(grid, fc.Job.from_fio(text), executor)
    assert list(swept) == swept.to_pylist() == named.to_pylist()
    assert [row["spare"] for row in swept] == [0, 0.25]
    with pytest.raises(fc.JobFileError):
        fc.sweep(GRID, "random")


def fc_threads():
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(1)


def test_a_share_is_a_number_or_has_a_per_cent_sign_as_on_the_command_line():
    name = "crucial-m4-256gb"
    assert fc.Drive(name, spare="25%").spare == fc.Drive(name, spare=0.25).spare == 0.25
    assert fc.Drive(name, spare=" 7.5 % ").with_(spare="12%").spare == 0.12
    for wrong, told in [(25, "\"25%\""), ("25", "25%"), ("a%", "25%"), ("nan%", "25%"), ("95%", "from 0 to 0.9")]:
        with pytest.raises(ValueError, match=told):
            fc.Drive(name, spare=wrong)
    with pytest.raises(TypeError):
        fc.Drive(name, spare=[])
    with fc_threads() as executor:
        of = [fc.sweep({**GRID, "spare": spare}, JOB, executor).to_pylist() for spare in ("25%", 0.25)]
    assert [row["key"] for row in of[0]] == [row["key"] for row in of[1]]


def parsed(html):
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_a_notebook_shows_pages_tables_and_charts():
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    records = fc.review(drive, ["four-corners", "lba-pass"], quick=True)
    assert isinstance(records, list) and isinstance(records, fc.Records)
    # The page of the review, within a frame that keeps its style and script to itself.
    shown = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts"[^>]*></iframe>', records._repr_html_())
    page = unescape(shown[1])
    assert page == records.to_html() == fc.to_html(records) and page.startswith("<!DOCTYPE html>")
    assert page.count("<figure") > 4 and "Crucial m4 256 GB" in page and "http-equiv=\"Content-Security-Policy\"" in page
    assert "<figure" not in fc.to_html([]) and "holds no records" in fc.to_html([])
    one = parsed(records[0]._repr_html_())
    names = [row[0].text for row in one.findall(".//tbody/tr")]
    assert names == list(records[0].figures)
    # A chart goes from 0 to its highest value, and is as wide as its box.
    line = one.find(".//polyline").get("points").split(" ")
    points = [tuple(map(float, point.split(","))) for point in line]
    iops = next(iter(records[0].series.values())).iops
    assert points[0][0] == 0 and points[-1][0] == 160 and min(y for _, y in points) == 0
    assert abs(points[-1][1] - 28 * (1 - iops[-1] / max(iops))) < 0.06
    shown = parsed(drive._repr_html_())
    values = {row[0].text: [cell.text for cell in row[1:]] for row in shown.findall(".//tbody/tr")}
    assert list(values) == [it["key"] for it in drive.values] and values["nand.dies"][:2] == ["8", "set"]
    assert "Crucial m4" in "".join(shown.itertext())
    pair = parsed(fc.Drive("raid1:2xcrucial-m4-256gb")._repr_html_())
    assert "".join(pair.itertext()).count("Crucial m4 256 GB") >= 2
    run = drive.run(fc.Job(seconds=3))
    row = parsed(run._repr_html_()).findall(".//tbody/tr/td")
    assert row[0].text == f"{run.iops:,.0f}" and row[-1].find(".//polyline") is not None
    with fc_threads() as executor:
        swept = fc.sweep({**GRID, "seed": range(25)}, JOB, executor)
    shown = parsed(swept._repr_html_())
    assert len(shown.findall(".//tbody/tr")) == 20 and "and 5 more" in "".join(shown.itertext())


def test_what_is_shown_is_text_whatever_it_is_called():
    from fourcorners import _html

    cells = parsed(_html.table(["<b>"], [["<script>&\"'"]]))
    assert "".join(cells.itertext()) == "<b><script>&\"'"
    # What has no course has no chart.
    assert [_html.chart(values) for values in ([], [1], [0, 0, 0])] == ["", "", ""]
    # However long it was, it has at most two points a column.
    assert _html.chart(range(100_000)).count(",") < 400


def test_a_bar_goes_to_its_end(capsys):
    pytest.importorskip("tqdm")
    fc.review(fc.Drive("crucial-m4-256gb", set=SMALL), "lba-pass", quick=True, progress=fc.Bar("review"))
    with fc_threads() as executor:
        fc.sweep(GRID, JOB, executor, progress=fc.Bar("sweep"))
    said = capsys.readouterr().err
    assert "review: 100%" in said and "2/2" in said, said
