"""Experiments, and what is done with them. The options are the library's: their names, words and
legal values come from there, so that a new one is here without a line."""

import json
import operator
import os
import tempfile

from . import _ftlab
from ._errors import UsageError
from ._progress import shown
from ._results import Comparison, Inspection, Result

_WORDS = {name: (value, about) for of in ("run", "compare") for name, value, about in _ftlab.options(of)}


def attribute(option):
    """The name of an option in Python: `skip-bad` is `skip_bad`."""
    return option.replace("-", "_")


def _plain(value):
    """A value of an option as JSON has it."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, (list, tuple, range)):
        return ",".join(str(_plain(one)) for one in value)
    try:
        return operator.index(value)
    except TypeError:
        return str(value)


def _setting(value):
    plain = _plain(value)
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def _settings(stated):
    """Of `set`: a dict of keys and values, `KEY=VALUE`, or a list of such."""
    if isinstance(stated, str):
        return [stated]
    if hasattr(stated, "items"):
        return [f"{key}={_setting(value)}" for key, value in stated.items()]
    return [str(one) for one in stated]


def stated(options, legal):
    """Options as JSON has them, and what must live as long as they do. None: not stated."""
    made, settings, kept = {}, [], None
    for name, value in options.items():
        option = "schemes" if name == "scheme" else name.replace("_", "-")
        if value is None:
            continue
        if "." in name:
            settings.append(f"{name}={_setting(value)}")
        elif option not in legal:
            raise _ftlab.unknown("option", name, [attribute(one) for one in legal])
        elif option in made:
            raise UsageError("scheme and schemes are both stated; legal: one of them")
        elif option == "set":
            settings = _settings(value) + settings
        elif option == "workload" and not isinstance(value, (str, os.PathLike)):
            from ._workload import Workload

            kept = value if isinstance(value, Workload) else Workload(value)
            made[option] = str(kept.path)
        else:
            made[option] = _plain(value)
    if settings:
        made["set"] = settings
    return made, kept


def check_times(options, kept):
    """Requests without times need to be told when they come."""
    if kept is not None and not kept.has_times and "timing" not in options:
        raise UsageError(
            "the workload has no column time, so that timing must be stated; legal: timing='asap' or "
            "timing='closed:DEPTH', or a column time"
        )


class Experiment:
    """What is to be run: schemes, a device, a workload, and how they meet.

    Every option of `ftlab run` and `ftlab compare` is an attribute and a keyword (`-` becomes
    `_`), with the text that the option takes; numbers may be numbers, flags are True. Keys of the
    configuration are keywords with a point: `**{"dftl.cmt_entries": 4096}`. What is None has its
    default. `workload` may be a `Workload`, or what that takes.

    Raises `UsageError` for names and values that are not legal; what does not go together is told
    when it is run."""

    __module__ = "ftlab"
    __slots__ = ("_options", "_kept")

    def __init__(self, scheme=None, device=None, workload=None, **options):
        options = {"scheme": scheme, "device": device, "workload": workload, **options}
        self._take(*stated(options, _ftlab.EXPERIMENT))

    def _take(self, options, kept):
        check_times(options, kept)
        self._options = json.loads(_ftlab.checked(json.dumps(options)))
        self._kept = kept

    @classmethod
    def from_toml(cls, text):
        """An experiment from TOML, whose names are those of the options (`skip-bad`)."""
        own = cls.__new__(cls)
        own._take(json.loads(_ftlab.from_toml(text)), None)
        return own

    def to_toml(self):
        """The experiment as TOML, without what has its default."""
        return _ftlab.to_toml(json.dumps(self._options))

    def to_dict(self):
        """The options that do not have their defaults, under the names of the command."""
        return json.loads(json.dumps(self._options))

    def command(self):
        """The command line of the same experiment, without the files that it writes."""
        return _ftlab.command(json.dumps(self._options))

    def replace(self, **options):
        """A copy in which some options are others; None gives an option its default."""
        changed, kept = stated(options, _ftlab.EXPERIMENT)
        none = [name for name, value in options.items() if value is None]
        gone = {name.replace("_", "-") for name in none if "." not in name}
        # A key that is None has its default again; so has each where `set` is.
        before = [] if "set" in gone else self._options.get("set", [])
        keys = tuple(f"{name}=" for name in none if "." in name)
        before = [one for one in before if not one.strip().startswith(keys)]
        changed["set"] = before + changed.get("set", [])
        if "scheme" in gone:
            gone.add("schemes")
        own = type(self).__new__(type(self))
        before = {name: value for name, value in self._options.items() if name not in gone}
        own._take({**before, **changed}, kept if "workload" in changed else self._kept)
        return own

    def run(self, *, policies=None, requests=False, reproducible=False, progress=False):
        """Runs the one scheme; see `ftlab.run`."""
        options, folder = self._recording(requests)
        with shown(progress) as told:
            text = _ftlab.run(json.dumps(options), _policies(policies), reproducible, told)
        return Result(_named(text, self._kept), *self._rows(options, folder, None, None))

    def compare(self, *, policies=None, jobs=None, requests=False, reproducible=False, progress=False):
        """Runs all schemes side by side; see `ftlab.compare`."""
        options, folder = self._recording(requests)
        with shown(progress) as told:
            done = _ftlab.compare(
                json.dumps(options), _policies(policies), jobs, reproducible, told
            )
        made = {}
        for unit, texts in done:
            runs = []
            for text in (_named(text, self._kept) for text in texts):
                scheme = json.loads(text)["scheme"]
                runs.append(Result(text, *self._rows(options, folder, unit, scheme)))
            made[unit] = Comparison(runs)
        return made[None] if None in made else made

    def _recording(self, requests):
        """The options with a temporary file for rows of requests, where these are asked for."""
        if not requests:
            return self._options, None
        if "requests-out" in self._options:
            raise UsageError(
                "requests=True keeps rows in a temporary file, and requests_out names another; "
                "legal: one of the two"
            )
        folder = tempfile.TemporaryDirectory(prefix="ftlab-")
        path = os.path.join(folder.name, "requests.parquet")
        return {**self._options, "requests-out": path}, folder

    @staticmethod
    def _rows(options, folder, unit, scheme):
        """Where the rows of requests of a run are."""
        path = options.get("requests-out")
        if path is None:
            return None, None
        stem, end = os.path.splitext(path)
        if unit is not None:
            stem += f"-unit-{unit}"
        if scheme is not None:
            stem += f"-{scheme.replace(':', '-')}"
        return stem + end, folder

    def __eq__(self, other):
        return isinstance(other, Experiment) and self._options == other._options

    __hash__ = None

    def __repr__(self):
        options = {}
        for name, value in self._options.items():
            options[attribute(name)] = value
        return f"ftlab.Experiment({', '.join(f'{name}={value!r}' for name, value in options.items())})"

    def __reduce__(self):
        if self._kept is not None:
            raise TypeError(
                "an experiment on a workload from columns lives in a temporary file and cannot be "
                "pickled; write it to a file with Workload.save() and name that"
            )
        return (_restored, (self._options,))


def _policies(given):
    """Own policies by place; classes, of which every run makes its own objects."""
    if given is None or isinstance(given, dict):
        return given
    raise UsageError(
        f"policies must be a dict of classes, such as {{'victim': MyPolicy}}; it is {given!r}"
    )


def _named(text, workload):
    return text if workload is None else workload._named(text)


def _restored(options):
    own = Experiment.__new__(Experiment)
    own._take(options, None)
    return own


def _property(option):
    value, about = _WORDS[option]

    def get(self):
        return self._options.get(option)

    def put(self, to):
        changed = self.replace(**{attribute(option): to})
        if option == "set":
            changed = self.replace(set=None).replace(set=to)
        self._options, self._kept = changed._options, changed._kept

    shape = f" ({value})" if value else " (a flag)"
    return property(get, put, doc=f"{about}{shape}.\n\nNone: not stated.")


for _option in _ftlab.EXPERIMENT:
    setattr(Experiment, attribute(_option), _property(_option))


def _documented(function):
    """Lists the options behind the words of a function."""
    function.__module__ = "ftlab"
    names = [name for name in _ftlab.EXPERIMENT if name not in ("schemes", "device", "workload")]
    lines = [f"    {attribute(name)}: {_WORDS[name][1]}" for name in names]
    function.__doc__ += "\n\n    Options:\n\n" + "\n".join(lines) + "\n"
    return function


@_documented
def run(scheme=None, device=None, workload=None, *, policies=None, requests=False,
        reproducible=False, progress=False, **options):
    """Runs one scheme on a device and a workload: a `Result`.

    scheme: a name of `ftlab.schemes()`, with a preset if wanted (`dftl:gtd`).
    device: a name of `ftlab.devices()`, or a TOML file.
    workload: a name of `ftlab.workloads()`, a trace file, an inline spec such as
        'randwrite:bs=4k,span=80%,count=2x', a `Workload`, or a data frame that one is made of.
    policies: classes of your own by what they decide: 'victim' (a method `choose(blocks)`),
        'placement' (`apart(block)`), 'cache' (`evict(entries)`, and `admit(page)` if wanted); see
        `ftlab.policies`. The result says so.
    requests: keeps a row per request, `result.table("requests")`, in a temporary file.
    reproducible: equal runs are equal bytes: `wall` is zero, machine and date are empty.
    progress: True for bars of tqdm, or a function that is called with a list of (number, words, what
        is counted, done, length or None, is over) several times a second.

    Other threads of Python go on meanwhile; Ctrl-C in the main thread ends the run that it waits for
    within a second, and nothing is left of it. Raises `UsageError` before anything runs, `RunError` where the run fails."""
    own = Experiment(scheme, device, workload, **options)
    return own.run(
        policies=policies, requests=requests, reproducible=reproducible, progress=progress
    )


@_documented
def compare(schemes=None, device=None, workload=None, *, policies=None, jobs=None, requests=False,
            reproducible=False, progress=False, **options):
    """Runs several schemes on the same device and workload: a `Comparison`.

    schemes: a list of names, 'all' or 'family:NAME'; what cannot run on the device is left out of
        these two, and warnings say so.
    jobs: runs side by side; as many as cores and memory allow where None. Results are the same for
        any number.
    unit='each': every unit of a trace apart, on devices of its own: a dict of comparisons by unit.

    Everything else is as with `ftlab.run`. Raises `UsageError`, and `RunError` where any run fails."""
    own = Experiment(schemes, device, workload, **options)
    return own.compare(
        policies=policies, jobs=jobs, requests=requests, reproducible=reproducible, progress=progress
    )


def inspect(workload, *, progress=False, **options):
    """Says what is in a workload, without running it: an `Inspection`.

    workload: as in `ftlab.run`.
    device, page_size, map_entries, cache_entries, cache_pages: what is counted in, and sizes of map
        caches to be listed (a list of numbers), as of `ftlab trace inspect`.
    format, time_unit, size_unit, unit, filter, head, ...: how a trace is read, as in `ftlab.run`."""
    legal = ["workload", *_ftlab.READING, *_ftlab.COUNTING]
    made, kept = stated({"workload": workload, **options}, legal)
    counting = {name: made.pop(name) for name in _ftlab.COUNTING if name in made}
    with shown(progress) as told:
        text, found = _ftlab.inspect(json.dumps(made), json.dumps(counting), told)
    return Inspection(_named(text, kept), _named(found, kept))


inspect.__module__ = "ftlab"
