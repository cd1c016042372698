# What calls do of their attributes: the table of base/directives.def against the
# running product. Each attribute is given as a required one; `done` is acted upon,
# all else is refused with PMIX_ERR_NOT_SUPPORTED.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build contract
whose=theirs
[ -z "${TROUPE_LIBRARY_IDENTIFIER:-}" ] || whose=ours

# The table, read by other means than the product reads it: of rows, `call name
# key type how test`; of functions, `call function part`.
python3 - "$TROUPE_SOURCE" <<'PROGRAM'
import re, sys
source = sys.argv[1]
def read(name):
    lines = open(source + "/" + name).read().splitlines()
    return "\n".join(x for x in lines if not x.lstrip().startswith(("//", "#")))
known = {x[0]: x[1:] for x in re.findall(
    r'TROUPE_ATTRIBUTE\((\w+), "(\w+)", "([^"]+)", (\w+)\)',
    read("messages/attributes.def"))}
table = read("base/directives.def")
rows = re.findall(r'TROUPE_DIRECTIVE\((\w+), (\w+), (\w+),\s*"([^"]+)"\)', table)
keys = re.findall(r'TROUPE_QUERY_KEY\((\w+), (\w+),\s*"([^"]+)"\)', table)
calls = re.findall(r'TROUPE_CALL\((\w+), (\w+), (\w+)\)', table)
assert len(rows) == table.count("TROUPE_DIRECTIVE(") and len(rows) > 300
assert len(keys) == table.count("TROUPE_QUERY_KEY(") and len(keys) > 20
with open("rows", "w") as out:
    for call, attribute, how, test in rows:
        print(call, *known[attribute], how, test, file=out)
    # What nobody knows. An event carries it; Debian's headers lack two calls;
    # of a spawn, and of what a server is called for, others show it.
    for call, _, part in calls:
        if call not in ("notify_event", "resource_block", "session_control",
                        "spawn") and part != "host" and any(x[0] == call for x in rows):
            print(call, "NOBODYS", "pmix.nobodys", "bool_", "unknown", "-", file=out)
done = [(call, known[x][0]) for call, x, how, _ in rows if how == "done"]
done += [("query_info", known[x][0]) for x, how, _ in keys if how == "done"]
with open("keys", "w") as out:
    for attribute, how, test in keys:
        print(*known[attribute][:2], how, test, file=out)
# What a server is asked for, and with it what its host calls.
with open("done", "w") as asked, open("served", "w") as served:
    for call, function, part in calls:
        for name in sorted(x for c, x in done if c == call):
            if part == "server":
                print(function, name, file=asked)
            if part in ("server", "host"):
                print(function, name, file=served)
PROGRAM
check "F4.42" "the table can be read" test -s done
check_equal "F4.42" "the tests that it names are there" "" \
  "$(cut -d ' ' -f 6 rows | sort -u | while read -r file; do
    [ "$file" = - ] || [ -e "$TROUPE_SOURCE/tests/$file" ] || echo "$file"
  done)"
cut -d ' ' -f 1-5 rows >walk

# -- F4.41: what is required ---------------------------------------------------

limit=120 check "F4.41 F4.42" "each row of the table is what its call does" \
  bash -c "$(declare -f job within); limit=120 slow=$slow
    job -n 2 ./contract walk walk $whose >walked"
check "F4.41" "most rows have been walked" \
  test "$(grep -c . walked)" -gt 200
if [ $whose = ours ]; then
  # Rows that name this test, and no others, are exercised.
  check_equal "F4.42" "the rows that name this test are those that it walks" \
    "$(awk '$6 == "interop/contract.sh" || $6 == "-" { print $1, $2 }' rows \
      | sort)" \
    "$(sort walked)"
  check "F4.41" "a library declares its programming model" \
    job -n 1 ./contract model
fi

# -- F4.41: what can be asked for ------------------------------------------------

check_equal "F4.42" "rows of keys name this test" "interop/contract.sh" \
  "$(cut -d " " -f 4 keys | sort -u)"
if [ $whose = ours ]; then
  # What only hosts of others know is not answered.
  check_equal "F4.41 F4.42" "keys of queries are answered as the table says" \
    "$(awk '$3 == "done" { print $1 }' keys | sort)" \
    "$(job -n 2 --pset contract ./contract keys keys | sort)"
fi

# -- F4.42: what is told of it -------------------------------------------------

check_equal "F4.42" "a query tells what the server acts upon" \
  "$(sort served)" \
  "$(job -n 1 ./contract support pmix.srvr.attrs all | sort)"
check_equal "F4.42" "and of one function" \
  "$(grep '^PMIx_Get ' done | sort)" \
  "$(job -n 1 ./contract support pmix.srvr.attrs PMIx_Get | sort)"
check_equal "F4.42" "what the host acts upon is the same" \
  "$(sort done)" \
  "$(job -n 1 ./contract support pmix.host.attrs all | sort)"

if [ $whose = theirs ] && command -v pattrs >/dev/null; then
  start_trouped --system-server
  # asks FUNCTION: what pattrs prints of a function; of all, Debian's prints the
  # names and the first attribute of each.
  asks() {
    within $((15 * slow)) pattrs --pid "$trouped_pid" --host "$1" 2>&1 </dev/null
  }
  check_equal "F4.42 F6.10" "pattrs prints all functions" \
    "$(cut -d ' ' -f 1 done | sort -u)" \
    "$(asks all | sed -n 's/^\(PMIx_[A-Za-z_]*\):.*/\1/p' | sort -u)"
  check_equal "F4.42 F6.10" "pattrs prints what each acts upon" \
    "$(sort done)" \
    "$(cut -d ' ' -f 1 done | sort -u | while read -r function; do
      asks "$function" | grep -o '^PMIX_[A-Z0-9_]*' | sed "s/^/$function /"
    done | sort)"
  check "F4.42" "the daemon ends" status 0 stop_trouped
fi

finish
