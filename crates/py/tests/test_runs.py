"""Runs and comparisons are those of the program."""

import json
import pickle

import ftlab
import pytest
from conftest import SMALL, words_of


@pytest.fixture(scope="module")
def result():
    return ftlab.run("dftl", reproducible=True, requests=True, tail=True, **SMALL)


@pytest.fixture(scope="module")
def compared():
    return ftlab.compare(["dftl", "fast"], reproducible=True, **SMALL)


def test_a_run_has_the_bytes_of_the_program_and_shows_its_table(program, result, tmp_path):
    file = tmp_path / "run.json"
    ran = program("run", "--scheme", "dftl", *words_of(SMALL), "--tail", "--reproducible",
                  "--json", file)
    assert ran.returncode == 0, ran.stderr
    assert result.to_json() == file.read_text()
    assert repr(result) == ran.stdout.rstrip("\n")
    assert ftlab.Result.from_file(file) == result


def test_a_comparison_has_the_bytes_of_the_program_and_shows_its_table(program, compared, tmp_path):
    out = tmp_path / "out"
    ran = program("compare", "--schemes", "dftl,fast", *words_of(SMALL), "--reproducible", "--out", out)
    assert ran.returncode == 0, ran.stderr
    assert compared.to_json() == (out / "results.json").read_text()
    assert compared.to_csv() == (out / "results.csv").read_text()
    assert ran.stdout.startswith(repr(compared))
    assert compared.schemes == ["dftl", "fast"] and compared["fast"] == compared[1]
    assert ftlab.Comparison.from_file(out / "results.json") == compared


def test_settings_are_keywords_with_a_point():
    small = ftlab.run("dftl", head=2000, **SMALL, **{"dftl.cmt_entries": 16})
    large = ftlab.run("dftl", head=2000, **SMALL, set={"dftl.cmt_entries": 4096})
    assert (small.config["dftl"]["cmt_entries"], large.config["dftl"]["cmt_entries"]) == (16, 4096)
    assert small.map_cache.misses > large.map_cache.misses


def test_fields_are_attributes_with_words_and_those_that_are_absent_are_none(result):
    value = json.loads(result.to_json())
    assert result.latency_ns.all.system.mean == value["latency_ns"]["all"]["system"]["mean"]
    assert result.latency_ns.all.system.percentile[99] == (
        value["latency_ns"]["all"]["system"]["percentile"]["99.000000"]
    )
    assert result.series[0].requests == value["series"][0]["requests"]
    assert result.ram_bytes.structures and all(
        one.bytes >= 0 for one in result.ram_bytes.structures.values()
    )
    assert "null without host writes" in ftlab.Result.waf.__doc__
    assert result.tail.worst[0].system_ns > 0 and result.probe is None
    assert result.to_dict() == value and dict(result.wear)["erase_max"] == value["wear"]["erase_max"]
    with pytest.raises(AttributeError, match="no field 'wav'; legal: .*waf"):
        result.wav


def test_every_field_of_a_result_has_words(result):
    def check(record, path):
        for name, value in record.items():
            own = getattr(type(record), name, None)
            if name.isidentifier() and isinstance(own, property):
                assert own.__doc__.endswith("."), f"{path}.{name}"
            inner = getattr(record, name, None) if name.isidentifier() else None
            if hasattr(inner, "to_dict"):
                check(inner, f"{path}.{name}")

    check(result, "result")


def test_a_notebook_gets_tables(result, compared):
    html = result._repr_html_()
    assert "<table>" in html and "dftl" in html and "<script" not in html
    assert compared._repr_html_().count("<th>fast</th>") > 3


def test_results_can_be_pickled_and_reported(result, compared, tmp_path):
    assert pickle.loads(pickle.dumps(result)) == result
    assert pickle.loads(pickle.dumps(compared)) == compared
    page = tmp_path / "report.html"
    compared.report(page)
    assert b"</html>" in page.read_bytes()
    with pytest.raises(FileExistsError):
        compared.report(page)


