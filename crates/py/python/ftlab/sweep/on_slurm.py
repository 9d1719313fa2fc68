"""Shards as a job array of Slurm, through submitit."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from ftlab.sweep.shards import Refused, Shards, run_shard


def parameters(typed: argparse.Namespace, number: int) -> dict[str, object]:
    """What is asked of Slurm, in the words of submitit."""
    asked: dict[str, object] = {
        "name": "ftlab-sweep",
        "timeout_min": typed.slurm_time,
        "cpus_per_task": typed.slurm_cpus,
        "slurm_array_parallelism": typed.slurm_at_once or number,
    }
    if typed.slurm_partition:
        asked["slurm_partition"] = typed.slurm_partition
    if typed.slurm_memory:
        asked["slurm_mem"] = typed.slurm_memory
    others: dict[str, str] = {}
    for pair in typed.slurm_set:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise Refused(f"--slurm-set {pair}: legal: KEY=VALUE, KEY a parameter of sbatch")
        others[key] = value
    if others:
        asked["slurm_additional_parameters"] = others
    return asked


def run_array(shards: Shards, typed: argparse.Namespace) -> list[str]:
    """Submits the array and waits for it; why any shard failed."""
    import submitit

    logs = typed.slurm_logs or f"{shards.out}.slurm"
    executor = submitit.AutoExecutor(folder=logs, cluster="slurm")
    numbers = list(shards.all())
    executor.update_parameters(**parameters(typed, len(numbers)))
    jobs = executor.map_array(partial(run_shard, shards), numbers)
    print(f"job {jobs[0].job_id.split('_')[0]}: {len(jobs)} shards, logs in {logs}", file=sys.stderr)
    failures = []
    try:
        for number, job in zip(numbers, jobs):
            error = job.exception()
            if error is not None:
                failures.append(f"shard {number} of {shards.number}: {error}")
            elif (reason := job.result()) is not None:
                failures.append(reason)
    except BaseException:
        # Who starts again would otherwise run beside what is left of this.
        for job in jobs:
            job.cancel(check=False)
        raise
    return failures


def run(shards: Shards, typed: argparse.Namespace) -> list[str]:
    """Runs all shards; why any of them failed."""
    try:
        import submitit  # noqa: F401
    except ImportError as error:
        raise Refused("--slurm needs the package `submitit` (pip install submitit)") from error
    if min(typed.slurm_cpus, typed.slurm_time, typed.slurm_at_once or 1) < 1 or typed.slurm_at_once == 0:
        raise Refused("--slurm-cpus, --slurm-time and --slurm-at-once: legal: 1 and more")
    return run_array(shards, typed)
