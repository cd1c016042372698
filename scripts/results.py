#!/usr/bin/python3
"""What the tests wrote down, for scripts/test and scripts/requirements.

Each suite leaves SUITE.tsv (suite, test, pass|fail|skip; the last line of a
test counts), and ctest leaves ctest.xml. Run as a program, with the folder as
argument, this prints failed and skipped tests of ctest's last run and the line
`N passed, N failed`. A suite that ended badly without a failed test of its own
(a crash of the runner, a time-out, a vanished suite) counts as one failure.
"""

import os
import sys
import xml.etree.ElementTree as xml


def read_suite(folder, suite):
    """Returns {test: result} of one suite, empty if it left nothing."""
    path = os.path.join(folder, suite + ".tsv")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return {row[1]: row[2] for row in rows if len(row) == 3}


def read_all(folder):
    """Returns {suite: {test: result}} of everything that was ever run."""
    if not os.path.isdir(folder):
        return {}
    names = sorted(name for name in os.listdir(folder) if name.endswith(".tsv"))
    return {name[:-4]: read_suite(folder, name[:-4]) for name in names}


def read_last_run(folder):
    """Returns [(suite, pass|fail|skip)] of ctest's last run, None if it has
    left no record."""
    path = os.path.join(folder, "ctest.xml")
    if not os.path.exists(path):
        return None
    return [(case.get("name"), outcome_of(case))
            for case in xml.parse(path).iter("testcase")]


def outcome_of(case):
    """A test that ctest could not start (no such program) is not a skip."""
    if case.get("status") == "run":
        return "pass"
    skipped = case.find("skipped")
    by_choice = skipped is not None and "SKIP_" in skipped.get("message", "")
    return "skip" if by_choice else "fail"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: results.py FOLDER")
    folder = sys.argv[1]
    last_run = read_last_run(folder)
    if not last_run:
        print("FAIL no tests were run")
        print("0 passed, 1 failed")
        return 1
    passed, failed, skipped = 0, [], []
    for suite, outcome in last_run:
        tests = read_suite(folder, suite)
        passed += sum(result == "pass" for result in tests.values())
        failed += [f"{suite}/{name}" for name, result in tests.items()
                   if result == "fail"]
        skipped += [f"{suite}/{name}" for name, result in tests.items()
                    if result == "skip"]
        if outcome == "fail" and "fail" not in tests.values():
            failed.append(f"{suite} (the suite as a whole)")
        elif outcome == "pass" and not tests:
            passed += 1
        elif outcome == "skip" and not tests:
            skipped.append(suite)
    for name in skipped:
        print(f"skip {name}")
    for name in failed:
        print(f"FAIL {name}")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
