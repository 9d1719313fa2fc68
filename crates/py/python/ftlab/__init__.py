"""ftlab, a laboratory for flash translation layers, from Python.

    import ftlab
    result = ftlab.run("dftl", "dftl2014", "oltp_demo", precondition="fill")
    result                                  # the table that the program prints
    result.latency_ns.all.system.mean       # any number of the result, with its unit in its name

Runs, comparisons and sweeps are those of the command `ftlab`, number by number: the options are
the same under the same names (`-` becomes `_`), and keys of the configuration are given as
`**{"dftl.cmt_entries": 4096}`. What is not legal raises `UsageError` (a `ValueError`) with the words
of the command, a run that fails `RunError`.
"""

from importlib import import_module as _import

# What stands where; nothing is loaded before it is used.
_PLACES = {
    "_errors": ["UsageError", "RunError"],
    "_experiment": ["Experiment", "compare", "inspect", "run"],
    "_lists": [
        "buffers", "devices", "experiments", "families", "formats", "keys", "placements",
        "schedulers", "schemes", "victims", "workloads",
    ],
    "_results": ["Comparison", "Inspection", "Result"],
    "_tables": ["Table"],
    "_workload": ["Workload"],
    "sweep": [],
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = sorted([*_PLACE_OF, "sweep"])


def __getattr__(name):
    if name == "sweep":
        return _import(".sweep", __name__)
    if name == "__version__":
        return _import("._ftlab", __name__).VERSION
    if name in _PLACE_OF:
        found = getattr(_import(f".{_PLACE_OF[name]}", __name__), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'ftlab' has no attribute '{name}'")


def __dir__():
    return [*__all__, "__version__"]
