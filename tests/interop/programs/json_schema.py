"""Compares what `--json` printed with docs/json.md.

usage: json_schema.py DOC sections            the names of all sections
       json_schema.py DOC SECTION FILE        FILE holds one object
       json_schema.py DOC SECTION FILE TYPE   lines; those of that type, `any` all
Prints what differs and exits with 1; with 1, too, if there is nothing to compare
or a list that the page describes was never filled.
"""

import json
import re
import sys

KINDS = {
    "string": lambda x: isinstance(x, str),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "number": lambda x: isinstance(x, (int, float)) and not isinstance(x, bool),
    "boolean": lambda x: isinstance(x, bool),
    "object": lambda x: isinstance(x, dict),
    "null": lambda x: x is None,
    "list": lambda x: isinstance(x, list),
    "list of strings": lambda x: isinstance(x, list)
    and all(isinstance(y, str) for y in x),
    "list of integers": lambda x: isinstance(x, list)
    and all(isinstance(y, int) for y in x),
    "any": lambda x: True,
}
ROW = re.compile(r"\| `([^`]+)` \| ([^|]+) \| (always|sometimes) \| .*\|$")


def read(path):
    sections, name = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("#"):
                name = line[4:] if line.startswith("### ") else None
                if name:
                    sections[name] = {}
            elif name and line.startswith("|") and "|---" not in line \
                    and not line.startswith("| field"):
                row = ROW.match(line)
                if not row:
                    sys.exit(f"not a row of a schema: {line}")
                kinds = row[2].strip().split(" or ")
                if not set(kinds) <= set(KINDS):
                    sys.exit(f"unknown type: {line}")
                sections[name][row[1]] = (kinds, row[3])
    return sections


def is_within(key):
    """Whether it is a field of a field; names of attributes have dots, too."""
    return "[]" in key or (
        "." in key and not key.startswith(("troupe.", "pmix.")))


def compare(fields, value, path, troubles, seen):
    """Looks at an object and what is in it; `path` ends in a dot, if it has any."""
    for key, x in value.items():
        where = path + key
        known = fields.get(where) or fields.get(path + "*")
        if known is None:
            troubles.add(f"{where} is not documented: {json.dumps(x)[:80]}")
            continue
        seen.add(where)
        if not any(KINDS[kind](x) for kind in known[0]):
            troubles.add(f"{where} is no {' or '.join(known[0])}: "
                         f"{json.dumps(x)[:80]}")
        if known[0] == ["any"]:
            continue
        if isinstance(x, dict):
            compare(fields, x, where + ".", troubles, seen)
        elif isinstance(x, list):
            for y in x:
                if isinstance(y, dict):
                    compare(fields, y, where + "[].", troubles, seen)
    for name, (_, there) in fields.items():
        key = name[len(path):]
        if there == "always" and name.startswith(path) \
                and not is_within(key) and key not in value:
            troubles.add(f"{name} is missing")


def main():
    sections = read(sys.argv[1])
    if sys.argv[2] == "sections":
        print("\n".join(sections))
        return
    fields = sections[sys.argv[2]]
    with open(sys.argv[3], encoding="utf-8") as file:
        if len(sys.argv) == 4:
            objects = [json.load(file)]
        else:
            objects = [json.loads(line) for line in file if line.strip()]
    if len(sys.argv) > 4 and sys.argv[4] != "any":
        objects = [x for x in objects if x.get("type") == sys.argv[4]]
    troubles, seen = set(), set()
    if not objects:
        troubles.add("there is nothing to compare")
    for x in objects:
        if x.get("schema") != 1:
            troubles.add("its schema is not 1")
        compare(fields, x, "", troubles, seen)
    for name, (_, there) in fields.items():
        if there == "always" and name not in seen:
            troubles.add(f"{name} was never there")
    if troubles:
        print("\n".join(sorted(troubles)))
        sys.exit(1)
    print(f"{len(objects)} objects, {len(seen)} fields")


if __name__ == "__main__":
    main()
