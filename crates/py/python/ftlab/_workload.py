"""A workload from columns: arrays, lists, or a data frame."""

import array
import os
import shutil
import tempfile

from . import _ftlab
from ._errors import UsageError

_COLUMNS = ("time", "op", "offset", "size")
_OPERATIONS = {"read": 0, "r": 0, "write": 1, "w": 1, "trim": 2, "t": 2, "flush": 3, "f": 3}
_LEGAL_OPERATIONS = "read, write, trim, flush, r, w, t, f, or 0 to 3 in that order"
_NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


class Workload:
    """Requests from columns of equal length, a row each.

    columns: a data frame (pandas, polars), a dict of columns, or a numpy array with fields; or the
        columns by name:
    time: arrival, in `time_unit`, from 0 or more, in order; the first request is moved to 0. Whole
        numbers, fractions that nanoseconds can tell, or datetime64 and timedelta64. Where there is
        no time, a run must say `timing='asap'` or `'closed:DEPTH'`.
    op: read, write, trim or flush, r, w, t or f in any case, or 0 to 3 in that order.
    offset: first byte, from 0.
    size: bytes, 1 to 2**40; of a flush any, 0 among them.
    name: results call it NAME.ftb, and so does the command that they state.
    time_unit: ns (default), us, ms or s.

    Workloads are read from files, as often as a run needs: the requests are kept in a file of
    ftlab's compact form (28 bytes a request) in a temporary folder, which goes with this object.
    Raises `UsageError` that names row (from 0), column, value and what is legal."""

    __module__ = "ftlab"

    def __init__(self, columns=None, *, time=None, op=None, offset=None, size=None,
                 name="columns", time_unit="ns"):
        if time_unit not in _NANOSECONDS:
            raise _ftlab.unknown("time_unit", str(time_unit), list(_NANOSECONDS))
        if not name or os.path.basename(name) != name or any(one in name for one in ",()+:*?[]"):
            raise UsageError(f"name '{name}' is not legal; legal: a word that a file may be called")
        own = {"time": time, "op": op, "offset": offset, "size": size}
        if columns is not None:
            own = _of_frame(columns, own)
        missing = [one for one in _COLUMNS if own[one] is None and one != "time"]
        if missing:
            raise UsageError(
                f"column {missing[0]} is missing; legal: columns op, offset, size, and time where "
                "arrivals matter"
            )
        self.has_times = own["time"] is not None
        ops = _operations(own["op"])
        times = bytes(8 * len(ops))
        if self.has_times:
            times = _numbers("time", own["time"], _NANOSECONDS[time_unit])
        columns = (times, ops, _numbers("offset", own["offset"]), _numbers("size", own["size"]))
        self._folder = tempfile.TemporaryDirectory(prefix="ftlab-")
        self.path = os.path.join(self._folder.name, f"{name}.ftb")
        self.requests = _ftlab.keep_requests(self.path, *columns)

    def save(self, path):
        """Keeps the workload in the new file `path` (`.ftb`), which the program reads as well."""
        if os.path.exists(path):
            raise UsageError(
                f"{path} exists, and nothing is overwritten; legal: the name of a new file"
            )
        shutil.copyfile(self.path, path)

    def _named(self, text):
        """A text in which it is called by its name, not by its temporary file."""
        return text.replace(self.path, os.path.basename(self.path))

    def __repr__(self):
        return f"<ftlab.Workload of {self.requests} requests in {self.path}>"

    def __reduce__(self):
        raise TypeError(
            "a workload from columns lives in a temporary file and cannot be pickled; write it to a "
            "file with save() and name that"
        )


