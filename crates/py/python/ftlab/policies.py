"""Own policies: classes that decide in the place of a policy of the program.

    class CostBenefit:
        def choose(self, blocks):
            valid = numpy.asarray(blocks.valid) / blocks.pages_per_block
            with numpy.errstate(divide="ignore"):
                score = numpy.asarray(blocks.age) * (1 - valid) / (2 * valid)
            return numpy.argmax(score)

    ftlab.run("dftl", "dftl2014", "oltp_demo", policies={"victim": CostBenefit})

Every plane and every cache gets an object of its own, made without arguments, and a new one after a
power cut. It is asked once per collection or per miss; laws, clock, counts and audit are those of
every run, and what it remembers is in no account of memory. What it raises ends the run with that.

The classes below only say what there is to write; nothing needs to inherit from them."""

from typing import Protocol


class Victim(Protocol):
    """Which block is collected next, in the place of `gc.victim`."""

    def choose(self, blocks):
        """The place of the victim in the lists of `blocks`: `number`, `valid`, `erases`, `age`."""


class Placement(Protocol):
    """Where the data pages of a collected block go. Sets `gc.placement`."""

    def apart(self, block):
        """True for the frontier of moved pages, False for that of the host's writes. `block` has
        `number`, `pages_per_block`, `valid`, `erases`, `age`."""


class Cache(Protocol):
    """Which entry leaves the map cache of dftl, in the place of `dftl.cmt_policy`."""

    #: Entries that `evict` is shown at most: those used longest ago.
    window: int = 64

    def evict(self, entries):
        """The place of the entry that leaves in the lists of `entries`, the one used longest ago
        first: `page`, `changed` (1 where it must be written first), `uses`."""

    def admit(self, page):
        """May be left out. False for an entry that shall be the next to leave."""
