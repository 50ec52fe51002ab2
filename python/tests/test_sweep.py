import concurrent.futures as cf
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import SMALL

import fourcorners as fc

JOBS = [
    fc.Job("sequential", block_bytes=131072, drive_writes=0.02),
    fc.Job("random", read_percent=30, bytes=1 << 20),
]


def grid(runs=12, **more):
    return {
        "drive": "crucial-m4-256gb",
        **SMALL,
        "spare": [0, 0.25],
        "gc.policy": ["greedy", "fifo"],
        "seed": range(runs // 4),
        **more,
    }


def in_process(cells, job=JOBS, **options):
    with cf.ThreadPoolExecutor(1) as executor:
        return fc.sweep(cells, job, executor, **options)


def test_every_combination_is_run_once_in_the_grids_order():
    swept = in_process(grid())
    assert (swept.total, swept.ran, swept.known, swept.lost) == (12, 12, 0, 0)
    frame = swept.to_pandas()
    assert list(frame["seed"]) == list(range(3)) * 4
    assert frame["spare"].tolist() == [0.0] * 6 + [0.25] * 6
    assert frame["key"].is_unique and frame["complete"].all() and frame["error"].isna().all()
    # What a row says is what a drive does.
    drive = fc.Drive("crucial-m4-256gb", spare=0.25, set={**SMALL, "gc.policy": "fifo"})
    from fourcorners._task import job_seed

    for place, job in enumerate(JOBS):
        run = drive.run(job.replace(seed=job_seed(2, place)))
        drive.settle()
    last = swept.to_pylist()[-1]
    assert {name: last[name] for name in run.to_dict()} == run.to_dict()


def test_local_processes_give_what_one_thread_gives(tmp_path):
    here = in_process(grid())
    there = fc.sweep(grid(), JOBS, into=tmp_path, workers=2, runs_per_task=3)
    assert there.to_pylist() == here.to_pylist()


def test_what_was_stopped_goes_on_and_what_was_extended_runs_what_is_new(tmp_path):
    class Enough(Exception):
        pass

    def enough(done, total):
        if done == 5:
            raise Enough

    with pytest.raises(Enough):
        in_process(grid(), into=tmp_path, progress=enough)
    on = in_process(grid(), into=tmp_path)
    assert (on.known, on.ran) == (5, 7)
    again = in_process(grid(), into=tmp_path)
    assert (again.known, again.ran) == (12, 0)
    more = in_process(grid(20), into=tmp_path)
    assert (more.known, more.ran, more.total) == (12, 8, 20)
    assert more.to_pylist() == in_process(grid(20)).to_pylist()
    # Equal runs have one result, however they are named.
    twice = [{"drive": "crucial-m4-256gb", **SMALL, "spare": spare} for spare in (0, 0.0, None)]
    swept = in_process(twice, into=tmp_path / "twice")
    assert (swept.total, swept.ran, len(swept.to_pylist())) == (3, 1, 3)
    # Another job is another result.
    assert in_process(grid(), JOBS[:1], into=tmp_path).ran == 12


def test_what_is_kept_of_a_run_is_part_of_what_is_known(tmp_path):
    cells = [{"drive": "crucial-m4-256gb", **SMALL}]
    quick = fc.Review(("four-corners",), quick=True)
    assert in_process(cells, quick, into=tmp_path).ran == 1
    # Asked for more, it is run again, and has it; asked for the same or for less, it is not.
    for kept, column in [("records", "record"), ("series", "series_iops")]:
        more = in_process(cells, quick, into=tmp_path, **{kept: True})
        assert more.ran == 1 and any(row[column] for row in more.to_pylist())
        again = in_process(cells, quick, into=tmp_path, **{kept: True})
        assert again.ran == 0 and again.to_pylist() == more.to_pylist()
    assert in_process(cells, quick, into=tmp_path).ran == 0
    full = in_process(cells, quick, into=tmp_path / "full", series=True, records=True)
    less = in_process(cells, quick, into=tmp_path / "full", series=True)
    assert (full.ran, less.ran, less.known, len(less.to_pylist())) == (1, 0, 1, len(full.to_pylist()))
    # Of jobs there is no record to keep.
    assert in_process(cells, into=tmp_path).ran == 1
    with pytest.raises(fc.SweepError, match="records=True: a record is of a Review"):
        in_process(cells, into=tmp_path, records=True)


def test_a_replay_is_a_figure_as_others_are():
    cells = [{"drive": "crucial-m4-64gb", "seed": 5}]
    tasks = in_process(cells, fc.Review(("tasks",), quick=True), records=True).to_pylist()
    (boot,) = (row for row in tasks if row["figure"].startswith("tasks/boot"))
    assert boot["complete"] and boot["ios"] > 1000 and boot["latency_p99_us"] > boot["latency_p50_us"] > 0
    replayed = fc.Record.from_json(tasks[0]["record"]).replays["boot"]["figures"]["task"]
    assert boot["busy_s"] == replayed["busy_s"] < boot["duration_s"]
    assert boot["mb_per_s"] == replayed["mb_per_s"] and boot["iops"] == replayed["all"]["ios"] / replayed["busy_s"]


def test_a_killed_sweep_has_whole_files_and_goes_on(tmp_path):
    code = (
        "import fourcorners as fc, test_sweep as t\n"
        "from fourcorners import _parquet\n"
        "_parquet.ROWS_A_FILE = 10\n"
        f"t.in_process(t.grid(2000), into={str(tmp_path)!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=os.path.dirname(__file__))
    while len(list(tmp_path.glob("part-*"))) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    from fourcorners import _parquet

    there = len(_parquet.keys(tmp_path))
    assert there >= 30 and there % 10 == 0
    (tmp_path / ".fourcorners-part.tmp").write_bytes(b"PAR1 cut off")
    swept = in_process(grid(2000), into=tmp_path)
    assert (swept.known, swept.ran) == (there, 2000 - there)
    assert not (tmp_path / ".fourcorners-part.tmp").exists()


def test_two_sweeps_do_not_write_into_one_folder(tmp_path):
    def progress(done, total):
        if done == 1:
            with pytest.raises(fc.SweepError, match="another sweep writes here"):
                in_process(grid(4), into=tmp_path)

    in_process(grid(4), into=tmp_path, progress=progress)


def test_a_process_that_dies_is_replaced_and_nothing_is_lost(tmp_path):
    import multiprocessing

    killed = []

    def kill(done, total):
        if done == 20 and not killed:
            child = multiprocessing.active_children()[0]
            os.kill(child.pid, signal.SIGKILL)
            killed.append(child.pid)

    swept = fc.sweep(grid(60), JOBS, workers=2, into=tmp_path, progress=kill)
    assert killed and swept.ran == 60 and swept.lost > 0
    assert swept.to_pylist() == in_process(grid(60)).to_pylist()


def test_a_sweep_that_ends_takes_back_what_it_gave_out():
    class Watching(cf.ThreadPoolExecutor):
        given = []

        def submit(self, *args, **keywords):
            future = super().submit(*args, **keywords)
            self.given.append(future)
            return future

    class Enough(Exception):
        pass

    def enough(done, total):
        if done == 2:
            raise Enough

    with Watching(1) as executor:
        with pytest.raises(Enough):
            fc.sweep(grid(200), JOBS, executor, progress=enough)
        assert len(executor.given) == 200
        # Those that were run before, or are, are few: one thread has them all.
        assert sum(future.cancelled() for future in executor.given) > 100
    # Control: of a sweep that goes on to its end nothing is taken back.
    executor = Watching(1)
    executor.given = []
    with executor:
        assert fc.sweep(grid(8), JOBS, executor).ran == 8
    assert not any(future.cancelled() for future in executor.given)


def test_a_row_does_not_wait_for_the_next(tmp_path, monkeypatch):
    from fourcorners import _parquet

    def last_waits_for(seconds):
        """Files that are there when the last of two runs begins to bring its result."""
        monkeypatch.setattr(_parquet, "SECONDS_A_FILE", seconds)
        folder, there = tmp_path / str(seconds), []

        class Late(cf.ThreadPoolExecutor):
            def submit(self, work, batch, **options):
                def late():
                    until = time.monotonic() + 5
                    while batch[0].seed == 1 and not list(folder.glob("part-*")) and time.monotonic() < until:
                        time.sleep(0.01)
                    there.append(len(list(folder.glob("part-*"))))
                    return work(batch, **options)

                return super().submit(late)

        with Late(1) as executor:
            assert fc.sweep(grid(8, spare=0, **{"gc.policy": "fifo"}, seed=[0, 1]), JOBS, executor, into=folder).ran == 2
        return there[-1]

    assert last_waits_for(0.1) == 1
    # Control: what is not late yet becomes a file with the next.
    assert last_waits_for(3600) == 0


def test_an_engine_that_always_loses_a_run_is_not_asked_for_ever():
    class Losing(cf.Executor):
        asked = 0

        def submit(self, *_args, **_keywords):
            self.asked += 1
            future = cf.Future()
            future.set_exception(ConnectionError("gone"))
            return future

    losing = Losing()
    with pytest.raises(fc.SweepError, match="lost 4 times .*gone"):
        fc.sweep({"drive": "crucial-m4-256gb"}, JOBS, losing)
    assert losing.asked == 4


def test_ctrl_c_keeps_what_arrived(tmp_path):
    threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
    slow = [fc.Job(drive_writes=1)]
    with pytest.raises(KeyboardInterrupt):
        fc.sweep(grid(40_000), slow, workers=2, into=tmp_path)
    import multiprocessing

    assert not multiprocessing.active_children()
    from fourcorners import _parquet

    there = len(_parquet.keys(tmp_path))
    swept = in_process(grid(40), slow, into=tmp_path)
    assert swept.known <= there


def test_what_a_drive_refuses_is_a_result():
    swept = in_process({"drive": "crucial-m4-256gb", **SMALL}, fc.Job(queue_depth=33, seconds=1))
    (row,) = swept.failed
    assert "takes 32 commands" in row["error"] and row["iops"] is None


def test_reviews_and_job_files_can_be_swept(tmp_path):
    cells = {"drive": "crucial-m4-256gb", **SMALL, "nand.page_bytes": [8192, 16384], "seed": [1]}
    swept = in_process(cells, fc.Review("four-corners", quick=True), into=tmp_path, series=True, records=True)
    frame = swept.to_pandas()
    assert swept.ran == 2 and len(frame) == 16 and len(frame.iloc[0]["series_iops"]) == 5
    record = fc.Record.from_json(frame.iloc[0]["record"])
    drive = fc.Drive("crucial-m4-256gb", set={**SMALL, "nand.page_bytes": 8192})
    assert fc.review(drive, "four-corners", quick=True)[0].id == record.id
    jobs = fc.Job.from_fio("[a]\nrw=randwrite\nsize=1m\n[b]\nstonewall\nrw=randread\nsize=1m\n")
    rows = in_process({"drive": "crucial-m4-256gb", **SMALL}, jobs).to_pylist()
    assert [row["figure"] for row in rows] == ["a", "b"]
    assert rows[0]["ios"] == 256 and rows[1]["latency_p99_us"] > 60


def test_what_a_job_file_has_not_is_not_swept():
    jobs, cells = "[a]\nrw=randread\nsize=4m\nioengine=libaio\niodepth=8\n", {"drive": "crucial-m4-256gb", **SMALL}
    with pytest.raises(fc.SweepError, match="seed=0: the jobs of a job file have their own, randseed"):
        in_process({**cells, "seed": range(3)}, jobs)
    with pytest.raises(fc.SweepError, match="series=True: fio's results have no seconds"):
        in_process(cells, jobs, series=True)
    # Control: its own do something, and so does the spare area.
    one, other = (in_process(cells, f"{jobs}randseed={seed}\n").to_pylist()[0] for seed in (1, 2))
    assert one["key"] != other["key"] and one["latency_mean_us"] != other["latency_mean_us"]
    whole = "[a]\nrw=write\nbs=128k\n"
    assert [row["bytes"] for row in in_process({**cells, "spare": [0, 0.5]}, whole).to_pylist()] == [1 << 30, 1 << 29]


def test_a_job_file_of_another_environment_is_another_run(tmp_path, monkeypatch):
    text, cells = "[a]\nrw=randwrite\nsize=${HOW_MUCH}\n", {"drive": "crucial-m4-256gb", **SMALL}
    for much, ran in [("1m", 1), ("2m", 1), ("1m", 0)]:
        monkeypatch.setenv("HOW_MUCH", much)
        swept = in_process(cells, text, into=tmp_path)
        assert swept.ran == ran and swept.to_pylist()[0]["bytes"] == int(much[0]) << 20


def test_what_a_drive_fails_is_said_beside_what_it_came_to():
    worn = {"drive": "m4-4gb-wear", "wear.endurance_cycles": 1}
    swept = in_process(worn, fc.Review("four-corners", quick=True), records=True)
    (row,) = swept.failed
    record = fc.Record.from_json(swept.to_pylist()[0]["record"])
    assert row["error"] == record.failure and "worn" in row["error"] and row["figure"] == "four-corners"
    jobs = "[a]\nrw=randwrite\nbs=128k\nloops=20\n[b]\nstonewall\nrw=randread\nsize=1m\n"
    rows = in_process(worn, jobs).to_pylist()
    assert rows[0]["error"].startswith("the drive failed an I/O: ") and not rows[0]["complete"]
    assert rows[1]["error"] is None and rows[1]["complete"]
    # Control: a drive that bears it.
    sound = {"drive": "m4-4gb"}
    assert not in_process(sound, fc.Review("four-corners", quick=True)).failed


@pytest.mark.parametrize(
    ("cells", "job", "told"),
    [
        ({"spare": [0]}, JOBS, 'needs the axis "drive"'),
        ({"drive": []}, JOBS, "drive has no values"),
        ([], JOBS, "no cells"),
        ({"drive": "crucial-m4-256gb"}, [], "a list of Jobs"),
        ({"drive": "crucial-m4-256gb"}, ["random"], "a list of Jobs"),
        ({"drive": "crucial-m4-256gb", "seed": -1}, JOBS, "seed=-1"),
        ({"drive": "crucial-m4-256gb", "gc.polcy": ["fifo"]}, JOBS, "did you mean gc.policy"),
        ({"drive": "crucial-m5"}, JOBS, "no drive"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(cells, job, told):
    with pytest.raises(fc.Error, match=told):
        in_process(cells, job)


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (None, "job=None: a sweep runs a Job, a list of Jobs"),
        (5, "job=5: a sweep runs"),
        (fc.Trace("task:boot"), "job=<Trace task:boot>: a sweep runs no Trace; fc.replay"),
    ],
)
def test_what_is_no_job_is_a_type_error(job, told):
    with pytest.raises(TypeError, match=told):
        in_process({"drive": "crucial-m4-256gb"}, job)


def test_seeds_are_any_whole_numbers():
    import numpy as np

    plain = in_process(grid(8, seed=[0, 1]))
    assert in_process(grid(8, seed=np.arange(2))).to_pylist() == plain.to_pylist()
    assert in_process(grid(8, seed=[np.uint64(0), True + 0])).to_pylist() == plain.to_pylist()
    for wrong in (1.0, True, "1", 2**64):
        with pytest.raises(fc.SweepError, match="seed=.*: it is a whole number from 0"):
            in_process(grid(8, seed=[wrong]))


def test_a_folder_takes_every_seed_and_is_read_with_those_of_before(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    in_process(grid(4, seed=[5]), into=tmp_path)
    # As earlier versions wrote it.
    (before,) = tmp_path.glob("part-*")
    table = pq.read_table(before)
    place = table.column_names.index("seed")
    pq.write_table(table.set_column(place, "seed", table["seed"].cast(pa.int64())), before)
    seeds = [5, 1 << 63, (1 << 64) - 1]
    swept = in_process(grid(4, seed=seeds), into=tmp_path)
    assert (swept.known, swept.ran) == (4, 8)
    assert [row["seed"] for row in swept.to_pylist()] == seeds * 4 == swept.to_arrow()["seed"].to_pylist()
    assert swept.to_pylist() == in_process(grid(4, seed=seeds)).to_pylist()


def test_results_go_into_a_folder_and_not_into_a_file(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("before")
    with pytest.raises(fc.SweepError, match="into=.*s.csv: it is a file, and results go into a folder"):
        in_process(grid(4), into=file)
    with pytest.raises(fc.SweepError, match="^into=.*s.csv/sub: Not a directory"):
        in_process(grid(4), into=file / "sub")
    assert file.read_text() == "before"


def test_what_is_wrong_with_an_axis_is_said_in_the_grids_words():
    with pytest.raises(fc.CatalogueError, match='^grid={"gc.polcy": "fifo"}: this drive has no parameter'):
        in_process({"drive": "crucial-m4-256gb", "gc.polcy": "fifo"})


def test_spare_area_is_in_total_op_and_rates_are_over_busy_s():
    frame = in_process({"drive": "crucial-m4-256gb", **SMALL, "spare": [0, 0.1, 0.5]}).to_pandas()
    assert frame["effective_op"].nunique() == 1 and frame["total_op"].is_monotonic_increasing
    assert frame["total_op"].tolist() == pytest.approx([(1 + frame["effective_op"][0]) / (1 - s) - 1 for s in (0, 0.1, 0.5)], abs=1e-3)
    assert (frame["iops"] * frame["busy_s"]).tolist() == pytest.approx(frame["ios"].tolist())
    # Control: of a job file fio's runtimes are what rates are over.
    jobs = fc.Job.from_fio("[a]\nrw=randrw\nsize=1m\n")
    assert in_process({"drive": "crucial-m4-256gb", **SMALL}, jobs).to_pylist()[0]["busy_s"] is None


def test_engines_that_are_none_are_refused():
    cells = {"drive": "crucial-m4-256gb", **SMALL}
    for executor, told in [(3, "neither an executor"), ("tcp://127.0.0.1:1", "no Dask scheduler answers")]:
        with pytest.raises(fc.SweepError, match=told):
            fc.sweep(cells, JOBS, executor)
    with pytest.raises(fc.SweepError, match="1 or more"):
        fc.sweep(cells, JOBS, workers=0)
    with pytest.raises(fc.SweepError, match="1 or more"):
        fc.sweep(cells, JOBS, runs_per_task=0)


PLAN = """
into = "there"
[grid]
drive = ["crucial-m4-256gb"]
spare = [0.0, 0.25]
gc.policy = ["greedy", "fifo"]
gc.pacing = "paced"
capacity.sectors = 2097152
nand.channels = 4
nand.dies = 8
nand.pages_per_block = 64
nand.blocks_per_plane = 150
[[job]]
pattern = "sequential"
drive_writes = 0.02
block_bytes = 131072
[[job]]
pattern = "random"
bytes = 1048576
"""


def command(*arguments, **options):
    line = [sys.executable, "-m", "fourcorners", "sweep", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, **options)


def test_a_plan_is_run_from_the_shell_and_goes_on(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    first = command(plan, "--workers", "2")
    assert first.returncode == 0 and first.stdout.startswith("4 runs, 0 known before, 0 refused"), first
    assert command(plan).stdout.startswith("0 runs, 4 known before")
    assert list((tmp_path / "there").glob("part-*.parquet"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda plan: plan.replace("[grid]", "[gird]"), "gird is not known"),
        (lambda plan: plan.replace("bytes = 1048576", "byte = 1048576"), "number 2 has no byte"),
        (lambda plan: plan.replace("bytes = 1048576", ""), "number 2: a job needs an end"),
        (lambda plan: plan.replace("[[job]]", "[[jobs]]"), "jobs is not known"),
        (lambda plan: plan.replace("fifo", "fofi"), "gc.policy"),
        (lambda plan: plan + "[review]\n", "give one of"),
        (lambda plan: plan[: plan.index("[[job]]")] + "[review]\nmethods = 5\n", "methods = 5: it must be a list"),
        (lambda plan: plan[: plan.index("[[job]]")] + "[review]\nmethods = [5]\n", "methods = [5]: it must be a list"),
        (lambda plan: plan[: plan.index("[[job]]")] + "[review]\nseed = \"5\"\n", "seed = '5': it must be a whole"),
        (lambda plan: plan[: plan.index("[[job]]")] + "[review]\nseed = -1\n", "seed = -1: it is a whole number from 0"),
        (lambda plan: plan + "x = \n", "line "),
        (lambda plan: plan.replace('"there"', "3"), "into = 3: it must be a text"),
        (lambda plan: plan.replace('["crucial-m4-256gb"]', "5"), "drive = 5: it must be one or a list of names"),
        (lambda plan: plan.replace('["crucial-m4-256gb"]', "[5]"), "drive = 5: it must be one or a list of names"),
        (lambda plan: plan.replace("[0.0, 0.25]", "[[0.1]]"), "spare = [0.1]: it must be one or a list of shares"),
        (lambda plan: plan.replace("[0.0, 0.25]", "0.0\nhost = [3]"), "host = 3: it must be one or a list of names of hosts"),
        (lambda plan: plan.replace('"paced"', "[[1]]"), "gc.pacing = [1]: it must be one or a list of numbers"),
        (lambda plan: plan[: plan.index("[grid]")] + plan[plan.index("[[job]]") :], "there is no [grid], which names"),
        (lambda plan: plan[: plan.index("[[job]]")] + '[review]\nmethods = ["five-corners"]\n', "no method 'five-corners'"),
        (lambda plan: 'fio = "bad.fio"\n' + plan[: plan.index("[[job]]")], "bad.fio, line 2: "),
        (lambda plan: 'fio = "latin.fio"\n' + plan[: plan.index("[[job]]")], "latin.fio: it is no text in UTF-8: "),
        (lambda plan: 'fio = "good.fio"\nseries = true\n' + plan[: plan.index("[[job]]")], "series = true: fio's results have no seconds"),
    ],
)
def test_a_plan_that_is_none_is_refused_in_one_line(tmp_path, change, told):
    plan = tmp_path / "plan.toml"
    plan.write_text(change(PLAN))
    (tmp_path / "bad.fio").write_text("[a]\nrw=reed\n")
    (tmp_path / "latin.fio").write_bytes(b"[a]\n; gr\xfc\xdfe\n")
    (tmp_path / "good.fio").write_text("[a]\nrw=randread\nsize=1m\n")
    refused = command(plan)
    assert refused.returncode == 2 and told in refused.stderr, refused
    assert refused.stderr.count("\n") == 1 and "Traceback" not in refused.stderr
    assert not list(tmp_path.glob("*/part-*"))


def test_a_plan_that_is_not_there_is_refused(tmp_path):
    refused = command(tmp_path / "none.toml")
    assert refused.returncode == 2 and "none.toml: cannot be read" in refused.stderr


def test_ctrl_c_names_the_folder_only_if_there_is_one(tmp_path, monkeypatch, capsys):
    from fourcorners import __main__, _sweep

    def stop(*_arguments, **_keywords):
        raise KeyboardInterrupt

    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    with monkeypatch.context() as patch:
        patch.setattr(_sweep, "cells_of", stop)
        assert __main__.main(["sweep", str(plan)]) == 1
    assert capsys.readouterr().err.strip() == "fourcorners: stopped; nothing was run yet" and not (tmp_path / "there").exists()
    # Control: with runs under way it is there.
    with monkeypatch.context() as patch:
        patch.setattr(_sweep, "_rows_of", stop)
        assert __main__.main(["sweep", str(plan), "--workers", "1"]) == 1
    assert f"what arrived is in {tmp_path / 'there'}: " in capsys.readouterr().err and (tmp_path / "there").is_dir()


def test_a_script_from_standard_input_has_no_workers(tmp_path):
    script = (
        "import sys, fourcorners as fc\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        f"cells = {{'drive': 'crucial-m4-256gb', **{SMALL!r}}}\n"
        "if __name__ == '__main__':\n"
        "    print(fc.sweep(cells, fc.Job(bytes=4096), EXECUTOR).ran)\n"
    )
    run = lambda text: subprocess.run([sys.executable, "-"], input=text, capture_output=True, text=True)  # noqa: E731
    refused = run(script.replace("EXECUTOR", "None"))
    assert refused.stderr.strip().splitlines()[-1].startswith("fourcorners._engine.SweepError: worker processes read the script"), refused
    assert run(script.replace("EXECUTOR", "ThreadPoolExecutor(1)")).stdout == "1\n"
    # Control: from a file it has them.
    (tmp_path / "script.py").write_text(script.replace("EXECUTOR", "None"))
    assert subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True).stdout == "1\n"
