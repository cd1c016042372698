#!/usr/bin/python3
"""Compares what processes heard: same_order.py EACH [--lost RANK,...] FILE...

A file holds a line `CODE SOURCE NUMBER` for each event, in the order of arrival,
of all sources but its own process. Passes if each heard everything (EACH events
of every other source), once, each source in order, and if no two of them heard
any two events in different orders. Of a rank that was lost on the way a part is
enough, from its first event on, and all have to have the same part.
"""

import itertools
import sys


def main():
    each = int(sys.argv[1])
    names = sys.argv[2:]
    lost = set()
    if names[0] == "--lost":
        lost = set(names[1].split(","))
        names = names[2:]
    lists = []
    for name in names:
        with open(name, encoding="ascii") as file:
            lists.append([tuple(line.split()) for line in file])
    failures = 0

    def complain(text):
        nonlocal failures
        failures += 1
        print(text)

    for name, events in zip(names, lists):
        if len(set(events)) != len(events):
            complain(f"{name}: {len(events) - len(set(events))} events twice")
        by_source = {}
        for _, source, number in events:
            by_source.setdefault(source, []).append(int(number))
        others = len(set(by_source) - lost)
        if others != len(lists) - 1:
            complain(f"{name}: {others} sources, not {len(lists) - 1}")
        for source, numbers in by_source.items():
            wanted = len(numbers) if source in lost else each
            if numbers != list(range(wanted)):
                complain(f"{name}: source {source} is not complete and in order:"
                         f" {len(numbers)} events")
    for source in lost:
        parts = {sum(event[1] == source for event in events) for events in lists}
        if len(parts) != 1:
            complain(f"of source {source} they heard {sorted(parts)} events")
    compared = 0
    for (a, x), (b, y) in itertools.combinations(zip(names, lists), 2):
        common = set(x) & set(y)
        first = [event for event in x if event in common]
        second = [event for event in y if event in common]
        compared += len(first)
        for i, (p, q) in enumerate(zip(first, second)):
            if p != q:
                complain(f"{a} and {b} differ from event {i} on: {p}, {q}")
                break
    print(f"{len(lists)} receivers, {compared} events compared,"
          f" {failures} differences")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
