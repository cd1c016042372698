#!/usr/bin/python3
"""What the headers of a PMIx say: for the tests of this folder.

usage: names.py constants INCLUDE    every constant with its value
       names.py macros INCLUDE       names of all macros that a program may use
       names.py functions INCLUDE    every function with its parameter types
       names.py tables MESSAGES      the constants of our own tables, likewise

INCLUDE is the folder with pmix.h. Lines are sorted. CC is the compiler.
"""

import os
import re
import subprocess
import sys
import tempfile

HEADERS = ("pmix.h", "pmix_server.h", "pmix_tool.h")
ENUMERATORS = """
    PMIX_EQUAL PMIX_VALUE1_GREATER PMIX_VALUE2_GREATER PMIX_VALUE_TYPE_DIFFERENT
    PMIX_VALUE_INCOMPATIBLE_OBJECTS PMIX_VALUE_COMPARISON_NOT_AVAIL
    PMIX_BOOL_TRUE PMIX_BOOL_FALSE PMIX_NON_BOOL PMIX_GROUP_DECLINE
    PMIX_GROUP_ACCEPT PMIX_GROUP_CONSTRUCT PMIX_GROUP_DESTRUCT
    PMIX_FABRIC_REQUEST_INFO PMIX_FABRIC_UPDATE_INFO""".split()
# Guards, and what is not a value.
NO_CONSTANT = re.compile(r"\w+_H|PMIX_EXPORT|PMIX_HAVE_VISIBILITY|\w+_STATIC_INIT"
                         r"|PMIX_VERSION_(MAJOR|MINOR|RELEASE)|PMIX_NUMERIC_VERSION")
# Prints a name and its value, be it a text or a number.
PROGRAM = """#include <inttypes.h>
static void text(const char* name, const char* x) {
  printf("%s \\"%s\\"\\n", name, x);
}
static void number(const char* name, intmax_t x) {
  printf("%s %" PRIdMAX "\\n", name, x);
}
#define SHOW(x) _Generic((x), char*: text, default: number)(#x, x)
int main(void) {
"""


def compiler(arguments, source):
    command = [os.environ.get("CC", "cc"), "-std=gnu11", *arguments]
    result = subprocess.run(command, input=source, text=True,
                            stdout=subprocess.PIPE, check=True)
    return result.stdout


def includes(include):
    assert os.path.exists(os.path.join(include, "pmix.h")), include
    return "".join(f"#include <{name}>\n" for name in HEADERS)


def macros(include):
    """Returns {name: parameters or None} of PMIX_* and PMIx_*."""
    text = compiler(["-E", "-dM", "-I", include, "-"], includes(include))
    found = re.findall(r"^#define (PMI[Xx]_\w+)(\([^)]*\))?", text, re.M)
    return {name: parameters or None for name, parameters in found}


def constants(include):
    names = [name for name, parameters in macros(include).items()
             if not parameters and name.startswith("PMIX_")
             and not NO_CONSTANT.fullmatch(name)]
    # What is no expression (an alias of a function, an attribute) is left out.
    body = "".join(f"  SHOW({name});\n" for name in names + ENUMERATORS)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "show")
        compiler(["-o", program, "-I", include, "-x", "c", "-"],
                 includes(include) + PROGRAM + body + "}\n")
        return subprocess.run([program], stdout=subprocess.PIPE, text=True,
                              check=True).stdout.splitlines()


def functions(include):
    with tempfile.TemporaryDirectory() as folder:
        listing = os.path.join(folder, "listing")
        compiler(["-DPMIX_PLAIN_SERVER_INIT", "-fsyntax-only", "-I", include,
                  "-aux-info", listing, "-x", "c", "-"], includes(include))
        with open(listing, encoding="utf-8") as lines:
            text = lines.read()
    return re.findall(r"^/\* .*? \*/ (extern .*\bPMIx_\w+ \(.*\);)", text, re.M)


def tables(messages):
    lines = []
    for name, pattern in (
            ("status.def", r'^TROUPE_STATUS\(\w+, (-?\d+), "(PMIX_\w+)"\)'),
            ("attributes.def", r'^TROUPE_ATTRIBUTE\(\w+, "(PMIX_\w+)", ("[^"]*"),')):
        with open(os.path.join(messages, name), encoding="utf-8") as table:
            for one, two in re.findall(pattern, table.read(), re.M):
                lines.append(f"{one} {two}" if one.startswith("P") else f"{two} {one}")
    return lines


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("constants", "macros",
                                                 "functions", "tables"):
        sys.exit(__doc__)
    lines = globals()[sys.argv[1]](sys.argv[2])
    assert lines, "nothing found"
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
