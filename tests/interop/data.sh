# What clients of Debian's libpmix ask of the server.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build values fences publish jobs queries requests events
PARENT_UID=$(id -u)
export PARENT_UID

# -- F4.14, F4.15: job data, put and commit ------------------------------------

check "F4.14" "job, node and process data of 1 process" \
  job -n 1 ./values job_data 1
check "F4.14" "job, node and process data of 5 processes" \
  job -n 5 ./values job_data 5
check "F4.15" "values are seen by those that their scope names" \
  job -n 3 ./values scopes
check "F4.15" "values of all types arrive unchanged" job -n 2 ./values types
check "F4.15" "values of a mebibyte arrive unchanged" job -n 3 ./values large
check "F4.15" "commits may be repeated" job -n 3 ./values again

# -- F4.20 - F4.22: ways to get ------------------------------------------------

check "F4.20" "PMIX_IMMEDIATE answers at once; uncommitted is not there" \
  job -n 2 ./values immediate
check "F4.20" "PMIX_OPTIONAL answers at once" job -n 2 ./values optional
check "F4.21" "a get waits for a commit" job -n 3 ./values waits
check "F4.21" "a get waits no longer than its time-out" \
  job -n 2 ./values times_out
check "F4.22" "the wildcard rank reads job data" job -n 2 ./values wildcard
check "F4.22" "unknown processes are refused" job -n 2 ./values unknown
check "F4.15 F4.22" "values of another job are read, both ways" \
  job -n 1 ./values other_job

# -- F4.16 - F4.19: fences -----------------------------------------------------

check "F4.16" "200 fences of 4 processes" job -n 4 ./fences plain
check "F4.16" "200 fences of 16 processes" job -n 16 ./fences plain
check "F4.16" "a fence that collects data" job -n 4 ./fences collect
check "F4.17" "fences of halves, and of one" job -n 5 ./fences subsets
check "F4.17" "fences over overlapping sets, in different order" \
  job -n 4 ./fences overlapping
check "F4.17" "several fences over the same set" job -n 4 ./fences equal
check "F4.18" "a fence without the last process times out for all others" \
  job -n 4 ./fences times_out

# The dead one gives the job its status; the others check and end well.
with_dead() {
  local expected=$1
  shift
  status "$expected" job -n 4 --rtos recoverable ./fences "$@" || return 1
  ! grep -q 'not so' "$TROUPE_WORK/output"
}
check "F4.19" "a participant is killed before it joins" \
  with_dead 137 killed_before
check "F4.19" "a participant is killed while others wait for it" \
  with_dead 137 killed_late
check "F4.19" "a participant is killed after it has joined" \
  with_dead 137 killed_inside
check "F4.19" "a participant exits" with_dead 1 exits
check "F4.19" "a participant finalizes" with_dead 0 finalizes

# -- F4.23 - F4.25: published data ---------------------------------------------

check "F4.23" "published values are found within their range only" \
  job -n 3 ./publish ranges
check "F4.23" "only the publisher withdraws" job -n 3 ./publish unpublish
check "F4.24" "published values live as long as their persistence says" \
  job -n 1 ./publish persistence
check "F4.25" "a lookup waits" job -n 3 ./publish waits
check "F4.25" "a lookup waits no longer than its time-out" \
  job -n 2 ./publish times_out

# -- F4.26: connect ------------------------------------------------------------

check "F4.26" "connect and disconnect of one job" job -n 4 ./jobs connect_own
check "F4.26" "connect, fence and disconnect of two jobs" \
  job -n 2 ./jobs connect_jobs
check "F4.26" "a connect that nobody else joins times out" \
  job -n 2 ./jobs connect_alone

# -- F4.28: spawn --------------------------------------------------------------

check "F4.28 F4.39" "a spawned job: programs, variables, directories, parent" \
  job -n 1 ./jobs spawn
check_match "F4.28" "a program that is not there is an error for its parent" \
  'spawn: .*(NOT FOUND|PMIX_ERR_JOB_EXE_NOT_FOUND)' "$(job -n 1 ./jobs spawn_missing 2>/dev/null)"
check "F4.28" "which goes on" job -n 1 ./jobs spawn_missing
check_equal "F4.28 F4.39" "the launcher waits for a child that is left behind" \
  "the child ends" "$(job -n 1 ./jobs spawn_and_leave)"

# -- F4.27, F4.29 - F4.31: questions -------------------------------------------

check "F4.27" "peers and nodes" job -n 4 ./queries resolve
check "F4.29" "namespaces and their properties" job -n 2 ./queries namespaces
check "F4.30" "process tables and the status of jobs" \
  job -n 3 ./queries tables ./queries
check "F4.31" "version, support and memory" job -n 1 ./queries server
check "F4.29 F4.30" "unknown keys and jobs are errors" job -n 1 ./queries unknown

# -- F4.32 - F4.34: log --------------------------------------------------------

check_equal "F4.32" "log to standard output" "to standard output" \
  "$(job -n 2 ./requests log_stdout 2>/dev/null)"
check_equal "F4.32" "log to standard error" "to standard error" \
  "$(job -n 2 ./requests log_stderr 2>&1 >/dev/null)"
