"""What there is, read from the tables that the program itself uses."""

import json

from . import _ftlab


def _list(name, about):
    def listed():
        return json.loads(_ftlab.listing(name))

    listed.__name__ = listed.__qualname__ = name
    listed.__module__ = "ftlab"
    listed.__doc__ = f"{about}: a list of dicts, as `ftlab list {name} --json` prints them."
    return listed


schemes = _list("schemes", "Flash translation layers, with family, paper, presets and deviations")
families = _list("families", "Families of schemes, for `schemes='family:NAME'`")
victims = _list("victims", "Victim policies of garbage collection")
placements = _list("placements", "Placement policies: which write frontier takes a page of data")
buffers = _list("buffers", "Host write buffers, in front of any scheme")
schedulers = _list("schedulers", "Schedulers of the driver's queue")
devices = _list("devices", "Bundled devices, with their sizes")
workloads = _list("workloads", "Bundled workloads, with the inline spec that each stands for")
formats = _list("formats", "Trace formats, with their columns and units")
keys = _list("keys", "Settings, with default, meaning, legal range and source")
experiments = _list("experiments", "Experiments of the papers, for `ftlab reproduce`")
