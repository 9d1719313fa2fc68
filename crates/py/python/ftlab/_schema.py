"""Classes with an attribute per field, made from the schema of results that the program prints:
names, words and what a field holds stand there alone."""

import json
import keyword
from collections.abc import Mapping

from . import _ftlab


class Record(Mapping):
    """Fields by name, as attributes and as items. Of a name that is a word of Python the attribute
    ends in `_`."""

    __module__ = "ftlab"
    __slots__ = ("_value",)

    def __init__(self, value):
        self._value = value

    def __getitem__(self, name):
        if isinstance(name, (int, float)):
            # Percentiles: 99 is "99.000000".
            name = f"{name:.6f}"
        return _wrapped(self._value[name])

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            legal = ", ".join(map(str, self))
            raise AttributeError(f"no field '{name}'; legal: {legal}") from None

    def __iter__(self):
        return iter(self._value)

    def __len__(self):
        return len(self._value)

    def __dir__(self):
        return [*super().__dir__(), *(attribute(name) for name in self._value)]

    def to_dict(self):
        """The same as a dict of its own."""
        return json.loads(json.dumps(self._value))

    def __repr__(self):
        def short(value):
            return "{...}" if isinstance(value, dict) else "[...]" if isinstance(value, list) else repr(value)

        fields = ", ".join(f"{name}={short(value)}" for name, value in self._value.items())
        return f"{type(self).__name__}({fields})"

    # Attributes are looked up in the value, which is not there yet while one is unpickled.
    def __reduce__(self):
        return (Record, (self._value,))


def _wrapped(value):
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_wrapped(one) for one in value] if value and isinstance(value[0], dict) else value
    return value


def attribute(name):
    """The name of a field in Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def schema():
    """The schema of results."""
    return json.loads(_ftlab.schema_of_results())


def reference(of):
    """The type that a schema refers to, and how: '' itself, '?' or null, '[]' many, '{}' many by name."""
    if "$ref" in of:
        return of["$ref"].rsplit("/", 1)[1], ""
    for one in of.get("anyOf", []) + of.get("allOf", []):
        if "$ref" in one:
            return reference(one)[0], "?"
    for way, member in (("[]", "items"), ("{}", "additionalProperties")):
        inner = of.get(member)
        if isinstance(inner, dict) and reference(inner)[0]:
            return reference(inner)[0], way
    return None, ""


def _field(name, of, classes):
    target, way = reference(of)

    def get(self):
        value = self._value.get(name)
        made = classes.get(target)
        if made is None or value is None:
            return value
        if way == "[]":
            return [made(one) for one in value]
        if way == "{}":
            return {key: made(one) for key, one in value.items()}
        return made(value)

    return property(get, doc=of.get("description", ""))


def classes():
    """A class per type of the schema, by its name; fields that a result does not have are None."""
    made = {}
    for name, of in schema()["$defs"].items():
        fields = of.get("properties", {})
        body = {
            attribute(field): _field(field, about, made)
            for field, about in fields.items()
            if field.isidentifier()
        }
        body = {"__slots__": (), "__module__": "ftlab", "__doc__": of.get("description", ""), **body}
        made[name] = type(name, (Record,), body)
    return made
