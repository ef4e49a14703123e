"""What goes wrong on a cluster: workers and schedulers that are killed, workers that cannot live."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from distributed import Client

from helpers import distributed
from helpers.distributed import in_order
from tests.distributed.samples import files, in_one_process, texts

pytestmark = pytest.mark.slow
TEXTS = texts(2000)
SIZE = 20


@pytest.fixture(scope="module")
def alone(model, tmp_path_factory):
    """Give the vectors as one process with one thread makes them."""
    return in_one_process(model, TEXTS, SIZE, tmp_path_factory.mktemp("alone") / "v")


def processes(workers: int) -> Client:
    """Start workers that are processes, as the page does."""
    return Client(
        n_workers=workers, threads_per_worker=1, security=True, dashboard_address="127.0.0.1:0", set_as_default=False
    )


def worker_processes() -> list[psutil.Process]:
    """Find the workers that this process started."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "--multiprocessing-fork" in child.cmdline()]


def test_a_worker_killed_in_mid_run_changes_nothing(model, alone, tmp_path):
    """A run of days would be lost with one machine, or shards would be missing, twice there or in another order."""
    killed = []

    def stream():
        for row, text in enumerate(TEXTS):
            if row in (500, 1200):
                worker = worker_processes()[0]
                worker.kill()
                killed.append(worker.pid)
            yield text

    with processes(2) as client:
        shards = distributed.encode(model, stream(), tmp_path, client=client, shard_size=SIZE, progress=False)
    assert len(set(killed)) == 2
    assert np.array_equal(np.asarray(shards), np.asarray(alone))
    assert len(files(tmp_path)) == len(TEXTS) // SIZE
    assert worker_processes() == []


def test_a_task_that_kills_its_worker_ends_with_an_error():
    """A text that crashes a worker would kill one after another for ever."""
    with processes(2) as client, pytest.raises(RuntimeError, match=r"Shard 1: .* 4 times"):
        list(in_order(client, exit_if, [(False,), (True,), (False,)], "Shard"))
    assert worker_processes() == []


def exit_if(wanted: bool) -> None:
    """End a worker as a crash does, when its nanny knows that it runs and will start another."""
    if wanted:
        time.sleep(1)
        os._exit(1)


@contextlib.contextmanager
def own_cluster():
    """Start a scheduler and a worker as their commands do; give the scheduler's process and its address."""
    with contextlib.ExitStack() as stack:
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
        command += ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        scheduler = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        stack.callback(end, scheduler)
        address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
        threading.Thread(target=scheduler.stderr.read, daemon=True).start()
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        stack.callback(end, subprocess.Popen(command, stderr=subprocess.DEVNULL))
        yield scheduler, address


def end(process: subprocess.Popen) -> None:
    """End a process and its children."""
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
    process.kill()
    process.wait()


def test_a_killed_scheduler_is_said_and_a_rerun_goes_on(model, alone, tmp_path):
    """A run would wait for ever, or begin anew."""
    killed = []
    with own_cluster() as (scheduler, address), Client(address, set_as_default=False) as client:

        def stream():
            for row, text in enumerate(TEXTS):
                if row == 1000:
                    scheduler.send_signal(signal.SIGKILL)
                    killed.append(time.monotonic())
                yield text

        with pytest.raises(ConnectionError, match=r"scheduler is gone .* the same call again goes on"):
            distributed.encode(model, stream(), tmp_path, client=client, shard_size=SIZE, progress=False)
        assert time.monotonic() - killed[0] < 30
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in files(tmp_path)}
    assert len(before) >= 40
    with processes(1) as client:
        shards = distributed.encode(model, TEXTS, tmp_path, client=client, shard_size=SIZE, progress=False)
    assert np.array_equal(np.asarray(shards), np.asarray(alone))
    assert before == {name: (tmp_path / name).stat().st_mtime_ns for name in before}, "computed a second time"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_script_of_the_page_runs(language, tmp_path):
    """A reader who copies it would get an error, or an empty ranking."""
    page = (Path(__file__).parents[2] / "docs" / language / "scaling.md").read_text(encoding="utf-8")
    script, *_ = re.findall(r"```python\n(.+?)```", page, re.S)
    assert "vectors" in script
    (tmp_path / "script.py").write_text(script + "    print(scores.shape, ids.shape)\n")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert re.fullmatch(r"\((\d+), 10\) \(\1, 10\)\n", done.stdout), done.stderr
