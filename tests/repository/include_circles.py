"""Prints an include of each arrow between two folders that is part of a circle:
nothing, as a rule.

The page of a folder that includes the pages in its rooms is no circle.
"""

import collections
import os
import re
import subprocess

PAGES = {"messages/actors.hpp"}
LAYERS = ("messages", "config", "base", "actors", "adapters", "runtime", "c_api", "tools")


def arrows():
    """Folder -> folder -> the first include that draws the arrow."""
    result = collections.defaultdict(dict)
    files = subprocess.check_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *LAYERS], text=True
    ).split()
    for path in files:
        if not path.endswith((".hpp", ".cpp", ".h")) or path in PAGES or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as source:
            for included in re.findall(r'^#include "([^"]+)"', source.read(), re.M):
                if os.path.exists(included):
                    begin, end = os.path.dirname(path), os.path.dirname(included)
                    if begin != end and end:
                        result[begin].setdefault(end, f"{path} includes {included}")
    return result


def reachable(graph, begin):
    seen, waiting = set(), [begin]
    while waiting:
        for folder in graph.get(waiting.pop(), ()):
            if folder not in seen:
                seen.add(folder)
                waiting.append(folder)
    return seen


graph = arrows()
if len(graph) < 10:
    print("hardly any include was found")
for folder in sorted(graph):
    for other in sorted(graph[folder]):
        if folder in reachable(graph, other):
            print(graph[folder][other])