def _of_frame(frame, own):
    """The columns of a frame; those that are stated by name as well are an error."""
    names = getattr(frame, "columns", None)
    if names is None:
        names = getattr(getattr(frame, "dtype", None), "names", None)
    if names is None and hasattr(frame, "keys"):
        names = frame.keys()
    if names is None:
        raise UsageError(
            f"a {type(frame).__name__} is no workload; legal: a text, a path, a data frame, a dict of "
            f"columns or an array with fields, with {', '.join(_COLUMNS)}"
        )
    names = [str(one) for one in names]
    for name in names:
        if name not in _COLUMNS:
            raise _ftlab.unknown("column", name, list(_COLUMNS))
        if own[name] is not None:
            raise UsageError(f"column {name} is stated twice; legal: once")
    return {**own, **{name: frame[name] for name in names}}


def _wrong(row, column, value, legal):
    return UsageError(f"row {row}, column {column}: {value!r} is not legal; legal: {legal}")


def _array(values):
    """Values as a numpy array where they are one, or can tell one; else a list."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    return values if hasattr(values, "dtype") else list(values)


def _numbers(column, values, scale=1):
    """64-bit numbers, as bytes; `scale` is what one of them stands for."""
    values = _array(values)
    legal = "a time" if column == "time" else "a whole number of bytes"
    if isinstance(values, list):
        return _numbers_of_list(column, values, scale, legal)
    import numpy

    if values.ndim != 1:
        raise UsageError(f"column {column} has {values.ndim} dimensions; legal: 1")
    kind = values.dtype.kind
    if kind in "mM" and column == "time":
        missing = numpy.isnat(values)
        values = values.astype(f"{values.dtype.kind}8[ns]").astype("int64")
        scale = 1
    elif kind == "f":
        nanoseconds = numpy.round(values * scale) if scale > 1 else values
        missing = ~(numpy.isfinite(values) & (numpy.abs(nanoseconds) < 2.0**63))
        if scale == 1:
            missing |= values != numpy.round(values)
        kept, values, scale = values, numpy.where(missing, 0, nanoseconds).astype("int64"), 1
        if missing.any():
            row = int(missing.argmax())
            raise _wrong(row, column, float(kept[row]), legal)
    elif kind == "O":
        return _numbers_of_list(column, list(values), scale, legal)
    elif kind in "iu":
        most = (2**63 - 1) // scale
        missing = (values > most) | (values < -most if kind == "i" else False)
        if missing.any():
            row = int(missing.argmax())
            raise _wrong(row, column, int(values[row]), "a number of 63 bits")
        missing = None
        values = values.astype("int64", copy=False)
    else:
        raise UsageError(f"column {column} holds {values.dtype}; legal: {legal}")
    if missing is not None and missing.any():
        raise _wrong(int(missing.argmax()), column, "NaT", legal)
    return numpy.ascontiguousarray(values * scale if scale > 1 else values).tobytes()


def _numbers_of_list(column, values, scale, legal):
    made = array.array("q")
    for row, value in enumerate(values):
        try:
            if isinstance(value, bool):
                raise TypeError
            exact = value * scale
            whole = round(exact)
            if scale == 1 and whole != value:
                raise ValueError
            made.append(whole)
        except (TypeError, ValueError, OverflowError):
            raise _wrong(row, column, value, legal) from None
    return made.tobytes()


def _operations(values):
    """Operations as numbers, a byte each."""
    values = _array(values)
    if not isinstance(values, list):
        if values.ndim != 1:
            raise UsageError(f"column op has {values.ndim} dimensions; legal: 1")
        if values.dtype.kind in "iu":
            wrong = (values < 0) | (values > 3)
            if wrong.any():
                row = int(wrong.argmax())
                raise _wrong(row, "op", int(values[row]), _LEGAL_OPERATIONS)
            return values.astype("uint8").tobytes()
        values = values.tolist()
    made = bytearray(len(values))
    known = {}
    for row, value in enumerate(values):
        number = known.get(value) if isinstance(value, (str, bytes)) else None
        if number is None:
            number = _operation(row, value)
            if isinstance(value, (str, bytes)):
                known[value] = number
        made[row] = number
    return bytes(made)


def _operation(row, value):
    word = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    number = _OPERATIONS.get(word.strip().lower()) if isinstance(word, str) else word
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 3:
        raise _wrong(row, "op", value, _LEGAL_OPERATIONS)
    return number
