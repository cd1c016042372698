# Many processes, many jobs, much input.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build dies spawner
rounds=100
[ "$slow" -eq 1 ] || rounds=10

# -- F6.16, F6.17: 64 processes ------------------------------------------------

all_true() {
  local i
  for ((i = 0; i < rounds; ++i)); do
    job -n 64 /bin/true || { echo "round $i: status $?"; return 1; }
  done
}
check "F6.16" "64 processes of /bin/true, again and again" all_true

all_fail() {
  local i
  for ((i = 0; i < rounds / 10; ++i)); do
    status 9 job -n 64 --rtos recoverable sh -c \
      'exit $((PMIX_RANK == 63 ? 9 : PMIX_RANK % 9))' 2>/dev/null || return 1
  done
}
check "F6.16" "64 different exit statuses: the worst is found" all_fail

all_print() {
  local i text
  for ((i = 0; i < rounds; ++i)); do
    text=$(job -n 64 printf x) || { echo "round $i: status $?"; return 1; }
    [ "${#text}" -eq 64 ] || { echo "round $i: ${#text} bytes"; return 1; }
  done
}
check "F6.17" "64 processes that print without a newline, again and again" \
  all_print

labelled() {
  local i
  for ((i = 0; i < rounds / 10; ++i)); do
    job -n 64 --label printf x | sort -n >lines || return 1
    seq 0 63 | sed 's/$/: x/' | cmp lines - || return 1
  done
}
check "F6.17" "also with labels: every rank has its line" labelled

much_output() {
  local bytes
  bytes=$(job -n 4 sh -c 'head -c 5000000 /dev/zero; printf end' | wc -c)
  echo "$bytes bytes"
  [ "$bytes" -eq 20000012 ]
}
check "F6.17" "20 MB of output arrive completely" much_output

# -- F6.18: standard input -----------------------------------------------------

head -c 20000000 /dev/urandom >input
sum=$(sha256sum <input)
check_equal "F6.18" "20 MB from a pipe arrive completely" "$sum" \
  "$(cat input | job -n 1 sha256sum)"
check_equal "F6.18" "20 MB from a file arrive completely" "$sum" \
  "$(job -n 1 sha256sum <input)"
check_equal "F6.18" "20 MB for a reader that is slow to start" "$sum" \
  "$(cat input | job -n 1 sh -c 'sleep 1; exec sha256sum')"
check_equal "F6.18" "for all of 4 processes" "1" \
  "$(cat input | job -n 4 --stdin all sha256sum | sort -u | wc -l)"
check_equal "F6.18" "in and out again" "$sum" \
  "$(cat input | job -n 1 cat | sha256sum)"
rm -f input

# -- F6.15: thousands of jobs --------------------------------------------------

start_trouped
many_jobs() {
  ./spawner "$trouped_uri" "$@"
}
# memory_of PID: what of it are pages of its own, in KiB, and what pages of files.
memory_of() {
  sed -n 's/^Rss\(Anon\|File\):[[:space:]]*\([0-9]*\) kB/\1 \2 KiB/p' \
    "/proc/$1/status" | paste -sd' '
}
plain=960
[ "$slow" -eq 1 ] || plain=200
# jobs_of WHICH: plain ones and such that use PMIx.
jobs_of() {
  check "F6.15" "the jobs of the $1 thousand" many_jobs "$plain" 2 /bin/true
  sed 's/^/     /' "$TROUPE_WORK/output"
  check "F6.15" "and those of them that use PMIx" \
    many_jobs 40 2 "$PWD/dies" nobody
  sed 's/^/     /' "$TROUPE_WORK/output"
  echo "     memory: $(memory_of "$trouped_pid")"
}
# The first thousand finds what a daemon takes once: pages of its program that it
# had not run before, threads, files of the system.
jobs_of first
memory=$(rss "$trouped_pid")
# The last tool's connection may not be closed yet.
settled() {
  open=$(descriptors "$trouped_pid")
  sleep 0.2
  [ "$(descriptors "$trouped_pid")" -eq "$open" ]
}
eventually 5 settled
jobs_of second
echo "     memory $memory KiB, then $(rss "$trouped_pid") KiB;" \
  "descriptors $open, then $(descriptors "$trouped_pid")"
# AddressSanitizer keeps what is freed for a while.
check "F6.15" "memory is flat" \
  test "$(($(rss "$trouped_pid") - memory))" -lt $((slow == 1 ? 1024 : 65536))
check "F6.15" "descriptors are where they were" \
  eventually 5 sh -c "test \$(ls /proc/$trouped_pid/fd | wc -l) -eq $open"
check "F6.15 F4.12" "the daemon ends in order" stop_trouped

clean "F5.20 F6.15" "nothing is left"
finish
