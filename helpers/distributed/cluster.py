"""Connect to a Dask cluster: start and close one on this machine, or use one that runs already."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import tempfile
from collections.abc import Iterator

from helpers._extras import from_extra

with from_extra("distributed"):
    import dask
    from dask.system import CPU_COUNT
    from distributed import Client, Nanny, Scheduler, SpecCluster
    from distributed.deploy import Cluster
    from distributed.security import Security

HOST = "127.0.0.1"
RETRIES = 3  # of a shard, after an error and after the death of its worker
CONNECT = 10  # seconds to wait for a scheduler
START = 60  # seconds to wait for the workers of a local cluster, at the start and later
_LOCAL = {"distributed.scheduler.no-workers-timeout": f"{START}s"}
# The pages that Dask serves beside the dashboard, unencrypted.
_NO_PAGES = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}  # type: ignore[var-annotated]


@contextlib.contextmanager
def connected(
    cluster: str | Client | Cluster | None, workers: int | None, threads: int, gpus: int, dashboard: bool
) -> Iterator[Client]:
    """Yield a client of a cluster; a cluster that was started for it is closed when the block ends.

    Args:
        cluster: address, client or cluster; None for a local one.
        workers: processes of a local cluster, None for as many as fit.
        threads: that each of them computes with.
        gpus: 1 if each worker of a local cluster has a GPU of its own, else 0.
        dashboard: serve Dask's page about a local cluster.
    """
    if cluster is None:
        with _local(_worker_environments(workers, threads, gpus), dashboard) as client:
            yield client
        return
    if workers is not None or dashboard:
        raise ValueError("workers= and dashboard= are for a local cluster; this one is there already.")
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
    with _quiet("distributed.client"), client:  # it would print how it looks for a scheduler that is gone
        yield client


@contextlib.contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Let a logger print nothing."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _worker_environments(workers: int | None, threads: int, gpus: int) -> list[dict[str, str]]:
    """Return the environment variables of each worker: with GPUs, the one device that it sees."""
    if gpus not in (0, 1):
        raise ValueError(f"gpus_per_worker={gpus!r}: expected 0 or 1, since a model computes on one device.")
    if (workers is not None and workers < 1) or threads < 1:
        raise ValueError(f"workers={workers!r}, threads_per_worker={threads!r}: expected at least 1 of each.")
    if not gpus:
        return [{}] * (workers or max(1, CPU_COUNT // threads))
    import torch

    count = torch.cuda.device_count()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = named.split(",") if named is not None else map(str, range(count))
    devices = [name.strip() for name in names][:count]
    if len(devices) < (workers or 1):
        raise ValueError(f"{workers or 'Some'} workers with a GPU each: this machine shows {len(devices)} GPUs.")
    return [{"CUDA_VISIBLE_DEVICES": device} for device in devices[:workers]]


@contextlib.contextmanager
def _local(environments: list[dict[str, str]], dashboard: bool) -> Iterator[Client]:
    """Start a cluster that only this process can reach: loopback alone, TLS with certificates of its own."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "A worker is reading the script that started it: put the script's own work under "
            "if __name__ == '__main__': so that workers can import it without running it."
        )
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="dask-", ignore_cleanup_errors=True))
        security = Security.temporary()
        shared: dict[str, object] = {"host": HOST, "protocol": "tls://", "security": security, "dashboard": False}
        worker = {**shared, "nthreads": 1, "memory_limit": 0}
        worker["silence_logs"] = logging.CRITICAL  # their errors come back by themselves
        page = {"dashboard": dashboard, "dashboard_address": f"{HOST}:{8787 if dashboard else 0}"}
        scheduler = {**shared, **page, "allowed_failures": RETRIES}
        settings: dict[str, object] = {**_LOCAL, **({} if dashboard else _NO_PAGES), "temporary-directory": scratch}
        with dask.config.set(settings):
            try:
                cluster = SpecCluster(  # LocalCluster would give all workers one environment, and one GPU
                    {i: {"cls": Nanny, "options": {**worker, "env": env}} for i, env in enumerate(environments)},
                    {"cls": Scheduler, "options": scheduler},
                    security=security,
                    silence_logs=logging.CRITICAL,
                )
                stack.enter_context(cluster)
                client = stack.enter_context(Client(cluster, set_as_default=False))
            except (RuntimeError, OSError, TimeoutError) as error:
                raise RuntimeError(
                    f"The {len(environments)} workers of a local cluster did not start ({str(error)!r:.200}). "
                    "What they printed says more. A script has to start them under if __name__ == '__main__':."
                ) from error
        yield client
