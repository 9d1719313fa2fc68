#!/usr/bin/env python3
"""Writes the stubs of the package from what it is: options and fields of results come from the
native part, everything else from the signatures and words of the sources.

    stubs.py FOLDER     writes __init__.pyi and sweep/__init__.pyi; the package must be importable
"""

import inspect
import pathlib
import sys

import ftlab
from ftlab import _ftlab, _lists, _results, _schema, _tables, _workload
from ftlab import sweep as sweeping

HEAD = '''# Written by crates/py/stubs.py; `make stubs` writes it anew.
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

_Value = str | int | float | bool | os.PathLike[str] | Sequence[Any]
_Progress = bool | Callable[[list[tuple[int, str, str, int, int | None, bool]]], object]

__version__: str
'''

# What signatures do not say.
TYPES = {
    "scheme": "_Value | None", "device": "_Value | None", "workload": "Any", "schemes": "_Value | None",
    # Settings come as `**{"dftl.cmt_entries": 4096}`, which checkers hold against every parameter.
    "requests": "_Value", "reproducible": "_Value", "progress": "_Progress | _Value", "jobs": "_Value | None",
    "columns": "Any", "time": "Any", "op": "Any", "offset": "Any", "size": "Any", "name": "str",
    "time_unit": "str", "of": "str", "path": "str | os.PathLike[str]", "text": "str", "axes": "Any",
    "out": "str | os.PathLike[str]", "resume": "_Value", "shard": "_Value | None", "sample": "_Value | None",
    "policies": "dict[str, type] | _Value | None", "run": "str", "folder": "str | os.PathLike[str]",
}
RETURNS = {
    "run": "Result", "inspect": "Inspection", "compare": "Comparison | dict[int, Comparison]",
    "Experiment.run": "Result", "Experiment.compare": "Comparison | dict[int, Comparison]",
    "Experiment.from_toml": "Experiment", "Experiment.replace": "Experiment",
    "Result.from_file": "Result", "Comparison.from_file": "Comparison", "table": "Table",
    "to_dict": "dict[str, Any]", "Comparison.to_dict": "list[dict[str, Any]]",
    "to_numpy": "dict[str, Any]", "to_parquet": "bytes | None", "to_pandas": "Any",
    "to_polars": "Any", "to_arrow": "Any", "report": "None", "save": "None", "Swept.result": "Result",
    "_repr_html_": "str",
}
SPECIAL = {
    "Table": ["def __getitem__(self, name: str) -> Any: ...", "def __iter__(self) -> Iterator[str]: ...",
              "def __len__(self) -> int: ...", "shape: tuple[int, int]", "columns: list[str]"],
    "Comparison": ["def __getitem__(self, which: Any) -> Any: ...", "def __len__(self) -> int: ...",
                   "schemes: list[str]"],
    "Result": [], "Experiment": [], "Inspection": ["def __getattr__(self, name: str) -> Any: ..."],
    "Workload": ["path: str", "requests: int", "has_times: bool"],
    "Swept": ["folder: str", "made: int | None", "kept: int | None", "done: int | None",
              "failed: list[tuple[str, str]] | None", "refused: list[tuple[str, str]] | None",
              "missing: int | None"],
}


def quoted(words, blanks):
    """Words as a docstring."""
    lines = inspect.cleandoc(words).replace("\\", "\\\\").splitlines()
    text = ("\n").join([lines[0], *(f"{blanks}{line}" if line else "" for line in lines[1:])])
    return f'{blanks}"""{text}"""'


def options():
    """Name, type and words of every option."""
    told = {name: (value, about) for of in ("run", "compare") for name, value, about in _ftlab.options(of)}
    for option in _ftlab.EXPERIMENT:
        value, about = told[option]
        kind = "_Value | Mapping[str, _Value]" if option == "set" else "_Value"
        yield option.replace("-", "_"), kind, about if value else f"{about} (a flag)"


def parameters(function, with_options, own):
    """The parameters of a function; `**options` by name, keys of the configuration behind them."""
    signature = inspect.signature(function)
    told, has_star = [], False
    for one in signature.parameters.values():
        if one.name in ("self", "cls"):
            told.append(one.name)
            continue
        if one.kind is one.VAR_KEYWORD:
            stated = set(signature.parameters) | {"schemes"}
            for name, kind, _ in with_options:
                if name not in stated:
                    if not has_star:
                        told.append("*")
                        has_star = True
                    told.append(f"{name}: {kind} | None = ...")
            told.append("**settings: _Value" if own != "inspect" else f"**{one.name}: Any")
            continue
        if one.kind is one.KEYWORD_ONLY and not has_star:
            told.append("*")
            has_star = True
        default = " = ..." if one.default is not one.empty else ""
        told.append(f"{one.name}: {TYPES[one.name]}{default}")
    return ", ".join(told)


def function(name, made, owner="", blanks="", decorator=""):
    """The stub of a function."""
    path = f"{owner}.{name}" if owner else name
    takes = list(options()) if name in ("run", "compare", "plan", "replace", "__init__") else []
    returns = "None" if name == "__init__" else RETURNS.get(path, RETURNS.get(name, "str"))
    head = f"{blanks}{decorator}def {name}({parameters(made, takes, name)}) -> {returns}:"
    words = inspect.getdoc(made) if name != "__init__" else None
    return f"{head}\n{quoted(words, blanks + '    ')}\n" if words else f"{head} ...\n"


