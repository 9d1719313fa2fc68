"""Tables are what other libraries make of them, without a copy where they can."""

import csv
import io

import ftlab
import pytest
from conftest import SMALL

numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def compared():
    return ftlab.compare(["dftl", "fast"], reproducible=True, requests=True, **SMALL)


def test_series_and_curves_are_those_of_the_result(compared):
    run = compared[0]
    series = run.table("series")
    assert series.shape[0] == len(run.series)
    assert list(series["requests"]) == [window.requests for window in run.series]
    assert list(series["latency_ns.read.N"]) == run.series_latency_ns.read.N
    means = numpy.asarray(series["latency_ns.all.mean"])
    told = numpy.array([numpy.nan if one is None else one for one in run.series_latency_ns.all.mean])
    numpy.testing.assert_array_equal(means, told)
    cdf = run.table("cdf")
    reads = [(at, share) for direction, at, share in zip(*cdf.values()) if direction == "read"]
    assert reads == [tuple(point) for point in run.cdf.read]
    assert run.table("ccdf").columns == ["direction", "latency_ns", "share_slower"]
    assert sum(run.table("wear")["blocks"]) == sum(bucket.blocks for bucket in run.wear.histogram)
    both = compared.table("series")
    assert both.shape[0] == len(compared[0].series) + len(compared[1].series)
    assert set(both["scheme"]) == {"dftl", "fast"}


def test_numbers_are_handed_over_without_a_copy(compared):
    column = compared[0].table("requests")["system_ns"]
    assert column.readonly and column.format == "q"
    array = numpy.asarray(column)
    assert array.dtype == numpy.int64 and not array.flags.owndata
    assert numpy.shares_memory(array, numpy.frombuffer(column, dtype="int64"))


def test_rows_of_requests_sum_up_to_the_result(compared):
    for run in compared:
        rows = run.table("requests")
        total = run.host.read_requests + run.host.write_requests
        assert rows.shape[0] == total
        sums = rows.to_numpy()
        assert sum(sums[f"programs_{cause}"].sum() for cause in run.flash.programs) == (
            run.flash.total_programs
        )
        assert set(rows["op"]) == {"read", "write"}
        assert sums["system_ns"].mean() == pytest.approx(run.latency_ns.all.system.mean)
    with pytest.raises(ValueError, match="unknown column 'sistem_ns' .did you mean 'system_ns'"):
        rows["sistem_ns"]


def test_rows_live_as_long_as_somebody_has_them():
    table = ftlab.run("dftl", head=100, requests=True, **SMALL).table("requests")
    assert len(table["index"]) == 100
    path = str(table._path)
    del table
    with pytest.raises(FileNotFoundError):
        open(path, "rb")
    with pytest.raises(ValueError, match="kept no rows of requests; legal: requests=True"):
        ftlab.run("dftl", head=100, **SMALL).table("requests")
    with pytest.raises(ValueError, match="unknown table 'serie'.*series"):
        ftlab.run("dftl", head=100, **SMALL).table("serie")


def test_scalars_are_those_of_the_csv_of_results(compared):
    lines = list(csv.DictReader(io.StringIO(compared.to_csv())))
    table = compared.table()
    assert table.columns == list(lines[0])
    for at, line in enumerate(lines):
        for name, text in line.items():
            cell = table[name][at]
            if isinstance(cell, (int, float)) and not isinstance(cell, bool) and text:
                assert float(text) == cell, name
            elif isinstance(cell, str):
                assert text == cell, name


def test_pandas_polars_pyarrow_and_duckdb_read_them(compared, tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow, duckdb = pytest.importorskip("pyarrow"), pytest.importorskip("duckdb")
    for table in (compared.table(), compared.table("series"), compared[1].table("requests")):
        file = tmp_path / f"{len(table)}.parquet"
        table.to_parquet(file)
        assert file.read_bytes() == table.to_parquet()
        with pytest.raises(FileExistsError):
            table.to_parquet(file)
        frames = table.to_pandas(), table.to_polars(), table.to_arrow()
        assert isinstance(frames[0], pandas.DataFrame) and isinstance(frames[1], polars.DataFrame)
        assert isinstance(frames[2], pyarrow.Table)
        for frame in frames[:2]:
            assert frame.shape == table.shape and list(frame.columns) == table.columns
        assert frames[2].num_rows == table.shape[0]
        count = duckdb.sql(f"select count(*) from '{file}'").fetchall()
        assert count == [(table.shape[0],)]
    frame = compared.to_polars()
    assert frame["waf"].to_list() == [run.waf for run in compared]
    assert list(compared.to_pandas()["waf"]) == [run.waf for run in compared]


def test_what_is_missing_is_told(compared, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"to_polars\(\) needs polars.*pip install polars"):
        compared.to_polars()
