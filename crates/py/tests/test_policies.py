"""Own policies in Python: one that decides as a policy of the program does gives its numbers; what goes wrong is
told; and what a question costs."""

import signal
import subprocess
import sys
import time

import ftlab
import pytest

OPTIONS = {
    "device": "slc_small",
    "capacity": "16MiB",
    "workload": "randwrite:bs=2k,span=80%,count=20000,random_distribution=zipf:0.9,seed=3",
    "precondition": "fill",
    "timing": "asap",
    "device.over_provisioning": "15%",
    "reproducible": True,
}


class Fewest:
    """`cost_benefit`: fewest valid pages, the lowest number among equals."""

    def choose(self, blocks):
        return min(range(len(blocks)), key=lambda place: blocks.valid[place])


class CostBenefit:
    """The student's variant: Kawaguchi's score with the square root of the age."""

    def choose(self, blocks):
        pages = blocks.pages_per_block

        def score(place):
            valid = blocks.valid[place]
            return (blocks.age[place] ** 0.5) * (pages - valid) / (2 * valid or 1e-9)

        return max(range(len(blocks)), key=score)


class Apart:
    def apart(self, block):
        assert 0 <= block.valid <= block.pages_per_block and block.age >= 0 and block.erases >= 0
        return True


class Oldest:
    window = 1

    def evict(self, entries):
        assert len(entries) == 1 and entries.changed[0] in (0, 1) and entries.uses[0] >= 0
        return 0


def numbers(result):
    """A result without what says who decided. A policy of one's own may look at the class of a block, and is charged
    for it; dividing moved pages from written ones needs none."""
    told = result.to_dict()
    ram = told["ram_bytes"]
    classes = ram["structures"].pop("placement_blocks", {"bytes": 0})["bytes"]
    ram["dram"], ram["total"] = ram["dram"] - classes, ram["total"] - classes
    for key in ("warnings", "own_policies", "classes", "config", "made"):
        told.pop(key, None)
    return told


@pytest.mark.parametrize(
    "place, policy, scheme, same",
    [
        ("victim", Fewest, "ideal_page", {"gc.victim": "cost_benefit"}),
        ("placement", Apart, "ideal_page", {"gc.separate_frontiers": "true"}),
        ("cache", Oldest, "dftl", {"dftl.cmt_policy": "lru"}),
    ],
)
def test_a_policy_that_decides_as_the_program_does_gives_its_numbers(place, policy, scheme, same):
    few = {"dftl.cmt_entries": 256} if scheme == "dftl" else {}
    own = ftlab.run(scheme, policies={place: policy}, **OPTIONS, **few)
    other = ftlab.run(scheme, **OPTIONS, **few, **same)
    assert numbers(own) == numbers(other)
    [told] = own.to_dict()["own_policies"]
    assert (told["place"], told["name"]) == (place, policy.__name__) and told["asked"] > 10
    assert any(policy.__name__ in warning for warning in own.warnings)
    assert "own_policies" not in other.to_dict()


def test_a_variant_of_a_student_runs_under_every_law():
    own = ftlab.run("ideal_page", policies={"victim": CostBenefit}, verify=True, **OPTIONS)
    other = ftlab.run("ideal_page", verify=True, **OPTIONS)
    assert own.audit == other.audit == "passed"
    assert own.config["gc"]["victim"] == "own"
    assert own.flash.total_programs != other.flash.total_programs


def test_lists_of_candidates_are_views_that_numpy_takes():
    numpy = pytest.importorskip("numpy")
    seen = []

    class Looks:
        def choose(self, blocks):
            valid = numpy.asarray(blocks.valid)
            seen.append((valid.dtype, len(valid) == len(blocks), valid.max() < blocks.pages_per_block))
            return numpy.argmin(valid)

    ftlab.run("ideal_page", policies={"victim": Looks}, **OPTIONS)
    assert set(seen) == {(numpy.dtype("uint32"), True, True)}


def test_every_scheme_of_a_comparison_has_objects_of_its_own():
    made = []

    class Counted(Fewest):
        def __init__(self):
            made.append(self)

    compared = ftlab.compare(["ideal_page", "dftl"], policies={"victim": Counted}, **OPTIONS)
    assert len(made) >= 2 and len(compared) == 2


