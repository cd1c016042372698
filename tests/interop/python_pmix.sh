# A client in Python, through Debian's python3-pmix.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

python=/usr/bin/python3
if ! "$python" -W ignore -c 'import pmix' 2>/dev/null; then
  skip "F6.11" "python3-pmix" "python3-pmix is not installed"
  finish
fi
limit=60

agree() {
  job -n "$1" "$python" "$programs/python_client.py" | tee "$TROUPE_WORK/agree"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && grep -q "python3-pmix: $1 processes agree" "$TROUPE_WORK/agree"
}

check "F6.11" "python3-pmix: 1 process" agree 1
check "F6.11" "python3-pmix: 4 processes" agree 4

clean "F5.20" "nothing is left of the jobs"
finish
