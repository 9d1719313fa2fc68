"""Experiments have the fields of the library's."""

import pickle
import pydoc

import ftlab
import pytest
from conftest import SMALL
from ftlab import _ftlab


def test_every_option_of_the_library_is_an_attribute_with_words():
    for option in _ftlab.EXPERIMENT:
        own = getattr(ftlab.Experiment, option.replace("-", "_"))
        assert len(own.__doc__) > 20, option
    text = pydoc.plain(pydoc.render_doc(ftlab.run))
    assert "skip_bad: Skip up to N malformed lines" in text


def test_an_experiment_is_the_same_as_toml_as_text_and_as_a_copy():
    own = ftlab.Experiment("dftl", verify=True, skip_bad=3, loop=2, **SMALL, **{"gc.threshold": "3%"})
    assert ftlab.Experiment.from_toml(own.to_toml()) == own == eval(repr(own))
    assert pickle.loads(pickle.dumps(own)) == own
    assert own.command().startswith("ftlab run --scheme dftl ") and "--loop 2" in own.command()
    assert (own.verify, own.skip_bad, own.buffer) == (True, 3, None)
    other = own.replace(verify=None, scheme="fast")
    assert other.schemes == "fast" and other.verify is None and other.skip_bad == 3


def test_attributes_can_be_set_and_what_is_not_legal_changes_nothing():
    own = ftlab.Experiment("dftl", **SMALL)
    own.capacity = 64 << 20
    assert own.capacity == str(64 << 20) or own.capacity == 64 << 20
    own.set = {"gc.threshold": 5}
    assert own.set == ["gc.threshold=5"]
    own.set = {"gc.victim": "fifo"}
    assert own.set == ["gc.victim=fifo"]
    before = own.to_dict()
    with pytest.raises(ValueError, match="capacity"):
        own.capacity = "many"
    with pytest.raises(AttributeError):
        own.capacitty = 3
    assert own.to_dict() == before


def test_an_experiment_runs_and_compares():
    own = ftlab.Experiment("dftl", **SMALL, head=1000)
    assert own.run().scheme == "dftl"
    assert own.replace(scheme=["dftl", "fast"]).compare(jobs=1).schemes == ["dftl", "fast"]
    with pytest.raises(ValueError, match="scheme and schemes"):
        ftlab.run(scheme="dftl", schemes="fast")


def test_a_workload_without_times_needs_a_timing_whenever_it_changes():
    frame = {"op": ["w"] * 9, "offset": range(0, 9 * 4096, 4096), "size": [4096] * 9}
    own = ftlab.Experiment("dftl", "slc_small", "oltp_demo", timing="asap", capacity="32MiB")
    other = own.replace(workload=frame)
    assert other.run().host.write_requests == 9
    with pytest.raises(ValueError, match="timing must be stated"):
        other.timing = None
    with pytest.raises(TypeError, match="cannot be pickled; write it to a file"):
        pickle.dumps(other)


def test_a_key_that_is_none_has_its_default():
    keys = {"dftl.cmt_entries": 100, "gc.victim": "fifo"}
    one = ftlab.Experiment("dftl", "slc_small", "oltp_demo", **keys)
    assert one.replace(**{"dftl.cmt_entries": None}).set == ["gc.victim=fifo"]
    assert one.replace(set=None).set is None
    assert one.replace(set=None, **{"gc.victim": "lru"}).set == ["gc.victim=lru"]