check "F4.32" "an unknown channel is an error" job -n 1 ./requests log_unknown

# The system log and sendmail have fixed places: a mount name space of our own
# has them without touching the machine's.
private() {
  unshare --mount --propagation private "$@"
}
if [ "$(id -u)" -eq 0 ] && private mount --bind /tmp /tmp 2>/dev/null; then
  cat >syslog.py <<'END'
import os, socket, subprocess, sys
where = "/dev/log"
if os.path.exists(where):
    os.unlink(where)
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(where)
log.settimeout(20)
child = subprocess.Popen(sys.argv[1:])
print(log.recv(4096).decode())
sys.exit(child.wait())
END
  mkdir -p sbin
  cat >syslog.sh <<'END'
set -e
mkdir -p real fake/shm
mount --rbind /dev real
for node in null zero urandom; do
  touch "fake/$node"
  mount --bind "real/$node" "fake/$node"
done
[ ! -d real/shm ] || mount --bind real/shm fake/shm
ln -s /proc/self/fd fake/fd
mount --rbind fake /dev
exec /usr/bin/python3 syslog.py troupe run -n 1 ./requests log_syslog
END
  check_match "F4.33" "log to the system log" \
    '^<[0-9]+>.*troupe.*: to the system log' \
    "$(private timeout 30 bash syslog.sh 2>&1 </dev/null)"
  cat >sbin/sendmail <<END
#!/bin/sh
{ echo "arguments: \$*"; cat; } >$TROUPE_WORK/mail
END
  chmod +x sbin/sendmail
  check "F4.34" "log to a mailbox" private sh -c \
    'mount --bind sbin /usr/sbin && timeout 30 troupe run -n 1 ./requests log_email'
  mail=$(cat mail 2>/dev/null)
  check_match "F4.34" "the mail has its receiver" '^To: somebody@example.org$' \
    "$mail"
  check_match "F4.34" "its sender" '^From: job@example.org$' "$mail"
  check_match "F4.34" "its subject" '^Subject: a subject$' "$mail"
  check_match "F4.34" "and its text" '^a message$' "$mail"
  channels() {
    private sh -c \
      'mount --bind sbin /usr/sbin && timeout 30 troupe run -n 1 ./requests log_channels' \
      2>/dev/null
  }
  check_equal "F4.34 J33" "a mail with two receivers and no subject" \
    "0 0" "$(channels)"
  check_match "F4.34 J33" "goes to both" \
    '^To: one@example.org, two@example.org$' "$(cat mail)"
  check_match "F4.34 J33" "with a subject of ours" '^Subject: Message of .*:0$' \
    "$(cat mail)"
  printf '#!/bin/sh\nexit 75\n' >sbin/sendmail
  check_equal "F4.34 J33" "a mail program that fails costs its channel" \
    "-1 -52" "$(channels)"
  rm sbin/sendmail
  check_equal "F4.34 J33" "a node without mail says so" \
    "-47 -52" "$(channels)"
else
  skip "F4.33" "log to the system log" "needs root and a mount name space"
  skip "F4.34" "log to a mailbox" "needs root and a mount name space"
fi

# -- F4.35: abort --------------------------------------------------------------

check "F4.35" "abort ends the job with its status" \
  status 7 job -n 3 ./requests abort_all 7
check "F4.35" "an abort with status 0 is no success" \
  status 1 job -n 3 ./requests abort_all 0
check "F4.35" "abort of all by name" status 9 job -n 3 ./requests abort_named
check_match "F4.35" "the text and the rank are told" \
  '^troupe: rank 1 \(./requests, pid [0-9]+ on [^ ]+\) called PMIx_Abort with status 7: this is why' \
  "$(job -n 3 ./requests abort_all 7 2>&1)"
check_equal "F4.35" "abort of one process leaves the others" \
  "rank 0 goes on|rank 1 goes on|" \
  "$(job -n 3 --rtos recoverable ./requests abort_one 2>/dev/null | sort \
    | tr '\n' '|')"

# -- F4.36 - F4.38, F4.40, F5.23: events, and what comes later -----------------

check "F4.36" "finalize is no loss" status 0 job -n 4 ./fences collect
check "F4.37" "events between processes" job -n 3 ./events between
check "F4.37" "handlers as Open MPI registers them" job -n 3 ./events to_default
check "F4.37" "events for one process" job -n 3 ./events targeted
check "F4.37" "events from before the registration" job -n 3 ./events cached
check "F4.40" "an event there and back takes less than 20 ms as a rule" \
  job -n 2 ./events latency
check "F5.23" "peers hear of a process that is killed" \
  status 137 job -n 3 --rtos recoverable ./events killed
check "F5.23" "peers hear of a process that exits early" \
  status 1 job -n 3 --rtos recoverable ./events unfinalized
check "F5.23" "peers hear of a process that ends with an error" \
  status 3 job -n 3 --rtos recoverable ./events non_zero
check "F4.38" "an allocation, which no launcher has, is answered not supported" \
  job -n 2 ./requests not_supported

clean "F5.20" "nothing is left of these jobs"
finish
