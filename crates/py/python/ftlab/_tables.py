"""Tables: columns as buffers, and as what other libraries make of them."""

import io
from collections.abc import Mapping
from importlib import import_module


def needed(module, what, package):
    """A module of another package, which `what` needs."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {package}, which cannot be imported ({error}); "
            f"`pip install {package}` installs it"
        ) from None


class Table(Mapping):
    """Columns of equal length by name.

    A column of numbers is a read-only `memoryview` of 64-bit integers (`q`), doubles (`d`, NaN where
    a cell is absent) or booleans (`?`), which `numpy.asarray` and others take without a copy; any
    other column is a list of `str`, None where a cell is absent. Units stand in the names. Columns
    of a file are read when they are asked for."""

    __module__ = "ftlab"

    def __init__(self, names, rows, column, parquet, path=None):
        self._names = list(names)
        self._rows = rows
        self._column = column
        self._parquet = parquet
        # A file, where there is one, and what keeps it from being removed.
        self._path = path

    def __getitem__(self, name):
        kind, cells = self._column(name)
        return cells if kind == "s" else memoryview(cells).cast(kind)

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __contains__(self, name):
        return name in self._names

    @property
    def shape(self):
        """Rows and columns."""
        return (self._rows, len(self._names))

    @property
    def columns(self):
        """Names of the columns."""
        return list(self._names)

    def __repr__(self):
        return f"<ftlab.Table of {self._rows} rows: {', '.join(self._names)}>"

    def to_numpy(self):
        """A dict of numpy arrays; numbers are views of the same memory."""
        numpy = needed("numpy", "to_numpy()", "numpy")
        made = {}
        for name in self._names:
            cells = self[name]
            is_text = isinstance(cells, list)
            made[name] = numpy.array(cells, dtype=object) if is_text else numpy.asarray(cells)
        return made

    def to_pandas(self):
        """A pandas data frame."""
        pandas = needed("pandas", "to_pandas()", "pandas")
        return pandas.DataFrame(self.to_numpy())

    def to_polars(self):
        """A polars data frame; absent cells are null."""
        polars = needed("polars", "to_polars()", "polars")
        if self._path is not None:
            return polars.read_parquet(str(self._path))
        return polars.read_parquet(io.BytesIO(self.to_parquet()))

    def to_arrow(self):
        """A pyarrow table; absent cells are null."""
        parquet = needed("pyarrow.parquet", "to_arrow()", "pyarrow")
        return parquet.read_table(io.BytesIO(self.to_parquet()))

    def to_parquet(self, path=None):
        """The table as a file of Parquet: its bytes, or written to the new file `path`."""
        made = self._parquet()
        if path is None:
            return made
        with open(path, "xb") as file:
            file.write(made)
        return None


def of_results(of, texts):
    """A table of results that are held as JSON."""
    from . import _ftlab

    columns = {name: (kind, cells) for name, kind, cells in _ftlab.columns(of, texts)}
    rows = 0
    for kind, cells in columns.values():
        rows = len(cells) if kind in "s?" else len(cells) // 8
        break
    return Table(columns, rows, columns.__getitem__, lambda: _ftlab.parquet(of, texts))


class _Kept:
    """A path, and the temporary folder that it is in, if it is in one."""

    def __init__(self, path, folder=None):
        self.path = path
        self.folder = folder

    def __str__(self):
        return str(self.path)


def of_file(path, folder=None):
    """A table that is a file of Parquet; a temporary `folder` stays as long as the table does."""
    from . import _ftlab

    kept = _Kept(path, folder)
    names, rows = _ftlab.parquet_shape(path)

    def read():
        with open(kept.path, "rb") as file:
            return file.read()

    return Table(names, rows, lambda name: _ftlab.parquet_column(kept.path, name), read, kept)