def methods(of):
    """The public methods that a class itself has."""
    told = [f"    {line}\n" for line in SPECIAL[of.__name__]]
    for name, made in vars(of).items():
        if name.startswith("_") and name not in ("__init__", "_repr_html_"):
            continue
        if name == "__init__" and of.__name__ in ("Table", "Result", "Comparison", "Inspection", "Swept"):
            continue
        if isinstance(made, classmethod):
            told.append(function(name, made.__func__, of.__name__, "    ", "@classmethod\n    "))
        elif inspect.isfunction(made):
            told.append(function(name, made, of.__name__, "    "))
    return told


def type_of(of):
    """The type of a field."""
    target, way = _schema.reference(of)
    if target:
        target = f"_{target}"
        return {"": target, "?": f"{target} | None", "[]": f"list[{target}]",
                "{}": f"dict[str, {target}]"}[way]
    kinds = of.get("type", "object")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
    told = []
    for kind in kinds:
        if kind == "array":
            told.append(f"list[{type_of(of.get('items', {}))}]")
        elif kind == "object":
            inner = of.get("additionalProperties")
            told.append(f"dict[str, {type_of(inner) if isinstance(inner, dict) else 'Any'}]")
        else:
            told.append(plain[kind])
    return "Any" if told == ["dict[str, Any]"] and not of.get("description") else " | ".join(told)


def records():
    """A class per type of results."""
    yield "class _Record(Mapping[str, Any]):\n"
    yield "    def __getitem__(self, name: str | float) -> Any: ...\n"
    yield "    def __iter__(self) -> Iterator[str]: ...\n    def __len__(self) -> int: ...\n"
    yield "    def to_dict(self) -> dict[str, Any]: ...\n\n"
    for name, of in _schema.schema()["$defs"].items():
        yield f"class _{name}(_Record):\n"
        if of.get("description"):
            yield quoted(of["description"], "    ") + "\n"
        fields = of["properties"]
        for field, about in fields.items():
            if field.isidentifier():
                yield f"    @property\n    def {_schema.attribute(field)}(self) -> {type_of(about)}:\n"
                yield quoted(about["description"], "        ") + "\n"
        if not any(map(str.isidentifier, fields)):
            yield "    ...\n"
        yield "\n"


def package():
    """The stub of the package."""
    parts = [HEAD, *records()]
    for name in ("UsageError", "RunError"):
        of = getattr(ftlab, name)
        parts.append(f"class {name}({of.__bases__[0].__name__}):\n{quoted(of.__doc__, '    ')}\n\n")
    bases = {
        _tables.Table: "Mapping[str, Any]", _workload.Workload: None, _results.Result: "_RunResult",
        _results.Comparison: "Sequence[Result]", _results.Inspection: "_Record", ftlab.Experiment: None,
    }
    for of, base in bases.items():
        parts.append(f"class {of.__name__}({base}):\n" if base else f"class {of.__name__}:\n")
        parts.append(quoted(of.__doc__, "    ") + "\n")
        if of is ftlab.Experiment:
            for name, kind, about in options():
                parts.append(f"    {name}: {kind} | None\n{quoted(about + '.', '    ')}\n")
        parts += [*methods(of), "\n"]
    for name in ("run", "compare", "inspect"):
        parts.append(function(name, getattr(ftlab, name)) + "\n")
    for name in ftlab._PLACES["_lists"]:
        made = getattr(_lists, name)
        parts.append(f"def {name}() -> list[dict[str, Any]]:\n{quoted(made.__doc__, '    ')}\n\n")
    called = parameters(sweeping.run, list(options()), "run")
    parts.append("from .sweep import Swept as _Swept\n\nclass _Sweep(ModuleType):\n")
    parts.append(f"    def __call__(self, {called}) -> _Swept: ...\n")
    for name in ("run", "plan", "merge"):
        takes = list(options()) if name != "merge" else []
        returns = "dict[str, Any]" if name == "plan" else "_Swept"
        inner = parameters(getattr(sweeping, name), takes, name)
        parts.append(f"    def {name}(self, {inner}) -> {returns}: ...\n")
    parts.append("    Swept: type[_Swept]\n\nsweep: _Sweep\n")
    return "".join(parts)


def sweeps():
    """The stub of the package of sweeps."""
    parts = [HEAD.replace("__version__: str\n", "from .. import Result, Table\n"), "\n"]
    for name in ("run", "plan", "merge"):
        made = function(name, getattr(sweeping, name))
        returns = "dict[str, Any]" if name == "plan" else "Swept"
        old = RETURNS.get(name, "str")
        parts.append(made.replace(f") -> {old}:", f") -> {returns}:", 1) + "\n")
    parts.append(f"class Swept:\n{quoted(sweeping.Swept.__doc__, '    ')}\n")
    parts += methods(sweeping.Swept)
    return "".join(parts)


def stubs():
    """Text by the name of the file."""
    return {"__init__.pyi": package(), "sweep/__init__.pyi": sweeps()}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: stubs.py FOLDER")
    for name, text in stubs().items():
        pathlib.Path(sys.argv[1], name).write_text(text, encoding="utf-8")
