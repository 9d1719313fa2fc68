"""Fields of results and columns of rows, from their schemas."""

from tables import cell, table


def fields(schema):
    """A section per type: the whole first, then the others in the order in which they are met."""
    types = schema["$defs"]
    order = ["RunResult"]
    for name in order:
        for of in types[name]["properties"].values():
            for met in references(of):
                if met not in order:
                    order.append(met)
    missing = set(types) - set(order)
    assert not missing, f"types that no field has: {missing}"
    return "\n\n".join(section(name, types) for name in order)


def references(of):
    """Names of the types within a schema."""
    if isinstance(of, dict):
        if "$ref" in of:
            yield of["$ref"].rsplit("/", 1)[1]
        for value in of.values():
            yield from references(value)
    elif isinstance(of, list):
        for value in of:
            yield from references(value)


def section(name, types):
    of = types[name]
    required = set(of.get("required", []))
    rows = []
    for field, about in of["properties"].items():
        text = cell(about["description"])
        if field not in required:
            text += " *Not always there.*"
        if field == "config":
            text += " Every key: [settings](settings.md), and those of each scheme on its page."
        rows.append([f"`{field}`", kind(about), text])
    about = cell(of.get("description", ""))
    return f"## {title(name)}\n\n{about}\n\n" + table(["field", "type", "meaning"], rows)


# What a type is called that stands for several, by what its values are.
VALUES = {"Nullable_double": "ratios", "uint64": "counts", "Array_of_Tuple_of_uint64_and_double": "points",
          "LatencyParts": "latencies", "LatencySummary": "summaries", "WindowLatency": "windows", "double": "means"}


def title(name):
    """The heading of a type: `ByCause of counts`."""
    whole, _, values = name.partition("_of_")
    return f"{whole} of {VALUES[values]}" if values else name


def kind(of):
    """A type in words, with a link where it has a section."""
    if "$ref" in of:
        name = of["$ref"].rsplit("/", 1)[1]
        return f"[{title(name)}](#{title(name).lower().replace(' ', '-')})"
    if "anyOf" in of:
        return " or ".join(kind(one) for one in of["anyOf"])
    kinds = of.get("type", "value")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "array" in kinds:
        inner = of.get("items") or {}
        if "prefixItems" in of:
            return "[" + ", ".join(kind(one) for one in of["prefixItems"]) + "]"
        return f"list of {kind(inner)}"
    if kinds == ["object"] and isinstance(of.get("additionalProperties"), dict):
        return f"by name: {kind(of['additionalProperties'])}"
    return " or ".join(kinds)


def columns(schema):
    rows = [
        [f"`{name}`", kind(about), cell(about["description"])]
        for name, about in schema["properties"].items()
    ]
    return table(["column", "type", "meaning"], rows)
