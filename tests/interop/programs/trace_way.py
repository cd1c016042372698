"""Looks at what `troupe trace ID --json` prints, on standard input.

usage: trace_way.py fence RANKS NODE...    a fence of so many processes on these
                                           nodes, the first of which decides
       trace_way.py event NODE...          an event in the order of a namespace on
                                           these nodes, the first of which gives
                                           places; all on one machine or with
                                           clocks that agree
Says what is missing or out of order and exits with 1.
"""

import json
import sys


def main():
    kind, args = sys.argv[1], sys.argv[2:]
    answer = json.load(sys.stdin)
    steps = answer["steps"]
    troubles = []

    def expect(holds, what):
        if not holds:
            troubles.append(what)

    def times(step, **how):
        return [x["at"] for x in steps if x["step"] == step
                and all(x.get(key) == value for key, value in how.items())]

    def before(one, other, what):
        expect(one and other and max(one) <= min(other), what)

    expect([x["at"] for x in steps] == sorted(x["at"] for x in steps),
           "steps are not in the order of their times")
    expect(all(x["text"] and x["host"] for x in steps), "a step without words")
    if kind == "fence":
        ranks, nodes = int(args[0]), [int(x) for x in args[1:]]
        callers = sorted(int(x["proc"].rsplit(":", 1)[1]) for x in steps
                         if x["step"] == "called")
        expect(callers == list(range(ranks)), f"called by {callers}")
        for node in nodes:
            mine = {"where": node}
            expect(len(times("gathered", **mine)) == 1, f"{node} has not gathered")
            before(times("called", **mine), times("gathered", **mine),
                   f"{node} gathers before all have called")
            expect(len(times("answered", **mine, status="success")) == 1,
                   f"{node} has not answered")
        first = nodes[0]
        for node in nodes[1:]:
            sent = times("part_sent", where=node)
            told = times("outcome_received", where=node, status="success")
            expect(len(sent) == 1 and len(told) == 1, f"{node}: not sent and told once")
            before(times("gathered", where=node), sent, f"{node} sends too early")
            before(sent, told, f"{node} is told before it has sent")
            before(told, times("answered", where=node), f"{node} answers too early")
        expect(len(times("part_received", where=first)) >= 1 or len(nodes) == 1,
               "nothing has come")
        expect(len(times("outcome_sent")) == len(nodes) - 1, "not all are told")
        before(times("gathered"), times("outcome_sent", where=first) or [2**63],
               "decided before all have gathered")
    else:
        nodes = [int(x) for x in args]
        raised = times("raised")
        expect(len(raised) == 1, f"raised {len(raised)} times")
        places = {x["place"] for x in steps if x["step"] == "placed"}
        expect(len(places) == 1, f"its places are {places}")
        for node in nodes:
            expect(len(times("placed", where=node)) == 1, f"{node} does not have it")
            expect(len(times("logged", where=node)) == 1, f"{node} has not logged it")
            before(raised, times("placed", where=node), f"{node} has it too early")
            before(times("placed", where=node), times("logged", where=node),
                   f"{node} logs it too early")
        expect(times("delivered"), "no process has got it")
        before(times("placed", where=nodes[0]), times("delivered"),
               "delivered before it has a place")
        expect(len(times("stable", status="success")) == 1, "it is not stable")
        before(times("logged"), times("stable"), "stable before all have it")
    if troubles:
        print(*troubles, sep="\n")
        print(json.dumps(answer, indent=1))
        sys.exit(1)


if __name__ == "__main__":
    main()
