#!/usr/bin/python3
"""Prints a C file that uses every public type and function of headers of PMIx.

usage: abi_uses.py INCLUDE [FUNCTIONS]

INCLUDE is their directory, FUNCTIONS a file with names of functions, a line each
(default: all that the headers declare). Compiled with debugging information, by
these headers or by others, it is what abidiff compares.
"""

import re
import subprocess
import sys

include, lists = sys.argv[1], sys.argv[2:]
headers = "".join(f"#include <{x}.h>\n"
                  for x in ("pmix", "pmix_server", "pmix_tool"))
text = subprocess.run(["cc", "-E", "-P", "-DPMIX_PLAIN_SERVER_INIT",
                       f"-I{include}", "-"], text=True, check=True,
                      input=headers, stdout=subprocess.PIPE).stdout
types = set(re.findall(r"typedef\b[^;{}()]*\b(pmix_\w+)(?:\[\d+\])?;", text))
types |= set(re.findall(r"typedef\b[^;{}]*\(\s*\*\s*(pmix_\w+)\)", text))
types |= set(re.findall(r"}\s*(pmix_\w+)\s*;", text))
if lists:
    functions = open(lists[0], encoding="utf-8").read().split()
else:
    functions = sorted(set(re.findall(r"\b(PMIx_\w+)\s*\(", text)))
print(headers, end="")
for x in sorted(types):
    print(f"{x}* use_{x}({x}* x);\n{x}* use_{x}({x}* x) {{ return x; }}")
for x in functions:
    if re.search(rf"\b{x}\s*\(", text):
        print(f"__typeof__(&{x}) use_{x} = &{x};")
