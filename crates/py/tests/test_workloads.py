"""Workloads from columns are the workloads of a file with these rows."""

import datetime

import ftlab
import pytest
from conftest import SMALL

numpy = pytest.importorskip("numpy")

COUNT = 3000


def columns():
    draw = numpy.random.default_rng(7)
    return {
        "time": numpy.cumsum(draw.integers(1, 4_000_000, COUNT)),
        "op": draw.choice(["read", "write", "trim"], COUNT, p=[0.4, 0.55, 0.05]),
        "offset": draw.integers(0, 4000, COUNT) * 4096,
        "size": draw.integers(1, 9, COUNT) * 512,
    }


def on(workload, **options):
    small = {name: value for name, value in SMALL.items() if name != "workload"}
    return ftlab.run("dftl", workload=workload, reproducible=True, **small, **options)


def numbers(result):
    """What a run measured, without what its workload is called."""
    value = result.to_dict()
    for name in ("made", "workload", "config"):
        del value[name]
    return value


@pytest.fixture(scope="module")
def from_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("trace") / "columns.csv"
    lines = [f"{time / 1000:.3f},{op},{offset},{size}" for time, op, offset, size in zip(*columns().values())]
    file.write_text("time_us,op,offset_bytes,size_bytes\n" + "\n".join(lines) + "\n")
    return on(file)


def as_lists():
    return {name: column.tolist() for name, column in columns().items()}


def as_fields():
    own = columns()
    made = numpy.empty(COUNT, dtype=[(name, column.dtype) for name, column in own.items()])
    for name, column in own.items():
        made[name] = column
    return made


def as_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns())
    frame["time"] = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(frame["time"], unit="ns")
    return frame


def as_polars():
    return pytest.importorskip("polars").DataFrame(columns())


def as_numbers():
    own = columns()
    known = {"read": 0, "write": 1, "trim": 2}
    return {**own, "op": numpy.array([known[op] for op in own["op"]], dtype="uint8")}


@pytest.mark.parametrize("made", [columns, as_lists, as_fields, as_pandas, as_polars, as_numbers])
def test_columns_of_any_kind_are_the_file_with_these_rows(from_file, made):
    assert numbers(on(made())) == numbers(from_file)


def test_units_of_time_and_names_are_stated(from_file):
    own = columns()
    workload = ftlab.Workload(own, name="mine")
    run = on(workload)
    assert run.workload.name == "mine.ftb" and "--workload mine.ftb" in run.made.command
    assert workload.requests == COUNT and run == on(ftlab.Workload(own, name="mine"))
    in_us = ftlab.Workload(op=own["op"], offset=own["offset"], size=own["size"],
                           time=own["time"] / 1000, time_unit="us")
    assert numbers(on(in_us)) == numbers(from_file)
    assert ftlab.inspect(own).requests == COUNT
    assert ftlab.compare(["dftl"], "slc_small", own, capacity="32MiB")[0].workload.requests == COUNT


def test_a_workload_is_saved_and_then_read_by_the_program(program, from_file, tmp_path):
    file = tmp_path / "kept.ftb"
    ftlab.Workload(columns()).save(file)
    assert numbers(on(file)) == numbers(from_file)
    assert program("trace", "inspect", file).returncode == 0
    with pytest.raises(ValueError, match="nothing is overwritten"):
        ftlab.Workload(columns()).save(file)


def test_without_times_a_run_says_when_requests_come():
    own = columns()
    del own["time"]
    with pytest.raises(ValueError, match="no column time.*timing='asap'"):
        on(own)
    assert on(own, timing="closed:4").host.read_requests > 0
    assert ftlab.inspect(own).requests == COUNT


@pytest.mark.parametrize("column,row,value,legal", [
    ("time", 3, -1, "nanoseconds from 0"),
    ("time", 7, 1, "that of the row above"),
    ("op", 4, 9, "read, write"),
    ("offset", 2, -512, "bytes from 0"),
    ("size", 5, 0, "1 to"),
    ("size", 5, -1, "1 to"),
    ("size", 6, 2**41, "1 to"),
])
@pytest.mark.parametrize("as_list", [True, False])
def test_a_row_that_is_not_legal_is_told(column, row, value, legal, as_list):
    own = as_numbers()
    own["op"] = own["op"].astype("int64")
    own[column][row] = value
    if as_list:
        own[column] = own[column].tolist()
    with pytest.raises(ftlab.UsageError, match=f"row {row}, column {column}: {value}.*legal: .*{legal}"):
        ftlab.Workload(own)


def test_values_of_other_kinds_are_told():
    own = columns()
    for change, told in [
        ({"op": ["reed"] + ["read"] * (COUNT - 1)}, "row 0, column op: 'reed'.*read, write, trim"),
        ({"offset": [0.5] * COUNT}, "row 0, column offset: 0.5.*whole number"),
        ({"offset": numpy.full(COUNT, 0.5)}, "row 0, column offset: 0.5.*whole number"),
        ({"size": numpy.full(COUNT, numpy.nan)}, "row 0, column size: nan"),
        ({"size": ["4k"] * COUNT}, "row 0, column size: '4k'"),
        ({"size": own["size"][:-1]}, "column size has 2999 rows, column op 3000"),
        ({"time": [datetime.date(2026, 1, 1)] * COUNT}, "row 0, column time"),
        ({"time": numpy.full(COUNT, "NaT", dtype="datetime64[ns]")}, "row 0, column time: 'NaT'"),
        ({"offset": own["offset"].reshape(2, -1)}, "2 dimensions"),
        ({"unit": own["size"]}, "unknown column 'unit'.*legal: time, op, offset, size"),
    ]:
        with pytest.raises(ftlab.UsageError, match=told):
            ftlab.Workload({**own, **change})
    with pytest.raises(ftlab.UsageError, match="column size is missing"):
        ftlab.Workload(time=own["time"], op=own["op"], offset=own["offset"])
    with pytest.raises(ftlab.UsageError, match="of no row"):
        ftlab.Workload(op=[], offset=[], size=[])
    with pytest.raises(ftlab.UsageError, match="a int is no workload"):
        ftlab.run("dftl", "slc_small", 3)
    with pytest.raises(ftlab.UsageError, match="unknown time_unit 'min'"):
        ftlab.Workload(own, time_unit="min")


@pytest.mark.parametrize("time", [2**62, -(2**62)])
def test_times_beyond_nanoseconds_of_64_bits_are_refused_on_both_sides(time):
    numpy = pytest.importorskip("numpy")
    with pytest.raises(ValueError, match="row 1, column time"):
        ftlab.Workload(
            time=numpy.array([0, time]), op=["read", "write"], offset=[0, 0], size=[4096, 4096], time_unit="s"
        )
