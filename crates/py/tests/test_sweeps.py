"""Sweeps are those of the program, in the same folders."""

import os
import subprocess
import sys

import ftlab
import pytest
from conftest import SMALL, words_of

AXES = {"scheme": ["dftl", "fast"], "cache[dftl]": "8KiB..32KiB*2", "op": ["20%", "30%"]}
GRID = "scheme=dftl,fast cache[dftl]=8KiB..32KiB*2 op=20%,30%"


@pytest.fixture(scope="module")
def base():
    return {**SMALL, "workload": SMALL["workload"].replace("20000", "3000")}


@pytest.fixture(scope="module")
def swept(base, tmp_path_factory):
    return ftlab.sweep(AXES, tmp_path_factory.mktemp("sweep") / "out", jobs=2, **base)


def files(folder):
    """Names and bytes of everything but the times that runs took."""
    made = {}
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            if os.path.basename(above) != "times":
                with open(path, "rb") as file:
                    made[os.path.relpath(path, folder)] = file.read()
    return made


def test_a_sweep_has_the_bytes_of_the_program(program, base, swept, tmp_path):
    ran = program("sweep", "--grid", GRID, *words_of(base), "--out", tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    assert (swept.made, swept.kept, swept.failed, swept.missing) == (8, 0, [], 0)
    theirs, ours = files(tmp_path / "out"), files(swept.folder)
    assert set(ours) == set(theirs)
    for name in theirs:
        assert ours[name] == theirs[name], name


def test_its_table_has_a_row_per_point_and_its_results_can_be_had(swept):
    table = swept.table()
    assert table.shape[0] == 8 and set(table["status"]) == {"done"}
    run = swept.result(table["run"][0])
    assert run.waf == table["waf"][0]
    assert swept.to_polars()["axis.scheme"].to_list() == table["axis.scheme"]
    assert swept.to_pandas().shape == table.shape
    assert "8 made, 0 were there" in repr(swept)


def test_only_what_is_not_there_is_run(swept, base):
    with pytest.raises(ValueError, match="holds a sweep; legal"):
        ftlab.sweep(AXES, swept.folder, **base)
    again = ftlab.sweep(AXES, swept.folder, resume=True, **base)
    assert (again.made, again.kept) == (0, 8)


def test_shards_make_what_one_makes(swept, base, tmp_path):
    for shard in ("2/2", "1/2"):
        part = ftlab.sweep(GRID, tmp_path / "out", shard=shard, **base)
        assert part.done is None and part.made == 4
    merged = ftlab.sweep.merge(tmp_path / "out")
    assert merged.done == 8
    theirs, ours = files(tmp_path / "out"), files(swept.folder)
    assert {name: theirs[name] for name in ours} == ours


def test_a_plan_says_what_is_refused_and_runs_nothing(base, tmp_path):
    axes = {"scheme": ["dftl"], ("capacity", "op"): [("32MiB", "20%"), ("1TiB", "0.0001%")]}
    planned = ftlab.sweep.plan(axes, tmp_path / "out", **{**base, "capacity": None})
    assert planned["names"] == ["scheme", "capacity", "op"] and planned["to_make"] <= 2
    assert planned["points"][0]["values"] == ["dftl", "32MiB", "20%"]
    assert not (tmp_path / "out").exists()


def test_a_value_may_hold_what_stands_between_values(base, tmp_path):
    workload = "randwrite:bs=4k,span=16MiB,count=500,seed=5"
    axes = {"scheme": "dftl", "workload": [workload, "randread:bs=4k,span=16MiB,count=500"]}
    small = {name: value for name, value in base.items() if name != "workload"}
    swept = ftlab.sweep(axes, tmp_path / "out", **small)
    assert swept.table()["axis.workload"][0] == workload


def test_a_file_says_what_a_dict_says(swept, base, tmp_path):
    file = tmp_path / "sweep.toml"
    lines = [f"{name} = '{value}'" for name, value in base.items()]
    lines += ["[axes]", "scheme = ['dftl', 'fast']", "op = ['20%', '30%']",
              "cache = { values = '8KiB..32KiB*2', only = 'dftl' }"]
    file.write_text("\n".join(lines) + "\n")
    planned = ftlab.sweep.plan(file)
    assert {point["key"] for point in planned["points"]} == set(swept.table()["run"])
    assert planned["seconds"] > 0 and planned["to_make"] == 8
    with pytest.raises(ValueError, match="the options of all runs stand in .*sweep.toml"):
        ftlab.sweep.plan(str(file), device="dftl2014")
    with pytest.raises(ValueError, match="none.toml cannot be read"):
        ftlab.sweep("none.toml", tmp_path / "out")


def test_workloads_from_columns_are_swept(base, tmp_path):
    own = {"op": ["write"] * 200, "offset": [4096 * n for n in range(200)], "size": [4096] * 200}
    small = {name: value for name, value in base.items() if name != "workload"}
    with pytest.raises(ValueError, match="no column time"):
        ftlab.sweep("scheme=dftl", tmp_path / "out", workload=own, **small)
    mine = [ftlab.Workload(own, name=name) for name in ("one", "two")]
    axes = {"workload": mine, "timing": ["asap", "closed:4"]}
    swept = ftlab.sweep(axes, tmp_path / "out", scheme="dftl", **small)
    assert swept.table()["host.write_requests"].tolist() == [200] * 4


def test_what_is_not_legal_is_told(base, tmp_path):
    with pytest.raises(ValueError, match="no scheme is named"):
        ftlab.sweep({"op": ["20%"]}, tmp_path / "out", **base)
    for jobs in [0, -1]:
        with pytest.raises(ValueError, match=f"jobs {jobs} is not legal"):
            ftlab.sweep(GRID, tmp_path / "out", jobs=jobs, **base)
    with pytest.raises(ValueError, match="--shard '3/2'"):
        ftlab.sweep(GRID, tmp_path / "out", shard="3/2", **base)
    assert not (tmp_path / "out").exists()


def test_the_module_is_a_module_that_can_be_called():
    text = "from ftlab import sweep; import ftlab.sweep as other; assert sweep is other and callable(sweep)"
    assert subprocess.run([sys.executable, "-c", text]).returncode == 0
