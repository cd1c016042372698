# A server that lies, and our library: every call returns, nothing crashes.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build asks_all
server=$programs/hostile_server.py
lied_to() {
  limit=60 job -n 1 env "LD_LIBRARY_PATH=$TROUPE_LIB" /usr/bin/python3 \
    "$server" "$1" ./asks_all >"$1.txt" 2>"$1.log"
  cat "$1.log" "$1.txt"
  grep -q "^$1: exited $2\$" "$1.txt"
}
check "MND-X50" "a server that does not lie" lied_to none 0
for case in $(/usr/bin/python3 "$server" --cases | grep -v '^none$'); do
  check "MND-X50" "a server that lies: $case" lied_to "$case" '[03]'
done
finish
