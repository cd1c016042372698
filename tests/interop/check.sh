# To be sourced by the scripts of this folder:
#
#   . "$TROUPE_SOURCE/tests/interop/check.sh"
#   check "F6.1" "hello on 4 processes" within 20 troupe run -n 4 ./hello
#   check "F5.9" "a missing program gives 127" status 127 troupe run ./nothing
#   check_equal "F5.5" "the label" "[0]: x" "$(troupe run -l printf x)"
#   skip "F6.8" "python client" "python3-pmix is not installed"
#   finish
#
# See tests/interop/run for what the lines mean and what is in the environment.

set -u

checks_passed=0
checks_failed=0
checks_finished=no
: "${TROUPE_WORK:=$(mktemp -d)}"

# check IDENTIFIERS DESCRIPTION COMMAND...: passes if COMMAND does; its output
# is in $TROUPE_WORK/output and is shown if it fails.
check() {
  local ids=$1 description=$2 outcome=0
  shift 2
  "$@" >"$TROUPE_WORK/output" 2>&1 </dev/null || outcome=$?
  if [ "$outcome" -eq 0 ]; then
    passed "$ids" "$description"
  else
    failed "$ids" "$description"
    echo "     status $outcome of: $*"
    tail -n 40 "$TROUPE_WORK/output" | sed 's/^/     | /'
  fi
  return 0
}

# check_equal IDENTIFIERS DESCRIPTION EXPECTED ACTUAL: compares two texts.
check_equal() {
  if [ "$3" = "$4" ]; then
    passed "$1" "$2"
  else
    failed "$1" "$2"
    printf '%s\n' "$3" | sed 's/^/     expected | /'
    printf '%s\n' "$4" | sed 's/^/     actual   | /'
  fi
}

# check_match IDENTIFIERS DESCRIPTION REGEX TEXT: looks for an extended regular
# expression in a text.
check_match() {
  if grep -Eq -- "$3" <<<"$4"; then
    passed "$1" "$2"
  else
    failed "$1" "$2"
    echo "     expected | $3"
    printf '%s\n' "$4" | tail -n 40 | sed 's/^/     actual   | /'
  fi
}

passed() {
  checks_passed=$((checks_passed + 1))
  echo "ok   ${TROUPE_LIBRARY_IDENTIFIER:-$1} $2"
}

failed() {
  checks_failed=$((checks_failed + 1))
  echo "FAIL ${TROUPE_LIBRARY_IDENTIFIER:-$1} $2"
}

# skip IDENTIFIERS DESCRIPTION REASON: says why something cannot be shown here.
skip() {
  echo "skip ${TROUPE_LIBRARY_IDENTIFIER:-$1} $2 (${3:?a skip needs a reason})"
}

# free_port: a TCP port that nobody uses now, and that the kernel gives to nobody:
# it is bound later.
free_port() {
  /usr/bin/python3 -c '
import random, socket
with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
    first = int(f.read().split()[0])
while True:
    port = random.randrange(max(1024, first - 8000), max(1025, first))
    try:
        with socket.socket() as s:
            s.bind(("", port))
        break
    except OSError:
        pass
print(port)'
}

# within SECONDS COMMAND...: ends COMMAND and what it started when time is up,
# with status 124; TERM first, so that it can still say where it was.
within() {
  local seconds=$1
  shift
  timeout --kill-after=5 "$seconds" "$@"
}

# status N COMMAND...: passes if COMMAND exits with status N.
status() {
  local expected=$1 actual=0
  shift
  "$@" || actual=$?
  [ "$actual" -eq "$expected" ] && return 0
  echo "exit status $actual, expected $expected"
  return 1
}

# compile_pmix SOURCE PROGRAM: builds a C program against the system's libpmix;
# on ours if the test is about that one, which has to be the one it finds.
compile_pmix() {
  # shellcheck disable=SC2046
  "${TROUPE_CC:-cc}" -std=gnu11 -O1 -Wall -o "$2" "$1" \
    $(pkg-config --cflags --libs pmix) || return 1
  [ -z "${TROUPE_LIBRARY_IDENTIFIER:-}" ] \
    || ldd "$2" | grep -q "libpmix.so.2 => $TROUPE_LIB/"
}

# compile_mpi SOURCE PROGRAM: builds a C program against the system's Open MPI.
compile_mpi() {
  mpicc -std=gnu11 -O1 -Wall -o "$2" "$1"
}

# finish: prints the total and ends the script.
finish() {
  checks_finished=yes
  echo "$checks_passed passed, $checks_failed failed"
  [ "$checks_failed" -eq 0 ]
  exit
}

# A script that stops half-way says so instead of looking complete.
trap '[ "$checks_finished" = yes ] || echo "the script stopped before finish"' EXIT
