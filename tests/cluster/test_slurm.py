"""A sweep as a job array of a real Slurm, whose one node is this machine."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import pytest
from conftest import SWEEP, tables

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={host} CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def munge_works():
    return subprocess.run(["munge", "-n"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A controller and a node; their names for whoever asks."""
    if os.geteuid() != 0:
        pytest.skip("starting a Slurm needs root")
    folder = tmp_path_factory.mktemp("slurm")
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    if not munge_works():
        pathlib.Path("/run/munge").mkdir(exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        subprocess.run(["runuser", "-u", "munge", "--", "/usr/sbin/munged"], check=True)
        assert munge_works()
    file = folder / "slurm.conf"
    host = socket.gethostname().split(".")[0]
    text = CONFIGURATION.format(
        host=host, folder=folder, controller=free_port(), node=free_port(), cores=os.cpu_count()
    )
    file.write_text(text)
    environment = {**os.environ, "SLURM_CONF": str(file)}
    servers = [
        subprocess.Popen([f"/usr/sbin/{name}", "-D", "-f", str(file)], env=environment)
        for name in ("slurmctld", "slurmd")
    ]
    try:
        for _ in range(240):
            told = subprocess.run(
                ["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False
            )
            if told.stdout.strip() == "idle":
                break
            time.sleep(0.25)
        else:
            logs = [(folder / f"{name}.log").read_text()[-2000:] for name in ("slurmctld", "slurmd")]
            pytest.fail(f"the node did not come up: {logs}")
        yield environment
    finally:
        for server in reversed(servers):
            server.terminate()
            server.wait(30)


def test_an_array_of_four_shards_makes_the_bytes_of_one_machine(slurm, tmp_path, reference):
    folder = tmp_path / "sweep"
    words = ["--slurm", "--shards", "4", "--slurm-at-once", "2", "--slurm-time", "10", *SWEEP, "--out", str(folder)]
    subprocess.run([sys.executable, "-m", "ftlab.sweep", *words], env=slurm, check=True, timeout=600)
    assert tables(folder) == tables(reference)
    # Four shards were jobs of Slurm, each with its log.
    logs = list(pathlib.Path(f"{folder}.slurm").glob("*_log.out"))
    assert len(logs) == 4


def test_a_shard_that_fails_is_told(slurm, tmp_path):
    # The folder becomes a file between the check and the shards.
    folder = tmp_path / "sweep"
    words = ["--slurm", "--shards", "1", "--slurm-set", "begin=now+3", *SWEEP, "--out", str(folder)]
    running = subprocess.Popen(
        [sys.executable, "-m", "ftlab.sweep", *words], env=slurm, stderr=subprocess.PIPE, text=True
    )
    for line in running.stderr:
        if line.startswith("job "):
            folder.write_text("in the way")
            break
    rest = running.stderr.read()
    assert running.wait(300) == 1
    assert "shard 1 of 1" in rest and str(folder) in rest
