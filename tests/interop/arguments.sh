# Every function of our libpmix without each of its arguments in turn, and with
# any number for each enumeration.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "MND-A8" "every function without each of its arguments" \
    "Python cannot load a library that a sanitizer has built"
  finish
fi

# walk MODE [PREFIX]...: all calls of a mode; what they print goes to MODE.out.
walk() {
  within 200 "${@:2}" /usr/bin/python3 "$programs/null_arguments.py" \
    "$TROUPE_LIB/libpmix.so.2" "$TROUPE_SOURCE/c_api/include" "$1" >"$1.out" \
    2>"$1.err" </dev/null
}
# returns MODE: nothing has crashed. A get may wait for a key that nobody puts, a
# tool look for its server.
returns() {
  cat "$1.out" "$1.err"
  grep -qE '^[0-9]{3,} calls$' "$1.out" \
    && ! grep -vE '^[0-9]+ calls$|^PMIx_(Get|tool_init) .* hangs$' "$1.out"
}

# Before init, too, by hand: those that do not refuse that are the same.
walk numbers &
numbers=$!
walk client troupe run -n 1
wait "$numbers"
walk server
check "MND-A8" "in a client" returns client
check "MND-A8" "in a server" returns server
check "MND-A8" "with any number for an enumeration or a type" returns numbers
# None of the servers has been finalized; the next one would remove what is left.
rm -rf "$TMPDIR/troupe-$(id -u)"/*
clean "MND-A8" "nothing is left"
finish