def test_what_a_policy_raises_ends_the_run():
    class Breaks:
        def choose(self, blocks):
            raise ZeroDivisionError("one over none")

    began = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="one over none"):
        ftlab.run("ideal_page", policies={"victim": Breaks}, **{**OPTIONS, "workload": "randwrite:bs=2k,count=50000000"})
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("answer", [-1, 10**6, None, "first", 0.5])
def test_an_answer_that_is_no_place_is_told(answer):
    class Wrong:
        def choose(self, blocks):
            return answer

    with pytest.raises(ValueError, match=r"Wrong.choose answered .*; legal: a place among the candidates, 0 to \d+"):
        ftlab.run("ideal_page", policies={"victim": Wrong}, **OPTIONS)


@pytest.mark.parametrize(
    "policies, error, words",
    [
        ({"victims": Fewest}, ftlab.UsageError, r"unknown place .victims. \(victim, placement, cache\)"),
        ({"victim": Fewest()}, ftlab.UsageError, "must be a class"),
        ({"victim": Apart}, ftlab.UsageError, "Apart has no method `choose`"),
        ([Fewest], ValueError, "must be a dict of classes"),
    ],
)
def test_what_is_no_policy_is_refused(policies, error, words):
    with pytest.raises(error, match=words):
        ftlab.run("ideal_page", policies=policies, **OPTIONS)


def test_what_breaks_at_the_last_moment_leaves_no_file(tmp_path):
    calls = []

    class Counts(Fewest):
        def choose(self, blocks):
            calls.append(1)
            return super().choose(blocks)

    ftlab.run("ideal_page", policies={"victim": Counts}, **OPTIONS)
    last = len(calls)

    class BreaksLast(Counts):
        def choose(self, blocks):
            if len(calls) == 2 * last - 1:
                raise KeyError("the last one")
            return super().choose(blocks)

    rows, snapshot = tmp_path / "rows.parquet", tmp_path / "snapshot"
    with pytest.raises(KeyError, match="the last one"):
        ftlab.run(
            "ideal_page", policies={"victim": BreaksLast}, requests_out=rows, save_snapshot=snapshot, **OPTIONS
        )
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_reaches_a_policy_that_does_not_answer():
    text = """
import ftlab
class Hangs:
    def choose(self, blocks):
        print("asked", flush=True)
        while True:
            pass
try:
    ftlab.run("ideal_page", policies={"victim": Hangs}, **%r)
except KeyboardInterrupt:
    print("interrupted", flush=True)
""" % (OPTIONS,)
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "asked\n"
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=30)[0] == "interrupted\n"
    finally:
        child.kill()


def test_a_setting_that_says_otherwise_is_refused():
    with pytest.raises(ftlab.UsageError, match="gc.victim is stated"):
        ftlab.run("ideal_page", policies={"victim": Fewest}, **OPTIONS, **{"gc.victim": "fifo"})


@pytest.mark.parametrize("answer", [None, "yes", 0.5])
def test_what_is_neither_true_nor_false_is_told(answer):
    class Unsure:
        def apart(self, block):
            return answer

    with pytest.raises(ValueError, match=r"Unsure.apart answered .*; legal: True or False"):
        ftlab.run("ideal_page", policies={"placement": Unsure}, **OPTIONS)


def test_a_policy_that_nobody_asks_is_told():
    own = ftlab.run("fast", policies={"victim": Fewest}, **OPTIONS)
    assert any("was never asked" in warning for warning in own.warnings)


def test_an_entry_that_is_not_admitted_leaves_first():
    kept = []

    class Never:
        def admit(self, page):
            kept.append(page)
            return False

        def evict(self, entries):
            assert entries.page[0] == kept[-1], "the last one that came"
            return 0

    few = {"dftl.cmt_entries": 64}
    own = ftlab.run("dftl", policies={"cache": Never}, **OPTIONS, **few)
    all_in = ftlab.run("dftl", policies={"cache": Oldest}, **OPTIONS, **few)
    assert own.map_cache.to_dict() != all_in.map_cache.to_dict()


def test_the_program_cannot_give_one(capfd):
    with pytest.raises(ftlab.UsageError, match="only a program that uses ftlab as a library"):
        ftlab.run("ideal_page", **OPTIONS, **{"gc.victim": "own"})
