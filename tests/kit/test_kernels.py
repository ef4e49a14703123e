"""Kernels that are forks of one process: the same outputs, and processes that end with those who wanted them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from notebooks.kit import kernels
from notebooks.kit.execute import OFFLINE, execute
from notebooks.kit.notebooks import ROOT, NotebookError
from tests.conftest import LIGHT
from tests.sample import code, notebook

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")


@pytest.fixture(autouse=True, scope="module")
def started() -> None:
    """Start the process that kernels are forked from."""
    kernels.start(OFFLINE, LIGHT)


def alive(pid: int) -> bool:
    """Return whether a process runs."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text("utf-8").rpartition(")")[2].split()[0] != "Z"


def test_a_forked_kernel_is_a_kernel_of_its_own(tmp_path: Path) -> None:
    """A lesson would see the names, the folder, the settings or the streams of another, or import for itself."""
    source = """import os, sys
print("matplotlib" in sys.modules, os.getcwd() == os.path.realpath("."), "n" in globals(), os.getpid())
n = 1"""
    texts = [execute(notebook(code("one", source)), "x", root=tmp_path).cells[0].outputs[0].text for _ in range(2)]
    seen = [text.split() for text in texts]
    assert [row[:3] for row in seen] == [["True", "True", "False"]] * 2
    assert seen[0][3] != seen[1][3]
    assert not any(alive(int(row[3])) for row in seen)


def test_variables_that_libraries_read_make_a_kernel_of_its_own(tmp_path: Path) -> None:
    """Instructions or threads that a condition asks for would not reach libraries that are imported already."""
    book = notebook(code("one", "import sys\nprint('matplotlib' in sys.modules)"))
    fresh = execute(book, "x", root=tmp_path, environment={"OMP_NUM_THREADS": "1"})
    assert fresh.cells[0].outputs[0].text == "False\n"


def test_a_cell_over_its_limit_stops(tmp_path: Path) -> None:
    """A lesson that hangs would hang for ever."""
    with pytest.raises(NotebookError, match=r"x \[one\] took longer than 1 s"):
        execute(notebook(code("one", "import time\ntime.sleep(60)")), "x", root=tmp_path, limit=1)


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until something holds, a minute at most."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < 60
        time.sleep(0.05)


def server(folder: str) -> int:
    """Return the process that kernels are forked from, by the folder with its socket."""
    command = ["pgrep", "-f", f"{Path(folder, 'server')} --import"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_a_kernel_ends_with_whoever_asked_for_it(tmp_path: Path) -> None:
    """Kernels would stay behind, with a gigabyte each, when a run is stopped."""
    spec = json.loads(Path(os.environ[kernels.VARIABLE], "kernels", "python3", "kernel.json").read_text("utf-8"))
    command = [part.format(connection_file=tmp_path / "connection.json") for part in spec["argv"]]
    client = subprocess.Popen(command, cwd=tmp_path)
    at = server(os.environ[kernels.VARIABLE])

    def children() -> list[int]:
        pids = Path(f"/proc/{at}/task/{at}/children").read_text("utf-8").split()
        return [int(pid) for pid in pids if alive(int(pid))]

    wait_until(children)
    assert client.poll() is None
    client.send_signal(signal.SIGKILL)
    client.wait()
    wait_until(lambda: not children())


def test_what_serves_kernels_ends_with_whoever_started_it() -> None:
    """A gigabyte of libraries would stay in memory when a run is killed."""
    code = "import os, time; from notebooks.kit import kernels; kernels.start({}, ('ipykernel.kernelapp',)); "
    code += "print(os.environ[kernels.VARIABLE], flush=True); time.sleep(600)"
    variables = {name: value for name, value in os.environ.items() if name != kernels.VARIABLE}
    starter = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    at = server(starter.stdout.readline().strip())
    starter.kill()
    starter.wait()
    wait_until(lambda: not alive(at))
