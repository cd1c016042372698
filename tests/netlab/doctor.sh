# `troupe doctor` over nodes whose networks fail, and that lack something.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"

need_lab "OPS-D2 OPS-D4 OPS-D5"
lab 3 2

# findings: a line `NODE LEVEL CHECK TEXT` for each finding on n1 to n3.
findings() {
  within "$((60 * slow))" "$netlab" exec n1 "$TROUPE_BIN/troupe" doctor --json \
    --host 'n[1-3]' --remote-shell "$netlab exec" >"$TROUPE_WORK/said" </dev/null
  /usr/bin/python3 -c '
import json, sys
for node in json.load(open(sys.argv[1]))["nodes"]:
    for x in node["findings"]:
        print(node["name"], x["level"], x["check"], x["text"])' "$TROUPE_WORK/said"
}
of() { grep -E "$1" <<<"$found"; }
# of_check NAME: those of one check.
of_check() { of "^n[0-9]+ [a-z]+ $1 "; }

found=$(findings)
check_equal "OPS-D2" "all nodes answer" "n1 n2 n3" "$(/usr/bin/python3 -c '
import json, sys
print(*(x["name"] for x in json.load(open(sys.argv[1]))["nodes"] if x["answered"]))' \
  "$TROUPE_WORK/said")"
check_equal "OPS-D5" "they reach each other" "" "$(of_check ports)"
check_equal "OPS-D5" "they know each other by name" "" "$(of_check name)"
check_equal "OPS-D4" "they have room in /dev/shm" "" "$(of ' error shared-memory ')"

"$netlab" silence n2 1
found=$(findings)
check_equal "OPS-D5" "one of two networks is enough" "" "$(of_check ports)"
"$netlab" silence n2 2
found=$(findings)
check_match "OPS-D5" "a node behind networks that are silent does not reach this one" \
  '^n2 error ports it reaches no address of this node \(.*10\.201\.0\.1: ' "$found"
check_match "OPS-D5" "nor is it reached" \
  '^n2 warning ports this node reaches none of its addresses' "$found"
check_equal "OPS-D5" "the other one is well" "" "$(of '^n3 .* ports ')"
"$netlab" heal n2 all
found=$(findings)
check_equal "OPS-D5" "it is found well again" "" "$(of_check ports)"

on n3 mount -t tmpfs -o size=1m tmpfs /dev/shm
found=$(findings)
check_match "OPS-D4" "a node with a small /dev/shm" \
  '^n3 warning shared-memory /dev/shm has [01] MiB free' "$found"
check_equal "OPS-D4" "is the only one" "" "$(of '^n2 .* shared-memory ')"
on n3 mount -o remount,ro /dev/shm
found=$(findings)
check_match "OPS-D4" "and one that cannot be written" \
  '^n3 error shared-memory /dev/shm: Read-only file system' "$found"
on n3 umount /dev/shm

end_lab
clean "OPS-D2" "nothing is left"
finish