def usage(program, *words):
    """What the program says of them."""
    ran = program(*words)
    assert ran.returncode == 2
    return ran.stderr.removeprefix("ftlab: ").rstrip("\n")


def test_errors_of_usage_are_value_errors_in_the_words_of_the_program(program, tmp_path):
    for scheme, change in [
        ("dftlx", {}),
        ("dftl", {"device": "nothing"}),
        ("dftl", {"capacity": "many"}),
        ("dftl", {"precondition": "fil"}),
        ("dftl", {"timing": "closed:0"}),
        ("dftl", {"workload": "randwrite:bs=4k,spam=1"}),
        ("dftl,fast", {}),
    ]:
        options = {**SMALL, **change}
        with pytest.raises(ValueError) as caught:
            ftlab.run(scheme, **options)
        assert isinstance(caught.value, ftlab.UsageError)
        words = usage(program, "run", "--scheme", scheme, *words_of(options))
        if scheme == "dftl,fast":
            assert "takes one scheme" in str(caught.value) and "takes one scheme" in words
        else:
            assert str(caught.value) == words
    with pytest.raises(ValueError, match="unknown setting 'dftl.cmt'|dftl.cmt"):
        ftlab.run("dftl", **SMALL, **{"dftl.cmt": 3})
    with pytest.raises(ValueError, match=r"did you mean 'device'.*legal: schemes, device"):
        ftlab.run("dftl", devise="x")
    bad = tmp_path / "bad.csv"
    bad.write_text("time_us,op,offset_bytes,size_bytes\n0,read,0,4096\n1,reed,0,4096\n")
    with pytest.raises(ValueError, match=r"bad.csv.*3.*reed"):
        ftlab.run("dftl", "slc_small", str(bad))


def test_a_run_that_fails_is_a_run_error_in_the_words_of_the_program(program):
    options = {**SMALL, "workload": "randwrite:bs=4k,span=16MiB,count=40000000,seed=5"}
    settings = {"device.endurance_cycles": 2, "wear.blocks_die": True}
    words = [f"--set={key}={str(value).lower()}" for key, value in settings.items()]
    ran = program("run", "--scheme", "dftl", *words_of(options), *words)
    assert ran.returncode == 1, ran.stderr
    with pytest.raises(ftlab.RunError) as caught:
        ftlab.run("dftl", **options, **settings)
    assert f"ftlab: {caught.value}\n" == ran.stderr


def test_units_apart_are_a_dict_of_comparisons(tmp_path):
    trace = tmp_path / "two.spc"
    lines = [f"{unit},{8 * n},4096,w,{n / 1000:.6f}" for n in range(400) for unit in (0, 3)]
    trace.write_text("\n".join(lines) + "\n")
    apart = ftlab.compare("dftl,fast", "slc_small", trace, unit="each", capacity="32MiB",
                          requests_out=tmp_path / "rows.parquet")
    assert list(apart) == [0, 3]
    assert [run.host.write_requests for run in apart[3]] == [400, 400]
    assert apart[3]["fast"].table("requests").shape[0] == 400
    assert (tmp_path / "rows-unit-3-fast.parquet").exists()


def test_what_there_is_is_listed(program):
    for name in ftlab._PLACES["_lists"]:
        told = json.loads(program("list", name, "--json").stdout)
        assert getattr(ftlab, name)() == told and told


def test_a_workload_is_looked_into(program):
    found = ftlab.inspect("oltp_demo", head=5000, cache_entries=[64, 512])
    ran = program("trace", "inspect", "oltp_demo", "--head", "5000", "--cache-entries", "64,512", "--json")
    assert found.to_dict() == json.loads(ran.stdout)
    assert found.map_cache.entries.sizes_asked == [64, 512] and found.requests == 5000
    shown = program("trace", "inspect", "oltp_demo", "--head", "5000", "--cache-entries", "64,512")
    assert repr(found) == shown.stdout.rstrip("\n")
    with pytest.raises(ValueError, match="unknown option 'scheme'|unknown option 'schemes'"):
        ftlab.inspect("oltp_demo", scheme="dftl")
