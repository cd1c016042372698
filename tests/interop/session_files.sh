# What a launcher or daemon keeps on disk: removed, taken by others, left behind by
# the dead.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

cd "$TROUPE_WORK" || exit 1
mine=troupe-$(id -u)
host=$(hostname)

# tool COMMAND...: a command that has to answer soon.
tool() { within "$((20 * slow))" troupe "$@" </dev/null; }

# up NAME [OPTION]...: sets dvm_pid.
up() {
  local name=$1
  shift
  : >"$name.out"
  troupe up --name "$name" "$@" >"$name.out" 2>"$name.err" </dev/null &
  dvm_pid=$!
  eventually 30 grep -qx "DVM ready" "$name.out" || { cat "$name.err"; return 1; }
}

# -- swept ---------------------------------------------------------------------

cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
check "DIR-1" "a DVM of three daemons" \
  up swept --system-server --host a:2,b:2,c:2 --remote-shell "$PWD/here.sh"
troupe run --dvm swept -n 6 sh -c 'until [ -e go ]; do sleep 0.1; done; echo on' \
  >job.out 2>job.err </dev/null &
job_pid=$!
eventually 20 sh -c 'troupe ps --dvm swept | grep -c running | grep -qx 6'
sessions() { find "$TMPDIR/$mine" -mindepth 1 -maxdepth 1 -type d | sort; }
before=$(sessions)
sweep() {
  rm -rf "${TMPDIR:?}/$mine" "$TMPDIR/pmix.sys.$host"
  [ ! -e "$TMPDIR/$mine" ]
}
check "DIR-1" "somebody removes all its files" sweep
check "DIR-1" "troupe ps finds it again" \
  eventually 20 sh -c 'troupe ps --dvm swept | grep -c running | grep -qx 6'
check "DIR-1" "without its name, too" eventually 20 troupe nodes
same_sessions() { [ "$(sessions)" = "$before" ]; }
check "DIR-1" "the directories of all daemons are there again" \
  eventually 20 same_sessions
check_equal "DIR-1" "for their user alone" "700" \
  "$(find "$TMPDIR/$mine" -type d -printf '%m\n' | sort -u)"
check "DIR-1" "run --dvm runs a job in it" \
  tool run --dvm swept --oversubscribe -n 2 true
if command -v pps >/dev/null; then
  check "DIR-1" "pps finds the server of the node" \
    eventually 20 sh -c 'timeout 5 pps --system-server 2>&1 | grep -q "Active nspaces:"'
  root=$(find "$TMPDIR/$mine" -name troupe-dvm.swept -printf '%h\n')
  check "DIR-1" "pps finds the DVM by its process" sh -c \
    "timeout 15 pps --pid ${root##*/} 2>&1 | grep -q 'Active nspaces:'"
  check "DIR-1" "pevent finds it" timeout 15 pevent --pid "${root##*/}" \
    --event PMIX_ERR_PROC_ABORTED --range SESSION
else
  skip "DIR-1" "pps and pevent find a server that was swept" \
    "libpmix-bin is not installed"
fi
: >go
wait "$job_pid"
check_equal "DIR-1" "the job that ran has lost nothing" "0 6" \
  "$? $(grep -cx on job.out)"
check "DIR-1" "swept again" sweep
down() {
  eventually 20 troupe down --dvm swept && eventually 20 ended "$dvm_pid"
}
check "DIR-1" "troupe down finds it" down
rm -f go

troupe run -n 2 sh -c 'until [ -e go ]; do sleep 0.1; done' >job.out 2>job.err \
  </dev/null &
job_pid=$!
eventually 20 troupe ps --dvm "pid:$job_pid"
check "DIR-1" "somebody removes the files of a launcher" sweep
check "DIR-1" "its job is found again" eventually 20 troupe ps --dvm "pid:$job_pid"
: >go
wait "$job_pid"
check_equal "DIR-1" "and ends as ever" "0" "$?"
rm -f go
clean "DIR-1" "nothing is left of what was swept"

# -- taken by others -----------------------------------------------------------

base=$TMPDIR
# taken KIND: what is under our name stays as it is, and all else works.
taken() {
  local before outcome=0 pid
  export TMPDIR=$PWD/taken
  mkdir "$TMPDIR" && put "$1" || return 1
  before=$(stat -c '%F %a %u %i' "$TMPDIR/$mine")
  works || outcome=1
  [ "$(stat -c '%F %a %u %i' "$TMPDIR/$mine")" = "$before" ] || outcome=1
  # The directory by chance is one, and empty.
  find "$TMPDIR" -mindepth 1
  [ "$(find "$TMPDIR" -mindepth 1 | wc -l)" = 2 ] || outcome=1
  rm -rf "$TMPDIR"
  export TMPDIR=$base
  return "$outcome"
}
put() {
  case $1 in
    directory) mkdir -m 700 "$TMPDIR/$mine" && chown nobody "$TMPDIR/$mine" ;;
    open) mkdir -m 755 "$TMPDIR/$mine" ;;
    link) ln -s /etc "$TMPDIR/$mine" ;;
    fifo) mkfifo "$TMPDIR/$mine" ;;
  esac
}
works() {
  tool run -n 1 true 2>said || { cat said; return 1; }
  cat said
  grep -q "session files are in .*/taken/$mine\.[A-Za-z0-9]*, since .*/$mine: " said \
    || return 1
  up other && tool ps && tool ps --dvm other && tool ps --dvm "pid:$dvm_pid" \
    && tool down --dvm other && eventually 20 ended "$dvm_pid"
}
if [ "$(id -u)" -eq 0 ]; then
  check "MND-A13 DIR-3" "another user's directory is in our place" taken directory
