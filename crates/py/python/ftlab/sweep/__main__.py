"""``python -m ftlab.sweep``: a sweep in shards, on machines that somebody else's scheduler knows.

All words but the ones below are those of ``ftlab sweep``. Results are files in ``--out``, which every
machine must see: whoever is stopped is started again with the same words, and what is there is kept.
"""

from __future__ import annotations

import argparse
import sys

from ftlab.sweep.shards import Refused, Shards


def arguments() -> argparse.ArgumentParser:
    """The words that are ours."""
    parser = argparse.ArgumentParser(
        prog="python -m ftlab.sweep",
        description="Runs `ftlab sweep` in shards through Dask or Slurm, and merges their results.",
        epilog="Every other word goes to `ftlab sweep` (FILE or --grid, --device, --workload, --out DIR, ...). "
        "The folder must be the same on all machines. The same command goes on where it was stopped.",
        allow_abbrev=False,
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="address of a Dask scheduler (tcp://host:8786), a scheduler file (*.json), or `local` for as many "
        "workers on this machine as it has cores (`local:N` for N)",
    )
    where.add_argument("--slurm", action="store_true", help="a job array of Slurm, through submitit")
    where.add_argument(
        "--shard-commands",
        action="store_true",
        help="only print the command of every shard, a line each, for GNU parallel or any other queue",
    )
    parser.add_argument(
        "--shards",
        type=int,
        metavar="N",
        help="parts of the sweep, at least 1 (default: four times the workers of Dask, 8 otherwise)",
    )
    slurm = parser.add_argument_group("Slurm")
    slurm.add_argument("--slurm-partition", metavar="NAME")
    slurm.add_argument("--slurm-time", type=int, metavar="MINUTES", default=60, help="limit of each shard (60)")
    slurm.add_argument("--slurm-cpus", type=int, metavar="N", default=1, help="cores of each shard (1)")
    slurm.add_argument("--slurm-memory", metavar="SIZE", help="memory of each shard, such as 4GB")
    slurm.add_argument("--slurm-at-once", type=int, metavar="N", help="shards at a time, at most")
    slurm.add_argument("--slurm-logs", metavar="DIR", help="logs of the shards (default: OUT.slurm)")
    slurm.add_argument(
        "--slurm-set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any other parameter of sbatch, such as account=me; may be given again",
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Exit code: 0, 1 where a shard failed, 2 where the words make no sense."""
    typed, rest = arguments().parse_known_args(words)
    try:
        cores = typed.slurm_cpus if typed.slurm else 1
        shards = Shards.of(rest, typed.shards, cores)
        if typed.shard_commands:
            print("\n".join(shards.with_number(typed.shards or 8).commands()))
            return 0
        shards.check()
        if typed.slurm:
            from ftlab.sweep import on_slurm

            failures = on_slurm.run(shards.with_number(typed.shards or 8), typed)
        else:
            from ftlab.sweep import on_dask

            failures = on_dask.run(shards, typed.dask)
    except Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return 2
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    # What is there is worth a table, even if a shard failed.
    merged = shards.merge()
    return 1 if failures else merged


if __name__ == "__main__":
    sys.exit(main())
