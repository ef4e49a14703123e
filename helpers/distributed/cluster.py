"""Connect to a Dask cluster, or start one on this machine, and hand it tasks whose results come in order."""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing
import secrets
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import TypeVar

from helpers._optional import from_extra

with from_extra("distributed"):
    import dask
    from dask.system import CPU_COUNT
    from distributed import Client, Future, LocalCluster
    from distributed.client import ClosedClientError
    from distributed.deploy import Cluster
    from distributed.security import Security

T = TypeVar("T")
Arguments = TypeVar("Arguments", bound=tuple[object, ...])
RETRIES = 3  # of a shard, after an error and after the death of its worker
AHEAD = 3  # tasks in flight for each thread of the cluster: one computes, the others are on their way
CONNECT = 10  # seconds to wait for a scheduler
_LOCAL: dict[str, object] = {
    "distributed.scheduler.no-workers-timeout": "60s",
    "distributed.scheduler.http.routes": [],  # the pages that Dask serves beside the dashboard, unencrypted
    "distributed.worker.http.routes": [],
}


@contextlib.contextmanager
def connected(cluster: str | Client | Cluster | None, workers: int | None, threads: int) -> Iterator[Client]:
    """Yield a client of a cluster, by its address or itself; None starts one and closes it when the block ends."""
    if cluster is None:
        with _local(workers or max(1, CPU_COUNT // threads)) as client:
            yield client
        return
    if workers is not None:
        raise ValueError("workers= is for a local cluster; this one is there already.")
    if isinstance(cluster, Client):
        yield cluster
        return
    try:
        client = Client(cluster, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        where = cluster if isinstance(cluster, str) else type(cluster).__name__
        raise ConnectionError(
            f"No Dask scheduler answers at {where!r} ({str(error)!r:.200}). Give the address that it printed, "
            "tcp://host:port, or a distributed.Client; where the cluster wants TLS, a Client with its Security."
        ) from None
    with client:
        yield client


@contextlib.contextmanager
def _local(workers: int) -> Iterator[Client]:
    """Start a cluster that only this process can reach: loopback alone, TLS with certificates of its own."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "A worker is reading the script that started it: put the script's own work under "
            "if __name__ == '__main__': so that workers can import it without running it."
        )
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="dask-", ignore_cleanup_errors=True))
        with dask.config.set({**_LOCAL, "temporary-directory": scratch}):
            cluster = LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, memory_limit=0, host="127.0.0.1", protocol="tls://",
                security=Security.temporary(), dashboard_address="127.0.0.1:0", worker_dashboard_address=None,
                scheduler_kwargs={"allowed_failures": RETRIES, "dashboard": False},
                silence_logs=logging.CRITICAL,  # their errors come back by themselves
            )  # fmt: skip
            client = stack.enter_context(Client(stack.enter_context(cluster), set_as_default=False))
        yield client


def in_order(
    client: Client, call: Callable[..., T], tasks: Iterable[Arguments], name: str
) -> Generator[tuple[Arguments, T], None, None]:
    """Run ``call(*task)`` on workers for a stream of tasks, a few ahead; give each with its result, in order."""
    run, numbered = secrets.token_hex(4), enumerate(tasks)
    waiting: deque[tuple[int, Arguments, Future]] = deque()
    try:
        while True:
            with _scheduler_reached():
                room = AHEAD * max(1, sum(client.nthreads().values())) - len(waiting)
            for number, task in itertools.islice(numbered, max(0, room)):
                with _scheduler_reached():
                    key = f"{name}-{run}-{number}"
                    waiting.append((number, task, client.submit(call, *task, key=key, retries=RETRIES, pure=False)))
            if not waiting:
                return
            number, task, future = waiting[0]
            with _scheduler_reached():
                error = future.exception()
                if isinstance(error, CancelledError):
                    raise error
                result: T | None = future.result() if error is None else None
            if error is not None:
                cause = f"failed, {RETRIES + 1} times ({type(error).__name__}: {str(error)!r:.500})"
                raise RuntimeError(f"{name} {number}: {cause}.") from error
            waiting.popleft()
            yield task, result  # type: ignore[misc]
    finally:
        if waiting:  # Dask tells every client of a cancellation, and a client that is just connecting would stop at it
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.cancel([future for _, _, future in waiting])


@contextlib.contextmanager
def _scheduler_reached() -> Iterator[None]:
    """Raise a ConnectionError of one sentence where the scheduler is gone."""
    try:
        yield
    except (OSError, CancelledError, ClosedClientError) as error:
        raise ConnectionError(
            f"The Dask scheduler is gone ({str(error)!r:.200}). What was finished is kept: the same call again goes on."
        ) from error
