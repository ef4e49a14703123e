"""Kernels that begin with the libraries imported: one process imports them, and each kernel is a fork of it.

The imports of a lesson's first cell take ten seconds of processor time, and a third of a second in a fork. On Linux
alone: elsewhere a fork of a process that has loaded PyTorch is not safe, and each kernel imports for itself.

Jupyter starts a kernel by a command, which is here `python -S kernels.py SOCKET -f CONNECTION`: it asks the process
at the socket for a fork, hands signals on to it, and ends when it ends. So this file imports nothing but the standard
library.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

VARIABLE = "EVAL_KERNELS"  # the folder for JUPYTER_PATH, by which processes that this one starts share the kernels
LIBRARIES = (
    "FlagEmbedding", "datasets", "faiss", "ipykernel.kernelapp", "jieba", "matplotlib.pyplot", "pandas", "scipy.stats",
    "sentence_transformers", "sklearn.linear_model", "sklearn.metrics", "torch", "transformers",
)  # fmt: skip


def start(settings: dict[str, str], libraries: tuple[str, ...] = LIBRARIES) -> None:
    """Start the process from which kernels are forked, with settings beside this process's variables, if there is none.

    It has imported the libraries, and ends with this process. On a system that cannot, nothing happens.
    """
    if sys.platform != "linux" or VARIABLE in os.environ:
        return
    home = tempfile.TemporaryDirectory(prefix="kernels-")
    place, server = Path(home.name, "kernels", "python3"), Path(home.name, "server")
    place.mkdir(parents=True)
    command = [sys.executable, "-S", __file__, str(server), "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Python 3", "language": "python"}
    (place / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    command = [sys.executable, __file__, str(server), "--import", *libraries]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | settings)
    atexit.register(home.cleanup)
    atexit.register(process.kill)
    assert process.stdout is not None
    process.stdout.readline()  # it is ready
    os.environ[VARIABLE] = home.name


def folder(environment: dict[str, str]) -> str | None:
    """Return the folder for JUPYTER_PATH whose kernel `python3` is a fork; None if none was started.

    None too if the environment of the kernel has what a library reads when it is imported.
    """
    return os.environ.get(VARIABLE) if environment.keys() <= {"EVAL_CACHE_DIR"} else None


def serve(place: str, libraries: list[str]) -> None:
    """Import the libraries, and fork at each request: arguments, folder and variables of a kernel as JSON."""
    for name in libraries:
        try:
            importlib.import_module(name)
        except ImportError:  # an extra that is not installed: the lesson that needs it says so
            continue
    if pandas := sys.modules.get("pandas"):
        pandas.set_option("display.max_columns", 20)  # which pandas decides on import, by whether IPython runs
    gc.collect()
    gc.freeze()
    server = socket.socket(socket.AF_UNIX)
    server.bind(place)
    server.listen()
    print("ready", flush=True)
    while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:  # which closes when the other process ends
        connection, _ = server.accept()
        request = json.loads(connection.makefile().readline())
        pid = os.fork()
        if pid == 0:
            server.close()
            connection.close()
            _become(request)
        connection.sendall(f"{pid}\n".encode())
        threading.Thread(target=_watch, args=(pid, connection), daemon=True).start()


def _watch(pid: int, connection: socket.socket) -> None:
    """Close the connection when the kernel ends; kill the kernel when the other end closes it."""
    ended = os.pidfd_open(pid)
    if ended not in select.select([ended, connection.fileno()], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(ended)
    connection.close()


def _become(request: dict[str, object]) -> None:
    """Run a kernel in this process, which was just forked; does not return."""
    arguments, variables = request["arguments"], request["variables"]
    assert isinstance(arguments, list)
    assert isinstance(variables, dict)
    os.setsid()
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(variables, JPY_PARENT_PID=str(os.getppid()))  # whose end ends the kernel
    tempfile.tempdir = None
    sys.path[:0] = [path for path in variables.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.argv = ["ipykernel_launcher", *arguments]
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance(argv=arguments)
    os._exit(0)


def ask(place: str, arguments: list[str]) -> None:
    """Stand for a kernel: ask for one, and end when it ends."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(place)
    request = {"arguments": arguments, "folder": os.getcwd(), "variables": dict(os.environ)}
    connection.sendall((json.dumps(request) + "\n").encode())
    lines = connection.makefile()
    pid = int(lines.readline())

    def pass_on(received: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.kill(pid, received)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, pass_on)
    lines.readline()


if __name__ == "__main__":
    if sys.argv[2] != "--import":
        ask(sys.argv[1], sys.argv[2:])
    else:
        sys.path.pop(0)  # this folder, whose modules have the names of others
        serve(sys.argv[1], sys.argv[3:])
