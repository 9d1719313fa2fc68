"""Shards on the workers of a Dask cluster. The cluster decides where; results are files, so that
nothing is lost with a worker, a client or the scheduler."""

from __future__ import annotations

import sys

from ftlab.sweep.shards import Refused, Shards, run_shard

#: Shards for each worker, so that a slow one holds up little.
FOR_EACH_WORKER = 4


def run_all(client, shards: Shards) -> list[str]:
    """Runs all shards on the workers of a client; why any of them failed."""
    from dask.distributed import as_completed

    numbers = list(shards.all())
    # The name of a task is its work: who asks again while it still runs joins it.
    futures = [client.submit(run_shard, shards, number, key=shards.key(number), pure=False) for number in numbers]
    failures: dict[int, str] = {}
    number_of = {future.key: number for future, number in zip(futures, numbers)}
    for count, future in enumerate(as_completed(futures), start=1):
        number = number_of[future.key]
        error = future.exception()
        reason = f"shard {number} of {shards.number}: {error}" if error is not None else future.result()
        if reason is not None:
            failures[number] = reason
        print(f"{count} of {len(futures)} shards", file=sys.stderr)
    return [failures[number] for number in sorted(failures)]


def run_on(client, shards: Shards) -> list[str]:
    """The same, with as many shards as suit the workers where nothing is said."""
    client.wait_for_workers(1)
    if shards.number is None:
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        shards = shards.with_number(FOR_EACH_WORKER * max(workers, 1))
    return run_all(client, shards)


def run_local(shards: Shards, workers: int | None) -> list[str]:
    """On a cluster of this machine, one shard at a time in each worker."""
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        return run_on(client, shards)


def run(shards: Shards, address: str) -> list[str]:
    """Runs all shards; why any of them failed."""
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise Refused("--dask needs the package `distributed` (pip install distributed)") from error
    if address == "local" or address.startswith("local:"):
        number = address.removeprefix("local").removeprefix(":")
        if number and (not number.isdigit() or int(number) < 1):
            raise Refused(f"--dask {address}: legal: local, local:N with N from 1, or the address of a scheduler")
        return run_local(shards, int(number) if number else None)
    try:
        where = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
        client = Client(**where, timeout=20)
    except (OSError, ValueError) as error:
        raise Refused(f"--dask {address}: {error}") from error
    with client:
        return run_on(client, shards)