else
  skip "MND-A13 DIR-3" "another user's directory is in our place" "needs root"
fi
check "MND-A13 DIR-3" "a directory that is open to others is in our place" taken open
check "MND-A13 DIR-3" "a link is in our place" taken link
check "MND-A13 DIR-3" "a FIFO is in our place" taken fifo
export TMPDIR=$base

# -- TMPDIR --------------------------------------------------------------------

# blames WORDS COMMAND...: fails with 125 and one line that names TMPDIR, its value, why
# and what to do.
blames() {
  local words=$1 outcome=0
  shift
  "$@" >blamed 2>&1 </dev/null || outcome=$?
  cat blamed
  [ "$outcome" -eq 125 ] && [ "$(wc -l <blamed)" -eq 1 ] \
    && grep -q "TMPDIR is /.*: .*$words.*set TMPDIR to " blamed
}
check "DIR-4" "TMPDIR is missing" \
  blames "No such file" env TMPDIR="$PWD/missing" troupe run -n 1 true
check "DIR-4" "and for a DVM" \
  blames "No such file" env TMPDIR="$PWD/missing" troupe up --name missing
: >file
check "DIR-4" "TMPDIR is a file" \
  blames "Not a directory" env TMPDIR="$PWD/file" troupe run -n 1 true
long=/tmp/$(printf '%0300d' 0)
check "DIR-4" "TMPDIR has a name that is too long" \
  blames "too long" env TMPDIR="$long" troupe run -n 1 true
long=$PWD/$(printf '%0120d' 0)
mkdir "$long"
check "DIR-4" "no socket needs a short TMPDIR" \
  env TMPDIR="$long" troupe run -n 1 true
check "DIR-4" "but windows, which say so" blames "no room for the name of a socket" \
  env TMPDIR="$long" troupe run --screen 'sh -c' -n 1 true
rm -rf "$long"
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
  mkdir small
  full="mount -t tmpfs -o size=4k,nr_inodes=1 none '$PWD/small'"
  check "DIR-4" "TMPDIR is full" blames "No space left" unshare -m sh -c \
    "$full && TMPDIR='$PWD/small' troupe run -n 1 true"
  full="mount -t tmpfs -o ro none '$PWD/small'"
  check "DIR-4" "TMPDIR cannot be written" blames "Read-only" unshare -m sh -c \
    "$full && TMPDIR='$PWD/small' troupe run -n 1 true"
  rmdir small
else
  skip "DIR-4" "TMPDIR is full, or cannot be written" \
    "needs root and a mount namespace of its own"
fi

# -- left behind ---------------------------------------------------------------

up dead --system-server
kill -KILL "$dvm_pid"
wait "$dvm_pid" 2>/dev/null
check "MND-S3 DIR-5" "the files of a root that was killed are there" \
  test -e "$TMPDIR/pmix.sys.$host" -a -e "$TMPDIR/$mine/$dvm_pid/troupe-dvm.dead"
check_match "MND-S3 DIR-5" "tools do not take them for a server" 'you have no DVM' \
  "$(tool ps 2>&1)"
check "MND-S3 DIR-5" "another DVM may have its name" up dead
check "MND-S3 DIR-5" "and the next start has removed them" \
  test ! -e "$TMPDIR/pmix.sys.$host" -a ! -e "$TMPDIR/$mine/${dvm_pid}0" \
  -a "$(find "$TMPDIR/$mine" -mindepth 1 -maxdepth 1 | wc -l)" = 1

# -- a DVM is up ---------------------------------------------------------------

hint() { tool run "$@" sh -c 'echo $PMIX_NAMESPACE' 2>&1; }
check_match "DIR-7" "run says that a DVM is up" \
  '^troupe: the DVM dead is up; troupe run --dvm runs the job there$' "$(hint -n 1)"
check_match "DIR-7" "and runs on this node" "^troupe-$host-[0-9]+@1\$" "$(hint -n 1)"
check_match "DIR-7" "with --dvm it runs there, and says nothing" \
  '^dead@[0-9]+$' "$(hint --dvm -n 1)"
first_pid=$dvm_pid
up second
check_match "DIR-7" "of several it gives the names" \
  '^troupe: DVMs are up \(dead, second\); troupe run --dvm NAME ' "$(hint -n 1)"
tool down --dvm second
tool down --dvm dead
eventually 20 ended "$first_pid"
eventually 20 ended "$dvm_pid"
check_equal "DIR-7" "without a DVM it says nothing" "1" "$(hint -n 1 | wc -l)"

rm -rf file
clean "DIR-1" "nothing is left"
finish
