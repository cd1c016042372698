# Memory that is refused: in the library, at each position of its calls, and in the
# launcher, at every few positions of each kind of request, and for messages that are
# too long for what there is. `scarce served 1 1` walks all of those, which takes minutes.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "MND-A10" "memory that is refused" "sanitizers have a malloc of their own"
  finish
fi

export LD_LIBRARY_PATH=$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
build scarce
"${TROUPE_CC:-cc}" -std=gnu11 -O1 -Wall -shared -fPIC \
  -o failing_malloc.so "$programs/failing_malloc.c" \
  || { failed "" "compiling failing_malloc.c"; finish; }
ulimit -c 0
limit=60
export FAILING_MALLOC=$TROUPE_WORK/told

# forget: nothing has been found yet, and nothing fails.
forget() {
  rm -f "$FAILING_MALLOC"
  truncate -s 4096 "$FAILING_MALLOC"
}

# What a client loads when it needs it, here before it begins: what the loader allocates
# for it is not ours to refuse, since it ends the process (docs/decisions/0017).
late=$(ldd "$TROUPE_LIB/libtroupe_server.so" \
  | awk '/libcaf_core|libevent_(core|pthreads)/ { print $3 }' | xargs)
# The same of the launcher (tools/late_libraries.cpp).
late_there=$(ldd "$TROUPE_LIB/libtroupe_server.so" \
  | awk '/lib(hwloc|munge|sqlite3|z)\.so/ { print $3 }' | xargs)

# of_library STRIDE COUNT: in processes of a job.
of_library() {
  forget
  job -n 1 env LD_PRELOAD="$PWD/failing_malloc.so $late" ./scarce walk "$@"
}

# of_server STRIDE COUNT: in the launcher, which must not end before its job.
of_server() {
  forget
  LD_PRELOAD="$PWD/failing_malloc.so $late_there" job -n 2 ./scarce served "$@" \
    >/dev/null || return 1
  ./scarce report
}

check "MND-A10" "calls of the library, one allocation refused" of_library 1 1
check "MND-A10" "requests in the launcher, one allocation refused" of_server 13 1
forget
check "MND-A10" "values that the launcher has no memory for" \
  job -n 2 ./scarce limited
rm -f "$FAILING_MALLOC"
clean "MND-A10" "nothing is left"
finish
