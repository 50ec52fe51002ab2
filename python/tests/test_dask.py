"""The same sweep on Dask: two workers, each a process, as they would be on two machines."""

import os
import signal

import pytest
from conftest import SMALL
from test_sweep import JOBS, grid, in_process

import fourcorners as fc

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


def test_a_thousand_runs_are_the_same_to_the_bit(cluster, tmp_path):
    here = in_process(grid(1000))
    with distributed.Client(cluster) as client:
        there = fc.sweep(grid(1000), JOBS, client.get_executor(), into=tmp_path / "executor")
        assert (there.ran, there.total) == (1000, 1000)
        by_client = fc.sweep(grid(8), JOBS, client)
    assert there.to_pylist() == here.to_pylist()
    assert by_client.to_pylist() == in_process(grid(8)).to_pylist()
    by_address = fc.sweep(grid(1000), JOBS, cluster.scheduler_address, into=tmp_path / "executor")
    assert (by_address.ran, by_address.known) == (0, 1000)


def test_a_worker_that_is_killed_loses_nothing(cluster, tmp_path):
    killed = []

    def kill(done, total):
        if done == 100 and not killed:
            worker = next(iter(cluster.workers.values()))
            os.kill(worker.pid, signal.SIGKILL)
            killed.append(worker.pid)

    swept = fc.sweep(grid(400), JOBS, cluster.scheduler_address, into=tmp_path, progress=kill)
    assert killed and swept.ran == 400
    assert swept.to_pylist() == in_process(grid(400)).to_pylist()


def test_a_sweep_that_loses_its_scheduler_for_a_moment_loses_nothing(cluster, tmp_path):
    cuts = []

    def cut_off(done, total):
        if done in (50, 120) and done not in cuts:
            cuts.append(done)
            cluster.loop.add_callback(hang_up, cluster.scheduler)

    swept = fc.sweep(grid(200), JOBS, cluster.scheduler_address, into=tmp_path, progress=cut_off)
    assert cuts == [50, 120] and swept.ran == 200 and swept.lost > 0
    assert swept.to_pylist() == in_process(grid(200)).to_pylist()


async def hang_up(scheduler):
    for comm in list(scheduler.client_comms.values()):
        comm.abort()


def test_a_client_is_left_as_it_was(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        limited = client.get_executor(retries=1)
        assert fc.sweep(grid(4), JOBS, limited).to_pylist() == in_process(grid(4)).to_pylist()
        assert client.submit(sum, [1, 2]).result(timeout=20) == 3
    with pytest.raises(fc.SweepError, match="not connected to a scheduler"):
        fc.sweep(grid(4), JOBS, client)


def test_a_scheduler_that_is_gone_is_said_and_what_arrived_is_kept(tmp_path):
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        own = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)

        def end(done, total):
            if done == 50:
                own.close()

        with pytest.raises(fc.SweepError, match="results that arrived are kept"):
            fc.sweep(grid(400), JOBS, own.scheduler_address, into=tmp_path, progress=end)
    rest = in_process(grid(400), into=tmp_path)
    assert rest.known >= 50 and rest.ran == 400 - rest.known


def test_what_was_stopped_on_one_engine_goes_on_on_another(cluster, tmp_path):
    class Enough(Exception):
        pass

    def enough(done, total):
        if done == 50:
            raise Enough

    with pytest.raises(Enough):
        fc.sweep(grid(200), JOBS, cluster.scheduler_address, into=tmp_path, progress=enough)
    rest = fc.sweep(grid(200), JOBS, workers=2, into=tmp_path)
    assert rest.known >= 50 and rest.ran == 200 - rest.known
    assert rest.to_pylist() == in_process(grid(200)).to_pylist()


def test_a_scheduler_is_given_from_the_shell(cluster, tmp_path):
    from test_sweep import PLAN, command

    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    done = command(plan, "--scheduler", cluster.scheduler_address)
    assert done.returncode == 0 and done.stdout.startswith("4 runs"), done
    assert SMALL["nand.dies"] == 8


def replayed(trace):
    drive = fc.Drive("crucial-m4-256gb", set=SMALL)
    return drive.run(fc.Job("random", read_percent=50, seconds=2)), drive.replay(trace, addresses="rescaled")


def test_a_worker_takes_a_trace_and_returns_what_came_of_it(cluster):
    trace = fc.Trace("generated:light", ios=2000, seed=5)
    with distributed.Client(cluster, set_as_default=False) as client:
        run, replay = client.submit(replayed, trace).result(timeout=120)
    here = replayed(trace)
    assert run.to_dict() == here[0].to_dict() and replay.to_dict() == here[1].to_dict()
    assert (run.histogram.counts == here[0].histogram.counts).all()
    assert (replay.series.iops == here[1].series.iops).all()
